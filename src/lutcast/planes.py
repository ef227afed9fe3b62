"""Tables from 8 bits to words of 16, 32 or 64 in two planes of bytes, which vector registers hold.

Most words have at most two bytes that are not zero: a float of few bits leaves the others alone.
An integer that a float of few bits becomes is a byte shifted left, except the largest one, which
stands for infinity: one plane holds the bytes, which are put at the top of their words, the other
how far each is shifted back down.

A table that is neither stays a table. What is cut is put together again here and compared with the
table before it is used.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array as Table

CODES = 256
LANES = 64  # bytes of a register
# lutcast_planes of _kernels/registers.h
LAYOUT = np.dtype([
    ("used", "<u8"), ("is_shifted", "<u2"), ("has_most", "<u2"), ("low", "u1", CODES), ("high", "u1", CODES),
    ("index", "u1", (8, LANES)),
])  # fmt: skip


def planes(table: Table) -> Table | None:
    """Cut the table of an 8-bit source to words into planes; None where two are not enough."""
    for cut in (_cut_pair, _cut_shifted):
        record = cut(table)
        if record is not None and np.array_equal(_assemble(record, table.dtype), table):
            record.setflags(write=False)
            return record
    return None


def _cut_pair(table: Table) -> Table:
    """Take the two highest bytes of each word."""
    width = table.itemsize
    pair = table >> 8 * (width - 2)
    return _record(width, width - 2, pair & 0xFF, pair >> 8)


def _cut_shifted(table: Table) -> Table | None:
    """Take the bits of each integer that are not zero, and how far they are from the top of the word."""
    width = table.itemsize
    if width < 4:
        return None
    top = 8 * width - 8
    signed = table.view(f"i{width}")
    most = np.iinfo(signed.dtype).max
    shift = np.minimum(np.bitwise_count((signed & -signed) - 1), top)
    down = np.where(signed == 0, 8 * width, top - shift)
    is_most = signed == most
    record = _record(width, 0, np.where(is_most, 1, down), np.where(is_most, 0, signed >> shift))
    record["is_shifted"], record["has_most"] = True, is_most.any()
    return record


def _record(width: int, byte: int, low: Table, high: Table) -> Table:
    """Describe words whose byte at a place comes from one plane and whose highest byte from another."""
    record = np.zeros((), LAYOUT)
    record["low"], record["high"] = low & 0xFF, high & 0xFF
    elements = np.arange(width * (LANES // width)).reshape(width, -1)
    index = record["index"][:width].reshape(width, -1, width)
    index[:, :, byte], index[:, :, -1] = elements, elements + LANES
    record["used"] = sum((1 << byte | 1 << width - 1) << at for at in range(0, LANES, width))
    return record


def _assemble(record: Table, dtype: np.dtype) -> Table:
    """Put the table together again, as the loop does."""
    width = dtype.itemsize
    kept = [bool(int(record["used"]) >> at & 1) for at in range(LANES)]
    words = []
    for start in range(0, CODES, LANES):
        both = np.append(record["low"][start : start + LANES], record["high"][start : start + LANES])
        words += [np.where(kept, both[index], 0).astype(np.uint8).view(dtype) for index in record["index"][:width]]
    result = np.concatenate(words)
    if record["is_shifted"]:
        signed = result.view(f"i{width}")
        is_most = signed == 1
        signed >>= signed & 0xFF
        signed[is_most] = np.iinfo(signed.dtype).max
    return result
