"""Tables from 16 bits to 8 in pieces, small enough for the registers of a vector unit.

Such a table is a step function of the magnitude: long runs of one value, since few bits survive.
The magnitudes are cut into blocks; a block knows the number of its first run and the two places at
most where the next ones begin, or in which of its eight cells they do, and the runs know their values, one for each
sign. The few blocks of the narrowest formats know their values themselves. Where the magnitudes that matter
fill only part of the range, as with bfloat16, a window is cut out first: below it all magnitudes,
or all but zero, give the same value, above it all finite ones; infinity and NaN lie behind it.
Where the smallest magnitudes change too often, as with integers, the first two blocks are dense:
the number of the run is listed place by place.

A table that cannot be cut so stays a table. What is cut is put together again here and compared
with the table, all 65,536 entries, before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import groupby
from operator import itemgetter

import numpy as np

from .arrays import Array as Table
from .formats import Format

MAGNITUDES = 1 << 15
BLOCK = 256  # places of a block where there is no window
MOST_RUNS = 128
DENSE = 2 * BLOCK
CELL = 32  # places
DIRECT_BLOCKS = 32
# lutcast_steps of _kernels/steps.h
LAYOUT = np.dtype(
    [(name, "<u2") for name in ("shape", "result", "low", "top", "moved", "stretch", "sign", "sign_index", "blocks")]
    + [(name, "u1", 256) for name in ("first", "edge_1", "edge_2")]
    + [("dense", "u1", DENSE), ("value", "u1", 256)]
)


class Shape(IntEnum):
    """How a code becomes a place: those of steps.h."""

    PLAIN = 0
    DENSE = 1
    WINDOW = 2
    WINDOW_ZERO = 3
    SIGNED = 4
    UNSIGNED = 5


class Result(IntEnum):
    """How the number of a run becomes a value: those of steps.h."""

    SAME = 0
    MIRRORED = 1
    PAIRED = 2
    DIRECT = 3


class Blocks(IntEnum):
    """How many blocks there are, and what they know: those of steps.h."""

    NARROW = 0
    WIDE = 1
    CELLS = 2


def steps(src: Format, dst: Format, table: Table) -> Table | None:
    """Cut the table of a 16-bit source to 8 bits; None where it cannot be cut."""
    sign = 1 << dst.bits - 1
    for result, curves in _results(src, _halves(src, table), sign):
        for record in _places(src, dst, result, curves):
            record["result"], record["sign"] = result, sign
            cut = _cut_direct if result is Result.DIRECT else _cut
            if cut(record, curves) and np.array_equal(_assemble(record), table):
                record.setflags(write=False)
                return record
    return None


def _results(src: Format, halves: list[Table], sign: int) -> Iterator[tuple[Result, list[Table]]]:
    """Propose what the runs stand for: one curve for both signs, or, where that cannot be, one for each."""
    if len(halves) == 1:
        yield Result.SAME, halves
        yield Result.PAIRED, halves
        return
    positive, negative = halves
    if sign < 0x10:
        yield Result.DIRECT, halves
    same = negative ^ sign
    mirrored = np.where((negative == 0) | (negative == sign), negative, same)
    if src.kind == "int":
        same[0] = positive[0]  # no integer is a negative zero
    if np.array_equal(positive, same):
        yield Result.SAME, [positive]
    if np.array_equal(positive, mirrored):
        yield Result.MIRRORED, [positive]
    yield Result.PAIRED, [positive.astype(np.uint16) | negative.astype(np.uint16) << 8]
    yield Result.SAME, [positive, same]
    yield Result.MIRRORED, [positive, mirrored]
    yield Result.PAIRED, halves


def _halves(src: Format, table: Table) -> list[Table]:
    """Return the values of the magnitudes, by sign."""
    if src.kind == "float":
        return [table[:MAGNITUDES], table[MAGNITUDES:]]
    if src.min_integer == 0:
        return [table]
    # The lowest integer has no positive counterpart.
    return [np.append(table[:MAGNITUDES], table[MAGNITUDES - 1]), np.append(table[0], table[: MAGNITUDES - 1 : -1])]


def _places(src: Format, dst: Format, result: Result, curves: list[Table]) -> Iterator[Table]:
    """Propose ways from magnitudes to places."""
    record = np.zeros((), LAYOUT)
    if src.kind == "int":
        record["shape"] = Shape.SIGNED if src.min_integer else Shape.UNSIGNED
        record["blocks"] = Blocks.NARROW if src.min_integer else Blocks.WIDE
        yield from [record] if len(curves) == 1 else []
        return
    if src.fraction_bits >= 8:  # blocks smaller than a binade
        if result is not Result.DIRECT:
            yield _by_sign(record.copy(), curves, MAGNITUDES // BLOCK)
            record["shape"] = Shape.DENSE
            yield from [record] if len(curves) == 1 else []
        return
    # A block that leaves all but one fraction bit of the destination to its number has two steps.
    likely = min(src.fraction_bits + 1 - dst.fraction_bits, 8)
    sizes = sorted((8, 7, 6, 5, 4), key=lambda bits: bits != likely)
    # Values that are no numbers of runs need not follow each other.
    windows = [_window(curves, bits, src, apart=result is Result.SAME) for bits in sizes]
    if result is Result.DIRECT:
        yield from (window for window, blocks in windows if blocks <= DIRECT_BLOCKS)
        return
    yield from (_by_sign(window, curves, blocks) for window, blocks in windows if blocks * len(curves) <= 128)
    if len(curves) == 1 and result is not Result.PAIRED:
        for window, blocks in (_window(curves, bits, src, apart=False) for bits in sizes):
            window["blocks"] = Blocks.CELLS
            yield from [window] if blocks <= 128 else []
    yield from (_by_sign(window, curves, blocks) for window, blocks in windows if 128 < blocks * len(curves) <= 256)


def _by_sign(record: Table, curves: list[Table], blocks: int) -> Table:
    """Fill in where the blocks of negative numbers lie."""
    if len(curves) > 1:
        record["sign_index"] = 64 if blocks <= 64 else 128
    record["blocks"] = Blocks.WIDE if blocks > 128 or record["sign_index"] == 128 else Blocks.NARROW
    return record


def _window(curves: list[Table], place_bits: int, src: Format, *, apart: bool) -> tuple[Table, int]:
    """Find the magnitudes that matter; return them and how many blocks they fill.

    With ``apart``, infinity is the last place of a block, and NaN begin the next one.
    """
    record = np.zeros((), LAYOUT)
    special = src.infinity_code or 0
    same_below = min(_run(curve[1:special]) for curve in curves)
    same_above = min(_run(curve[special - 1 : 0 : -1]) for curve in curves)
    tells_zero = any(curve[0] != curve[1] for curve in curves)
    low = (same_below - 1 if tells_zero else same_below) >> place_bits << place_bits
    top = max(special - same_above - low, 1)
    behind = ((top >> place_bits) + 1) << place_bits
    if apart:
        behind += (1 << place_bits) - 1
    behind = min(behind, special)
    record["shape"] = Shape.WINDOW_ZERO if tells_zero else Shape.WINDOW
    record["low"], record["top"], record["moved"], record["stretch"] = low, top, special - behind, 8 - place_bits
    return record, (behind + MAGNITUDES - special + (1 << place_bits) - 1) >> place_bits


def _run(values: Table) -> int:
    """Return how many values from the beginning on are the same."""
    other = np.flatnonzero(values != values[0])
    return int(other[0]) if len(other) else len(values)


def _place(record: Table, magnitude: Table) -> Table:
    """Return block and place of magnitudes in one number: what the loop computes."""
    if record["shape"] not in (Shape.WINDOW, Shape.WINDOW_ZERO):
        return magnitude
    low, top, moved, stretch = (int(record[name]) for name in ("low", "top", "moved", "stretch"))
    place: Table = np.minimum(np.maximum(magnitude - low, 0), top)
    place = np.maximum(place, magnitude - moved)
    if record["shape"] == Shape.WINDOW_ZERO:
        place = np.maximum(place, np.minimum(magnitude, 1))
    place <<= stretch
    return place


def _cut_direct(record: Table, curves: list[Table]) -> bool:
    """List the values of each block before its only edge and past it; False where one has more edges."""
    record["sign_index"] = DIRECT_BLOCKS
    for half, curve in enumerate(curves):
        for number, group in groupby(_pieces(record, curve, half), key=itemgetter(1)):
            starts, _, values = zip(*group, strict=True)
            if len(values) > 2:
                return False
            # What is past an edge at 0 is the whole block.
            record["edge_1"][number] = starts[-1] & 0xFF if len(values) == 2 else 0
            record["value"][number], record["value"][2 * DIRECT_BLOCKS + number] = values[0], values[-1]
    return True


def _cut(record: Table, curves: list[Table]) -> bool:
    """Number the runs of curves and cut them into blocks; False where there are too many runs."""
    dense = DENSE if record["shape"] in (Shape.DENSE, Shape.SIGNED, Shape.UNSIGNED) else 0
    fill = _fill_cells if record["blocks"] == Blocks.CELLS else _fill_edges
    numbers = _Numbers()
    for half, curve in enumerate(curves):
        if record["result"] == Result.PAIRED:
            numbers = _Numbers()
        name = _name if record["result"] == Result.SAME else numbers.of
        pieces = _pieces(record, curve, half)
        for start, _, value in pieces:
            if start < dense:
                record["dense"][start:] = name([value])[0] & 0xFF
        for number, group in groupby((piece for piece in pieces if piece[0] >= dense), key=itemgetter(1)):
            starts, _, values = zip(*group, strict=True)
            if not fill(record, number, starts, name(list(values))):
                return False
        if len(numbers.values) > MOST_RUNS + 1:
            return False
        found = np.array(numbers.values)
        slots = np.arange(1, len(found)) % MOST_RUNS
        each = record["result"] == Result.PAIRED and len(curves) > 1
        for sign, of_sign in ((half, found),) if each else ((0, found & 0xFF), (1, found >> 8)):
            record["value"][MOST_RUNS * sign + slots] = of_sign[1:]
    return True


def _pieces(record: Table, curve: Table, half: int) -> list[tuple[int, int, int]]:
    """Return place, block and value where a run or a block begins."""
    place = _place(record, np.arange(len(curve)))
    block = _block(record, place, half)
    begins = np.append(True, (curve[1:] != curve[:-1]) | (block[1:] != block[:-1]))
    return list(zip(place[begins].tolist(), block[begins].tolist(), curve[begins].tolist(), strict=True))


def _fill_edges(record: Table, number: int, starts: Sequence[int], names: list[int]) -> bool:
    """Describe a block by two edges; False where it has more."""
    # A run whose number is greater by two has two edges.
    edges = [start & 0xFF for i, start in enumerate(starts[1:]) for _ in range(names[i + 1] - names[i])]
    if len(edges) > 2 or len(edges) != names[-1] - names[0]:
        return False
    record["edge_1"][number], record["edge_2"][number] = [*edges, 0, 0][:2]
    # An edge at 0 adds one everywhere in its block, so the first run is counted from there.
    record["first"][number] = (names[0] + len(edges) - 2) & 0xFF
    return True


def _fill_cells(record: Table, number: int, starts: Sequence[int], names: list[int]) -> bool:
    """Describe a block by what is added to its first run in its cells: at the first place of each, and past that.

    False where a run begins elsewhere, or where too many blocks differ in that.
    """
    added = np.zeros(2 * BLOCK // CELL, np.uint8)
    for start, name in zip(starts[1:], names[1:], strict=True):
        past = start % CELL
        if past not in (0, 1 << int(record["stretch"])):
            return False
        added[2 * ((start & 0xFF) // CELL) + (past > 0) :] = (name - names[0]) & 0xFF
    kinds = record["edge_2"][:128].reshape(-1, len(added))
    # The first kind adds nothing, and neither do those not yet in use.
    found = next(
        (kind for kind, known in enumerate(kinds) if (known == added).all() or (kind and not known.any())), None
    )
    if found is None:
        return False
    kinds[found] = added
    record["first"][number], record["edge_1"][number] = names[0] & 0xFF, len(added) * found
    return True


def _name(values: list[int]) -> list[int]:
    """Number runs by their values."""
    return values


class _Numbers:
    """Numbers of runs: 0 has the value 0, later ones are given so that runs of a block follow each other."""

    def __init__(self) -> None:
        self.values = [0]
        self._last = {0: 0}

    def of(self, runs: list[int]) -> list[int]:
        """Return the numbers of some runs, which follow each other."""
        first = self._last.get(runs[0], len(self.values))
        known = self.values[first : first + len(runs)]
        if known != runs[: len(known)] or (len(known) < len(runs) and first + len(known) < len(self.values)):
            first, known = len(self.values), []
        for value in runs[len(known) :]:
            self._last[value] = len(self.values)
            self.values.append(value)
        return list(range(first, first + len(runs)))


def _block(record: Table, place: Table, negative: Table | int) -> Table:
    """Return which entry of the blocks a place reads; without wide tables the highest bit is not looked at."""
    mask = 0xFF if record["blocks"] == Blocks.WIDE else 0x7F
    return (place >> 8 | negative * int(record["sign_index"])) & mask


def _assemble(record: Table) -> Table:
    """Put the table together again, as the loop does."""
    code = np.arange(2 * MAGNITUDES)
    is_unsigned = record["shape"] == Shape.UNSIGNED
    negative = code * (not is_unsigned) >> 15
    magnitude = code if is_unsigned else code & (MAGNITUDES - 1)
    if record["shape"] == Shape.SIGNED:
        magnitude = np.where(negative, 2 * MAGNITUDES - code, code)
    place = _place(record, magnitude)
    block = _block(record, place, negative)
    if record["result"] == Result.DIRECT:
        past = (place & 0xFF) >= record["edge_1"][block]
        direct: Table = record["value"][block + 2 * DIRECT_BLOCKS * past]
        return direct
    run: Table = record["first"][block].astype(int)
    if record["blocks"] == Blocks.CELLS:
        cell = 2 * ((place & 0xFF) // CELL) + (place % CELL > 0)
        run += record["edge_2"][record["edge_1"][block] + cell]
    else:
        run += (place & 0xFF) >= record["edge_1"][block]
        run += (place & 0xFF) >= record["edge_2"][block]
    if record["shape"] in (Shape.DENSE, Shape.SIGNED, Shape.UNSIGNED):
        run = np.where(place < DENSE, record["dense"][place % DENSE], run)
    run &= 0xFF
    signs: Table = negative * int(record["sign"])
    if record["result"] == Result.SAME:
        return run | signs
    if record["result"] == Result.MIRRORED:
        return np.where(run, record["value"][run % MOST_RUNS] | signs, 0)
    return np.where(run, record["value"][run % MOST_RUNS + MOST_RUNS * negative], 0)
