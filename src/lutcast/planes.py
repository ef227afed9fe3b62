"""Tables from 8 bits to words of 16, 32 or 64 in two planes of bytes, which vector registers hold.

Most words have no more than two bytes that are not zero, the highest ones: a float of few bits leaves
the others alone. An integer that a float of few bits becomes is exact as a float of its width, which
is such a word again; the processor makes it the integer. Only the largest integer, which stands for
infinity, is not: its float is one more, and the loop tells it from the others.

A table that is neither stays a table. What is cut is put together again here and compared with the
table before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from .arrays import Array as Table

CODES = 256
LANES = 64  # bytes of a register
# lutcast_planes of _kernels/registers.h
LAYOUT = np.dtype([
    ("has_sign", "<u2"), ("is_integer", "<u2"), ("has_most", "<u2"), ("order", "u1", LANES),
    ("low", "u1", CODES), ("high", "u1", CODES),
])  # fmt: skip


def planes(table: Table) -> Table | None:
    """Cut the table of an 8-bit source to words into planes; None where two are not enough."""
    for record in chain(_cut(table), _cut_integers(table)):
        if np.array_equal(_assemble(record, table.dtype), table):
            record.setflags(write=False)
            return record
    return None


def _cut(table: Table) -> Iterator[Table]:
    """Take the two highest bytes of each word, where possible of the first half alone, to which a sign is added."""
    record = np.zeros((), LAYOUT)
    record["order"] = _order(table.itemsize)
    pair = table >> 8 * (table.itemsize - 2)
    mirrored = np.append(pair[: CODES // 2], pair[: CODES // 2] | 0x8000)
    for record["has_sign"], words in ((True, mirrored), (False, pair)):
        record["low"], record["high"] = words & 0xFF, words >> 8
        yield record


def _cut_integers(table: Table) -> Iterator[Table]:
    """Take the two highest bytes of the float that each integer is."""
    width = table.itemsize
    if width < 4:
        return
    signed = table.view(f"i{width}")
    for record in _cut(signed.astype(f"f{width}").view(table.dtype)):
        record["is_integer"], record["has_most"] = True, (signed == np.iinfo(signed.dtype).max).any()
        yield record


def _order(width: int) -> Table:
    """Return where each of 64 codes is put, so that words made by shifts and masks come out in order.

    Bytes beside each other go to the two halves of what is stored, pairs of them to the halves of
    those, and so on: the lowest bits of a place, reversed, are the highest of the number of its code.
    """
    place, order, half = np.arange(LANES), np.zeros(LANES, int), LANES
    for _ in range(width.bit_length() - 1):
        half //= 2
        order += half * (place & 1)
        place = place >> 1
    return order + place


def _assemble(record: Table, dtype: np.dtype) -> Table:
    """Put the table together again, as the loop does."""
    width = dtype.itemsize
    words: Table = (record["high"].astype(dtype) << 8 | record["low"]) << 8 * (width - 2)
    if not record["is_integer"]:
        return words
    floats = words.view(f"f{width}")
    limits = np.iinfo(f"i{width}")
    is_most = floats == -float(limits.min)
    integers: Table = np.where(is_most, 0, floats).astype(limits.dtype)
    integers[is_most] = limits.max
    return integers.view(dtype)
