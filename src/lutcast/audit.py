"""`audit`: what a cast would lose, in one pass over blocks and without an output array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Array, as_array
from .casting import cast
from .errors import UnsupportedCast
from .formats import Format
from .names import array_dtype, get_format
from .policy import Policy, resolve

if TYPE_CHECKING:
    from .losses import Marks

BLOCK = 1 << 13  # elements; larger temporaries go back to the system after every block
COUNTS = ("elements", "inexact", "saturated", "overflowed", "flushed_to_zero", "nan_in", "nan_out")


@dataclass(frozen=True)
class Audit:
    """What a cast would lose.

    Attributes
    ----------
    elements : int
        Elements read; the two parts of a complex number count singly where both are cast.
    inexact : int
        Elements, NaN apart, whose value would change; a clamped infinity is one of them.
    saturated : int
        Elements beyond the range, infinities included, that would become the largest finite value.
    overflowed : int
        Finite elements beyond the range that would become infinity or NaN, or wrap.
    flushed_to_zero : int
        Non-zero finite elements that would become zero.
    nan_in, nan_out : int
        NaN before and after.
    max_abs_error : float
        Largest distance between an element and its result, both finite.
    snr_db : float
        Signal-to-noise ratio in decibels over the same elements; infinite without noise.
    """

    elements: int
    inexact: int
    saturated: int
    overflowed: int
    flushed_to_zero: int
    nan_in: int
    nan_out: int
    max_abs_error: float
    snr_db: float


def audit(
    x: object,
    dtype: object,
    *,
    rounding: object = None,
    overflow: object = None,
    nan: object = "keep",
    src: object = None,
) -> Audit:
    """Count what a cast would lose.

    Parameters
    ----------
    x : array_like or torch.Tensor
    dtype : format
    rounding, overflow, nan, src
        As for `cast`.

    Returns
    -------
    Audit

    Raises
    ------
    TypeError, ValueError
        As `cast`; UnsupportedCast also from complex to bool.

    Examples
    --------
    >>> import lutcast
    >>> a = lutcast.audit([0.1, 1.0, 1e9, 1e-9], "float8_e4m3fn")
    >>> a.inexact, a.saturated, a.flushed_to_zero
    (3, 1, 1)
    """
    array, fmt = as_array(x, src)
    dst = get_format(dtype, "dtype")
    auditor = Auditor(fmt, dst, resolve(fmt, dst, rounding, overflow, nan))
    auditor.add(array)
    return auditor.result()


class Auditor:
    """Audits one cast of an array that comes in pieces."""

    def __init__(self, src: Format, dst: Format, policy: Policy) -> None:
        if src.part and dst.kind == "bool":
            raise UnsupportedCast(f"audit: from {src.name} to bool there is no error to measure")
        from .losses import Losses  # here, as its fractions are slow to import

        self._src, self._dst = src, dst
        self._losses = Losses(src.part or src, dst.part or dst, policy)

    def add(self, piece: Array) -> None:
        """Audit a piece: elements of the source, or its codes in unsigned integers."""
        # Codes become the values that they stand for.
        piece = piece.view(array_dtype(self._src).newbyteorder(piece.dtype.byteorder))
        for block in _blocks(piece):
            self._count(self._losses.marks(_parts(block, self._src, self._dst)))

    def _count(self, marks: Marks) -> None:
        self._losses.add(marks)

    def result(self) -> Audit:
        """Return the audit of all pieces so far."""
        counts = {name: self._losses.counts[name] for name in COUNTS}
        return Audit(**counts, max_abs_error=self._losses.max_abs_error, snr_db=self._losses.snr_db())


def _blocks(array: Array) -> Iterator[Array]:
    """Cut an array into views of at most BLOCK elements."""
    if array.size <= BLOCK:
        yield array
        return
    rows = max(BLOCK * len(array) // array.size, 1)
    for start in range(0, len(array), rows):
        part = array[start : start + rows]
        if part.size <= BLOCK:
            yield part
        else:
            yield from _blocks(part[0])


def _parts(block: Array, fmt: Format, dst: Format) -> Array:
    """Return what is cast of a complex block: both parts, or the real one."""
    if fmt.part is None:
        return block
    if dst.part is None:
        return cast(block, fmt.part)
    native = np.ascontiguousarray(block, block.dtype.newbyteorder("="))
    return native.reshape(-1).view(array_dtype(fmt.part))
