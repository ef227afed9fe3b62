"""Tables of 16-bit floats in pieces, small enough for the registers of a vector unit.

A table to 8 bits is a step function of the magnitude: long runs of one value, since few bits
survive. Cut into blocks that hold at most three runs each, it is five tables of 128 or 256 bytes:
the three values and the two places where they change. Where the magnitudes that matter fill only part of
the range, as with bfloat16, a window is cut out first: below it all magnitudes, or all but zero,
give the same value, above it all finite ones; infinity and NaN are moved behind it.

A table that cannot be cut so stays a table. What is cut is put together again here and compared
with the table, all 65,536 entries, before it is used.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array as Table
from .formats import Format

MAGNITUDES = 1 << 15
# lutcast_steps of _kernels/vectors.h
LAYOUT = np.dtype(
    [(name, "<u2") for name in ("low", "top", "special", "moved", "place_bits")]
    + [(name, "<u2") for name in ("sign", "sign_index", "keeps_zero", "is_wide", "window")]
    + [(name, "u1", 256) for name in ("first", "edge_1", "second", "edge_2", "third")]
)


def steps(src: Format, dst: Format, table: Table) -> Table | None:
    """Cut the table of a 16-bit float source to 8 bits; None where it cannot be cut."""
    positive, negative = table[:MAGNITUDES], table[MAGNITUDES:]
    signs = _sign_rule(positive, negative, dst)
    halves = [positive] if signs else [positive, negative]
    # A block that leaves all but one fraction bit of the destination to its number has two steps.
    likely = min(src.fraction_bits + 1 - dst.fraction_bits, 8)
    for place_bits in sorted((8, 7, 6, 5, 4), key=lambda bits: bits != likely):
        window = _window(halves, place_bits, src)
        blocks = window["blocks"] * len(halves)
        if blocks > 256 or (len(halves) == 2 and window["blocks"] > 128):
            continue
        cut = [part for half in halves if (part := _cut(_move(half, window, place_bits), place_bits))]
        if len(cut) < len(halves):
            continue
        record = np.zeros((), LAYOUT)
        for name in ("low", "top", "special", "moved"):
            record[name] = window[name]
        record["place_bits"] = place_bits
        record["sign"], record["keeps_zero"] = signs or (0, 0)
        record["sign_index"] = 0 if signs else 128
        record["is_wide"] = blocks > 128 or not signs
        record["window"] = window["window"]
        for half, part in enumerate(cut):
            for name, values in part.items():
                record[name][128 * half : 128 * half + len(values)] = values
        if np.array_equal(_assemble(record), table):
            record.setflags(write=False)
            return record
    return None


def _sign_rule(positive: Table, negative: Table, dst: Format) -> tuple[int, int] | None:
    """Return the sign bit that makes the negative half, and whether zero goes without; None: another rule."""
    for keeps_zero in (0, 1):
        signed = positive | dst.sign_bit
        if keeps_zero:
            signed = np.where(positive == 0, 0, signed)
        if np.array_equal(signed, negative):
            return dst.sign_bit, keeps_zero
    return None


def _window(halves: list[Table], place_bits: int, src: Format) -> dict[str, int]:
    """Find the magnitudes that matter."""
    if MAGNITUDES >> place_bits <= 128:
        return {
            "window": 0, "low": 0, "top": MAGNITUDES - 1, "special": 0xFFFF, "moved": 0,
            "blocks": MAGNITUDES >> place_bits,
        }  # fmt: skip
    special = src.infinity_code or 0
    same_below = min(_run(half[1:special]) for half in halves)
    same_above = min(_run(half[special - 1 : 0 : -1]) for half in halves)
    tells_zero = any(half[0] != half[1] for half in halves)
    low = (same_below - 1 if tells_zero else same_below) >> place_bits << place_bits
    top = max(special - same_above - low, 1)
    behind = ((top >> place_bits) + 1) << place_bits
    blocks = (behind + MAGNITUDES - special + (1 << place_bits) - 1) >> place_bits
    return {
        "window": 2 if tells_zero else 1, "low": low, "top": top, "special": special, "moved": special - behind,
        "blocks": blocks,
    }  # fmt: skip


def _run(values: Table) -> int:
    """Return how many values from the beginning on are the same."""
    other = np.flatnonzero(values != values[0])
    return int(other[0]) if len(other) else len(values)


def _places(magnitude: Table, record: dict[str, int]) -> Table:
    """Return where magnitudes lie: what the loop computes."""
    inside = np.maximum(magnitude - record["low"], 0)
    if record["window"] == 2:
        inside = np.maximum(inside, np.minimum(magnitude, 1))
    inside = np.minimum(inside, record["top"])
    return np.where(magnitude >= record["special"], magnitude - record["moved"], inside)


def _move(half: Table, window: dict[str, int], place_bits: int) -> Table:
    """Return the values of the window, place by place; places that nothing reaches repeat the last value."""
    places = _places(np.arange(MAGNITUDES), window)
    values = np.zeros(window["blocks"] << place_bits, half.dtype)
    values[places] = half
    reached = np.zeros(len(values), bool)
    reached[places] = True
    last = np.maximum.accumulate(np.where(reached, np.arange(len(values)), 0))
    return values[last]


def _cut(values: Table, place_bits: int) -> dict[str, Table] | None:
    """Cut values into blocks of at most three runs; None where a block has more."""
    rows = values.reshape(-1, 1 << place_bits)
    changes = rows[:, 1:] != rows[:, :-1]
    counts = changes.sum(axis=1)
    if counts.max() > 2:
        return None
    first_edge = np.where(counts > 0, changes.argmax(axis=1) + 1, 0)
    last_edge = np.where(counts > 0, rows.shape[1] - 1 - changes[:, ::-1].argmax(axis=1), 0)
    every = np.arange(len(rows))
    unit = 1 << (8 - place_bits)
    return {
        "first": rows[:, 0],
        "edge_1": first_edge * unit,
        "second": rows[every, first_edge],
        "edge_2": last_edge * unit,
        "third": rows[every, last_edge],
    }


def _assemble(record: Table) -> Table:
    """Put the table together again, as the loop does."""
    magnitude = np.arange(MAGNITUDES)
    places = _places(magnitude, {name: int(record[name]) for name in ("window", "low", "top", "special", "moved")})
    place_bits = int(record["place_bits"])
    halves = []
    for negative in (0, 1):
        block = (places >> place_bits) | (negative * int(record["sign_index"]))
        place = (places << (8 - place_bits)) & 0xFF
        value = np.where(place >= record["edge_1"][block], record["second"][block], record["first"][block])
        value = np.where(place >= record["edge_2"][block], record["third"][block], value)
        if negative:
            signed = value | int(record["sign"])
            value = np.where((value == 0) & bool(record["keeps_zero"]), value, signed)
        halves.append(value)
    return np.concatenate(halves)
