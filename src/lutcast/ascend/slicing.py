"""Slicing: which elements a mask, repeats and strides address."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from . import registers
from .local_tensor import BLOCK_BYTES
from .types import TYPES, is_packed

REPEAT_BYTES = 256
WORD_BITS = 64
MOST_REPEATS = 255
LARGEST_STRIDES = {"blk": 65535, "rep": 255}
# Their instruction takes a count of elements only.
COUNT_ONLY = ("double", "complex32", "complex64")

Places = NDArray[np.intp]


@dataclass(frozen=True)
class UnaryRepeatParams:
    """Strides of the operands, in blocks of 32 bytes.

    Attributes
    ----------
    dst_blk_stride, src_blk_stride : int
        From a block to the next of the same repeat, 0 to 65535.
    dst_rep_stride, src_rep_stride : int
        From a repeat to the next, 0 to 255.

    Examples
    --------
    >>> import lutcast.ascend
    >>> lutcast.ascend.UnaryRepeatParams(1, 1, 8, 4)
    UnaryRepeatParams(dst_blk_stride=1, src_blk_stride=1, dst_rep_stride=8, src_rep_stride=4)
    """

    dst_blk_stride: int = 1
    src_blk_stride: int = 1
    dst_rep_stride: int = 8
    src_rep_stride: int = 8

    def __post_init__(self) -> None:
        for field in fields(self):
            most = LARGEST_STRIDES[field.name.split("_")[1]]
            checked_index(getattr(self, field.name), field.name, most)


def checked_index(value: object, argument: str, most: int) -> int:
    """Return an integer from 0 to ``most``; ValueError for anything else."""
    try:
        index = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        index = -1
    if not 0 <= index <= most:
        raise ValueError(f"{argument}: {value!r} given, an integer from 0 to {most} is needed")
    return index


def lanes_of(src: str, dst: str) -> int:
    """Return how many elements one repeat can cast: 256 bytes of the wider type."""
    return REPEAT_BYTES // max(TYPES[src].itemsize, TYPES[dst].itemsize)


def active_lanes(mask: object, src: str, dst: str, is_set_mask: bool) -> Places:
    """Return the lanes that a mask selects, in order.

    Raises
    ------
    ValueError
        The mask is empty, reaches beyond the lanes of a repeat, or cuts a pair of 4-bit elements.
    """
    if not is_set_mask:
        if not isinstance(mask, int) or mask != registers.MASK_PLACEHOLDER:
            raise ValueError("mask: with is_set_mask=False it is that of set_vector_mask; pass MASK_PLACEHOLDER")
        mask = registers.vector_mask()
    lanes = lanes_of(src, dst)
    selected = _bitwise(mask, lanes) if isinstance(mask, Sequence | np.ndarray) else _contiguous(mask, lanes)
    if is_packed(src) or is_packed(dst):
        pairs = np.bincount(selected // 2)
        if np.any(pairs == 1):
            raise ValueError(
                "mask: 4-bit elements are cast in pairs; a contiguous mask must be even, bits equal in pairs"
            )
    return selected


def _contiguous(mask: object, lanes: int) -> Places:
    try:
        count = operator.index(mask)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"mask: {mask!r} given, an integer or one or two 64-bit words are needed") from None
    if not 1 <= count <= lanes:
        raise ValueError(f"mask: {count} given, 1 to {lanes} lanes can be cast in one repeat of these types")
    return np.arange(count)


def _bitwise(mask: Sequence[object] | NDArray[np.generic], lanes: int) -> Places:
    if not 1 <= len(mask) <= 2:
        raise ValueError(f"mask: {len(mask)} words given, one or two are needed")
    words = [checked_index(word, f"mask[{i}]", (1 << WORD_BITS) - 1) for i, word in enumerate(mask)]
    bits = sum(word << (WORD_BITS * i) for i, word in enumerate(words))
    if bits == 0:
        raise ValueError("mask: no bit is set")
    if bits >> lanes:
        raise ValueError(
            f"mask: bit {bits.bit_length() - 1} is set; one repeat of these types has lanes 0 to {lanes - 1}"
        )
    return np.array([lane for lane in range(lanes) if bits >> lane & 1])


def places_of(type_name: str, lanes: Places, repeats: int, blk_stride: int, rep_stride: int) -> Places:
    """Return the numbers of the elements that each repeat (row) addresses in an operand."""
    per_block = BLOCK_BYTES * 8 // TYPES[type_name].bits
    first = lanes // per_block * blk_stride * per_block + lanes % per_block
    return np.arange(repeats)[:, None] * rep_stride * per_block + first
