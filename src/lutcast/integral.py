"""`round_to_integral`: to an integral value of the same format."""

from __future__ import annotations

import numpy as np

from .arrays import Array, as_array, check_out, share_memory
from .errors import UnsupportedCast
from .formats import BFLOAT16, COMPLEX32, COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64
from .plan import integral_plan
from .policy import Rounding, parse_rounding

FORMATS = (FLOAT16, BFLOAT16, FLOAT32, FLOAT64, COMPLEX32, COMPLEX64, COMPLEX128)


def round_to_integral(x: object, *, rounding: object = "ties_to_even", out: Array | None = None) -> Array:
    """Round every element to an integral value of its own format (IEEE 754-2019 5.9).

    Parameters
    ----------
    x : array_like
        float16, bfloat16, float32, float64 or complex, whose parts are rounded. Integers and
        bools are integral and come back as they are.
    rounding : str or Rounding
        Any but ``"hybrid"``.
    out : ndarray, optional
        Array of x's shape and format; it may be x itself.

    Returns
    -------
    ndarray
        The sign of zero and infinities are kept; a NaN becomes quiet.

    Raises
    ------
    UnsupportedCast
        Another format, or ``"hybrid"``.
    ValueError
        An unknown rounding or a bad ``out``.

    Examples
    --------
    >>> import lutcast
    >>> lutcast.round_to_integral([2.5, -0.5, 3.2], rounding="ties_to_even")
    array([ 2., -0.,  3.])
    """
    array, fmt = as_array(x)
    chosen = parse_rounding(rounding)
    if chosen is Rounding.HYBRID:
        raise UnsupportedCast("rounding: 'hybrid' exists from float16 and float32 to hifloat8 only")
    if out is not None:
        check_out(out, array.shape, fmt)
        is_same = array.ctypes.data == out.ctypes.data and array.strides == out.strides
        if not is_same and share_memory(array, out):
            raise ValueError("out: overlaps x without being x")
    if fmt.kind in ("int", "bool"):
        if out is None:
            return array
        out[...] = array
        return out
    if fmt not in FORMATS:
        names = ", ".join(f.name for f in FORMATS)
        raise UnsupportedCast(f"x: {fmt.name} is not rounded to integral values; {names} and integers are")
    result = np.empty_like(array, array.dtype.newbyteorder("="), subok=False) if out is None else out
    integral_plan(fmt, chosen).run(array, result, 0, array.size)
    return result
