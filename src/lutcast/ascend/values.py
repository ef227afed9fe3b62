"""`cast`: the value form, and the rules of AscendC as policies of the core."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, as_array
from ..casting import cast as core_cast
from ..formats import FLOAT32
from ..integral import round_to_integral
from ..policy import Rounding
from . import registers
from .control import Control, check_control
from .products import Product, parse_product
from .round_mode import ROUNDINGS, RoundMode, parse_round_mode
from .support import Row, find
from .types import TYPES, parse_type

FLOAT8 = ("fp8_e4m3fn_t", "fp8_e5m2_t")
SATURABLE = ("half", "bfloat16_t", "hifloat8_t", "complex32", *FLOAT8)
# Negative values become 0 here whatever the registers say.
NEVER_WRAPPED = (("int16_t", "uint32_t"),)


class Job(NamedTuple):
    """One cast, its arguments checked."""

    row: Row
    mode: RoundMode
    control: Control
    deq_scale: np.float16 | None

    def __call__(self, x: Array) -> Array:
        """Cast the elements of an array of the source type."""
        src, dst = TYPES[self.row.src], TYPES[self.row.dst]
        rounding = rounding_of(self.mode, self.row.product)
        if self.deq_scale is not None:
            x, src = _scaled(x, self.deq_scale), FLOAT32
            rounding = Rounding.TIES_TO_EVEN
        if src is dst:
            return round_to_integral(x, rounding=rounding)
        return core_cast(x, dst, src=src, rounding=rounding, **limits(self.row, self.control))


def cast(
    src: object,
    dst_type: object,
    round_mode: object,
    *,
    src_type: object = None,
    product: object = "950",
    control: Control = Control(),  # noqa: B008 - immutable
    deq_scale: float | None = None,
) -> Array:
    """Cast values as AscendC's ``Cast`` does, an array element for each element.

    Parameters
    ----------
    src : array_like
        Of any shape. 4-bit types are not packed here.
    dst_type : str or format
        AscendC's name of a type, such as ``"half"`` or ``"fp8_e4m3fn_t"``, or any name of its format.
    round_mode : RoundMode, int or str
    src_type : str or format, optional
        Where src holds codes in unsigned integers: hifloat8_t, fp4x2_e1m2_t and others.
    product : Product or str
    control : Control
        The saturation registers.
    deq_scale : float, optional
        Scale of int32_t to half; otherwise that of `set_deq_scale`.

    Returns
    -------
    ndarray
        Of src's shape; uint8 codes for hifloat8_t and fp4x2_e1m2_t, which have no dtype.

    Raises
    ------
    UnsupportedCast
        The product does not have this cast in this mode (a TypeError).
    TypeError
        No such type.
    ValueError
        No such mode or product; a state of the registers that the product does not have; no scale
        where one is needed.

    Examples
    --------
    >>> import lutcast.ascend, numpy as np
    >>> x = np.array([1.4, 1.5, 2.5, -1.5], np.float16)
    >>> lutcast.ascend.cast(x, "int32_t", "CAST_ROUND")
    array([ 1,  2,  3, -2], dtype=int32)
    """
    destination = parse_type(dst_type, "dst_type")
    array, fmt = as_array(src, src_type, "src")
    job = prepare(parse_type(fmt, "src"), destination, round_mode, product, control, deq_scale)
    return job(array)


def prepare(src: str, dst: str, round_mode: object, product: object, control: object, deq_scale: float | None) -> Job:
    """Check what a cast is asked for."""
    mode, chosen = parse_round_mode(round_mode), parse_product(product)
    row = find(chosen, src, dst, mode)
    state = check_control(control, chosen)
    return Job(row, mode, state, registers.deq_scale(deq_scale) if row.needs_deq_scale else None)


def rounding_of(mode: RoundMode, product: Product) -> Rounding:
    """Return what a mode means on a product."""
    if mode is RoundMode.CAST_ROUND and product is Product.ASCEND_910:
        return Rounding.AWAY_FROM_ZERO
    return ROUNDINGS[mode]


def limits(row: Row, control: Control) -> dict[str, Any]:
    """Return what becomes of overflow and NaN."""
    dst = TYPES[row.dst]
    if dst.kind == "int":
        wraps = not control.saturate_int and (row.src, row.dst) not in NEVER_WRAPPED
        return {"overflow": "wrap" if wraps else "saturate"}
    if row.dst in SATURABLE:
        if not control.saturate_float:
            return {"overflow": "ieee", "nan": "keep"}
        return {"overflow": "saturate", "nan": "keep" if control.keep_nan and row.dst in FLOAT8 else "zero"}
    return {}  # float and double as IEEE 754 has it; float4 has neither infinity nor NaN


def _scaled(x: Array, scale: np.float16) -> Array:
    """Multiply integers by a scale in float32, kept in range by 2**-17 as the hardware does."""
    low, high = np.float32(2.0**-17), np.float32(2.0**17)
    with np.errstate(all="ignore"):  # the scale may be infinite
        return np.asarray(core_cast(x, FLOAT32) * low * np.float32(scale) * high)
