#!/usr/bin/env python3
"""Generate every table of lutcast and the manifest that guards them.

A table maps all codes of a source format of 16 bits or fewer to codes of a destination of 16
bits or fewer, or to float32, under one policy. The values are found on whole arrays with integer
and exact float64 arithmetic: all values of a narrow format, all midpoints between two neighbours
and all their sums here have fewer than 53 significant bits.

Run by the build, which needs no built package:

    gen_tables.py -o tables.bin                generate, compare with the manifest, write the store
    gen_tables.py --update-manifest            generate and rewrite tables/manifest.tsv
"""

from __future__ import annotations

import argparse
import sys
import types
from collections.abc import Iterator
from functools import cached_property
from importlib.machinery import PathFinder
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if "lutcast" not in sys.modules:
    # A bare package, so that the pure modules import before anything is compiled; found on its
    # path first of all, before the hook of an editable install would want to build.
    package = types.ModuleType("lutcast")
    package.__path__ = [str(ROOT / "src" / "lutcast")]
    sys.modules["lutcast"] = package
    sys.meta_path.insert(0, PathFinder)

from lutcast import exact, store  # noqa: E402
from lutcast.formats import Format  # noqa: E402
from lutcast.policy import Overflow, Policy, Rounding  # noqa: E402

MANIFEST = ROOT / "tables" / "manifest.tsv"
COLUMNS = ("source", "destination", "bytes", "sha256", "policies")


class Values:
    """All codes of a source as arrays: magnitude, sign and class."""

    def __init__(self, src: Format) -> None:
        self.src = src
        numbers = [exact.decode(code, src) for code in range(1 << src.bits)]
        self.code = np.arange(1 << src.bits, dtype=np.int64)
        self.is_nan = np.array([n.kind == "nan" for n in numbers])
        self.is_infinite = np.array([n.kind == "infinite" for n in numbers])
        self.is_negative = np.array([n.negative for n in numbers])
        finite = [float(n.significand) * 2.0**n.exponent if n.kind == "finite" else 0.0 for n in numbers]
        self.magnitude = np.array(finite)
        payload = [n.significand << 32 >> -n.exponent if n.kind == "nan" else 0 for n in numbers]
        self.payload = np.array(payload, dtype=np.int64)  # in units of 2**-32
        self.exponent = np.array([n.significand.bit_length() - 1 + n.exponent for n in numbers])


class Grid:
    """The non-negative finite values of a float in order, and the one that would come next."""

    def __init__(self, dst: Format) -> None:
        self.dst = dst
        numbers = [(exact.decode(code, dst), code) for code in range(dst.magnitude_mask + 1)]
        finite = sorted((float(n.significand) * 2.0**n.exponent, code) for n, code in numbers if n.kind == "finite")
        if not dst.has_zero:
            finite.insert(0, (0.0, 0))
        value = np.array([v for v, _ in finite])
        largest = exact.decode(dst.max_code, dst)
        exponent = largest.significand.bit_length() - 1 + largest.exponent
        self.value = np.append(value, value[-1] + 2.0 ** dst.quantum_exponent(exponent))
        self.code = np.array([code for _, code in finite] + [0], dtype=np.int64)
        self.midpoint = (self.value[:-1] + self.value[1:]) / 2
        exponents = np.frexp(np.maximum(self.value, self.value[1]))[1] - 1
        quanta = np.array([dst.quantum_exponent(int(e)) for e in exponents])
        self.is_odd = np.ldexp(self.value, -quanta).astype(np.int64) % 2 == 1


def rounds_up(
    rounding: Rounding, odd: np.ndarray, tie: np.ndarray, above: np.ndarray, negative: np.ndarray
) -> np.ndarray:
    """Whether an inexact magnitude moves to its upper neighbour.

    ``odd``: the lower neighbour is odd; ``tie``, ``above``: the value is at, or above, the midpoint.
    """
    match rounding:
        case Rounding.TIES_TO_EVEN:
            return above | (tie & odd)
        case Rounding.TIES_TO_AWAY:
            return above | tie
        case Rounding.TOWARD_ZERO:
            return np.zeros_like(odd)
        case Rounding.TOWARD_NEGATIVE:
            return negative
        case Rounding.TOWARD_POSITIVE:
            return ~negative
        case Rounding.TO_ODD:
            return ~odd
        case _:
            return np.ones_like(odd)


class FloatCast:
    """Casts of all codes of one source to one float format."""

    def __init__(self, values: Values, grid: Grid) -> None:
        self.values, self.grid, self.dst = values, grid, grid.dst
        v, g = values, grid
        self.lower = np.searchsorted(g.value, v.magnitude, side="right") - 1
        self.inexact = (g.value[self.lower] != v.magnitude) & (self.lower < len(g.value) - 1)
        midpoint = g.midpoint[np.minimum(self.lower, len(g.midpoint) - 1)]
        self.tie = v.magnitude == midpoint
        self.above = v.magnitude > midpoint
        self.odd = g.is_odd[self.lower]
        self.sign = np.where(v.is_negative, self.dst.sign_bit, 0)
        self.nan = self._nan()
        if not self.dst.has_zero:
            self.negative = v.is_negative & (v.is_infinite | (v.magnitude > 0))
            self.tiny = (v.magnitude < g.value[1]) & ~v.is_infinite & ~self.negative

    def _nan(self) -> np.ndarray:
        if self.dst.nan_code is None:
            return np.zeros_like(self.sign)
        sign = self.sign if self.dst.nan_is_signed else 0
        payload = self.values.payload >> (32 - self.dst.fraction_bits) if self.dst.quiet_bit else 0
        return self.dst.nan_code | sign | payload

    def codes(self, rounding: Rounding, overflow: Overflow) -> np.ndarray:
        """Return the table of one policy."""
        v = self.values
        if rounding is Rounding.HYBRID:
            return self._hybrid(overflow)
        up = self.inexact & rounds_up(rounding, self.odd, self.tie, self.above, v.is_negative)
        return self._encode(self.lower + up, rounding, overflow)

    def _encode(self, index: np.ndarray, rounding: Rounding, overflow: Overflow) -> np.ndarray:
        v, dst = self.values, self.dst
        code = self.grid.code[index]
        result = np.where((code == 0) & (not dst.has_negative_zero), 0, code | self.sign)
        beyond = (index >= len(self.grid.value) - 1) | v.is_infinite
        result = np.where(beyond, self._overflow(rounding, overflow), result)
        if not dst.has_zero:
            result = np.where(self.tiny, 0 if overflow is Overflow.SATURATE else dst.nan_code, result)
            result = np.where(self.negative, dst.nan_code, result)
        return np.where(v.is_nan, self.nan, result)

    def _overflow(self, rounding: Rounding, overflow: Overflow) -> np.ndarray:
        """IEEE 754-2019 7.4."""
        v, dst = self.values, self.dst
        largest = dst.max_code | self.sign
        if overflow is Overflow.SATURATE or (dst.infinity_code is None and dst.nan_code is None):
            return largest
        if dst.infinity_code is not None:
            infinite = dst.infinity_code | self.sign
        else:
            infinite = dst.nan_code | (self.sign if dst.nan_is_signed else 0)
        stays_finite = {
            Rounding.TOWARD_ZERO: True,
            Rounding.TO_ODD: True,
            Rounding.TOWARD_NEGATIVE: ~v.is_negative,
            Rounding.TOWARD_POSITIVE: v.is_negative,
        }.get(rounding, False)
        return np.where(stays_finite & ~v.is_infinite, largest, infinite)

    def _hybrid(self, overflow: Overflow) -> np.ndarray:
        """CAST_HYBRID from float16: the head of the dropped bits against the low bits of the code."""
        v, src = self.values, self.values.src
        exponent = v.exponent
        quantum = np.array([self.dst.quantum_exponent(int(e)) for e in exponent])
        dropped_bits = src.fraction_bits - exponent + quantum
        significand = np.ldexp(v.magnitude, src.fraction_bits - exponent).astype(np.int64)
        fraction = (significand & ((1 << dropped_bits) - 1)) >> np.maximum(dropped_bits - 2, 0)
        threshold = (v.code & 1) * 2 + 1
        applies = (np.abs(exponent) >= 4) & (exponent >= -23) & (v.magnitude < 40960)
        nearest = self.inexact & (self.tie | self.above)
        # An exact value can move up too, and then lands on the next grid point.
        up = np.where(applies, fraction >= threshold, nearest)
        return self._encode(self.lower + up, Rounding.TIES_TO_AWAY, overflow)


class IntegerCast:
    """Casts of all codes of one source to one integer format."""

    def __init__(self, values: Values, dst: Format) -> None:
        self.values, self.dst = values, dst
        self.lower = np.floor(values.magnitude)
        fraction = values.magnitude - self.lower
        self.inexact = fraction > 0
        self.tie, self.above = fraction == 0.5, fraction > 0.5
        self.odd = np.fmod(self.lower, 2) == 1

    def codes(self, rounding: Rounding, overflow: Overflow) -> np.ndarray:
        """Return the table of one policy."""
        v, dst = self.values, self.dst
        up = self.inexact & rounds_up(rounding, self.odd, self.tie, self.above, v.is_negative)
        magnitude = self.lower + up
        value = np.where(v.is_negative, -magnitude, magnitude)
        if overflow is Overflow.SATURATE:
            value = np.clip(value, dst.min_integer, dst.max_integer)
        result = np.fmod(value, 2.0**dst.bits).astype(np.int64)
        extreme = np.where(v.is_negative, dst.min_integer, dst.max_integer)
        result = np.where(v.is_infinite, extreme, result) & dst.mask
        return np.where(v.is_nan, 0, result)


class BoolCast:
    """The cast of all codes of one source to bool."""

    def __init__(self, values: Values) -> None:
        self.values = values

    def codes(self, rounding: Rounding, overflow: Overflow) -> np.ndarray:
        """Return the table of the only policy."""
        v = self.values
        return (v.is_nan | v.is_infinite | (v.magnitude != 0)).astype(np.int64)


class Float32Decode:
    """The decode table of one source: every narrow value is a float32."""

    def __init__(self, values: Values, dst: Format) -> None:
        self.values, self.dst = values, dst

    def codes(self, rounding: Rounding, overflow: Overflow) -> np.ndarray:
        """Return the table; bits of the float32."""
        v, dst = self.values, self.dst
        code = v.magnitude.astype(np.float32).view(np.uint32).astype(np.int64)
        infinity = dst.max_code if overflow is Overflow.SATURATE else dst.infinity_code
        code = np.where(v.is_infinite, infinity, code)
        code = np.where(v.is_nan, dst.nan_code | (v.payload >> (32 - dst.fraction_bits)), code)
        has_sign = v.is_negative if v.src.kind == "float" else v.is_negative & (v.magnitude > 0)
        return code | np.where(has_sign, dst.sign_bit, 0)


class Generator:
    """All tables, pair by pair."""

    @cached_property
    def grids(self) -> dict[Format, Grid]:
        """The grid of every narrow float."""
        return {dst: Grid(dst) for dst in store.DESTINATIONS if dst.kind == "float" and dst.is_narrow}

    def pair(self, values: Values, dst: Format) -> FloatCast | IntegerCast | BoolCast | Float32Decode:
        """Return the caster of one pair."""
        if dst.kind == "bool":
            return BoolCast(values)
        if dst.kind == "int":
            return IntegerCast(values, dst)
        if dst.is_narrow:
            return FloatCast(values, self.grids[dst])
        return Float32Decode(values, dst)

    def tables(self) -> Iterator[tuple[Format, Format, Policy, np.ndarray]]:
        """Yield every table with its pair and policy, in a fixed order."""
        for src in store.SOURCES:
            values = Values(src)
            for dst in store.DESTINATIONS:
                if src is dst:
                    continue
                pair = self.pair(values, dst)
                for policy in store.policies(src, dst):
                    yield src, dst, policy, pair.codes(policy.rounding, policy.overflow).astype(store.code_dtype(dst))


def manifest_lines(rows: dict[tuple[str, str, str], tuple[int, list[Policy]]]) -> list[str]:
    """Return the lines of the manifest, one for each distinct table of a pair."""
    lines = ["\t".join(COLUMNS)]
    for (src, dst, digest), (size, names) in rows.items():
        policies = ",".join(f"{p.rounding}/{p.overflow}" for p in names)
        lines.append(f"{src}\t{dst}\t{size}\t{digest}\t{policies}")
    return lines


def main(argv: list[str] | None = None) -> int:
    """Run the generator."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="the store file to write")
    parser.add_argument("--update-manifest", action="store_true", help="rewrite tables/manifest.tsv")
    parser.add_argument("--manifest", type=Path, default=MANIFEST, help="the manifest (default: %(default)s)")
    options = parser.parse_args(argv)
    if not options.output and not options.update_manifest:
        parser.error("nothing to do: give -o FILE, --update-manifest or both")

    rows: dict[tuple[str, str, str], tuple[int, list[Policy]]] = {}
    writer = store.Writer()
    for src, dst, policy, table in Generator().tables():
        digest = writer.add(src, dst, policy, table)
        rows.setdefault((src.name, dst.name, digest), (table.nbytes, []))[1].append(policy)
    text = "\n".join(manifest_lines(rows)) + "\n"

    if options.update_manifest:
        options.manifest.write_text(text, encoding="utf-8")
    elif (difference := first_difference(options.manifest.read_text(encoding="utf-8"), text)) is not None:
        print(f"gen_tables: the tables differ from {options.manifest.name}\n{difference}", file=sys.stderr)
        return 1
    if options.output:
        options.output.write_bytes(writer.tobytes())
    return 0


def first_difference(expected: str, actual: str) -> str | None:
    """Describe the first line in which two manifests differ; None where they agree."""
    old, new = expected.splitlines(), actual.splitlines()
    for number in range(max(len(old), len(new))):
        pair = [lines[number] if number < len(lines) else "(no line)" for lines in (old, new)]
        if pair[0] != pair[1]:
            return f"line {number + 1}\n  manifest:  {pair[0]}\n  generated: {pair[1]}"
    return None


if __name__ == "__main__":
    sys.exit(main())
