#!/usr/bin/env python3
"""Prove the tables and the loops of an installed lutcast, bit by bit.

    prove.py --tables                       every narrow source: all codes, to every destination,
                                            against the definition in lutcast.exact
    prove.py --boundaries                   every wide source: the values and midpoints of every
                                            destination and their neighbours, against lutcast.exact
    prove.py --float32 float8_e4m3fn int8   all 2**32 float32 inputs, against a second computation
                                            in float64 that knows neither tables nor loops

Each covers every rounding and overflow rule and both settings of NaN, prints what was compared
and exits with 1 on any mismatch. Several kinds of proof may be asked for at once.

    prove.py --tables --only float16        one source
    prove.py --float32 hifloat8 --jobs 1    one process
    LUTCAST_CPU=v3 prove.py --tables        loops compiled for another instruction set
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import lutcast
from lutcast import Format, exact, get_format, store, tables
from lutcast._kernels import VARIANT
from lutcast.policy import COMMON_ROUNDINGS, Overflow, Policy, Rounding, has_hybrid, overflows

Array = np.ndarray[Any, Any]

REAL = tuple(f for f in lutcast.formats() if f.kind != "complex")
NARROW = tuple(f for f in REAL if f.is_narrow)
WIDE = tuple(f for f in REAL if not f.is_narrow)
FLOAT32 = get_format("float32")
BLOCK = 1 << 17  # inputs of --float32 compared at a time, so that they stay in the cache


class Count(NamedTuple):
    """What was compared under one label."""

    label: str
    inputs: int
    mismatches: int
    example: str = ""


def policies(src: Format, dst: Format) -> list[Policy]:
    """Return every policy of a pair, NaN kept; the rule for bool is only one."""
    roundings = COMMON_ROUNDINGS + ((Rounding.HYBRID,) if has_hybrid(src, dst) else ())
    return [Policy(r, o) for r, o in product(roundings, overflows(dst))]


def cast_codes(codes: Array, src: Format, dst: Format, policy: Policy) -> Array:
    """Cast codes with the library; return codes."""
    r, o, nan = policy
    return lutcast.cast(codes, dst, rounding=r, overflow=o, nan=nan, src=src).view(f"u{dst.itemsize}")


def stored_codes(codes: Array, src: Format, dst: Format, policy: Policy) -> Array:
    """Look codes up in the table of the store, which not every cast uses."""
    return tables.codes(src, dst, policy)[codes]


def compare(label: str, codes: Array, got: Array, expected: Array) -> Count:
    """Count where two arrays of codes differ and show the first place."""
    if np.array_equal(got, expected):
        return Count(label, codes.size, 0)
    wrong = np.flatnonzero(got != expected)
    at = wrong[0]
    example = f"{int(codes[at]):#x} gives {int(got[at]):#x}, right is {int(expected[at]):#x}"
    return Count(label, codes.size, len(wrong), example)


# --------------------------------------------------------------------------- against the definition


def check_codes(codes: Array, src: Format, dst: Format) -> Iterator[Count]:
    """Compare casts of codes, and stored tables, with the definition, under every policy of the pair."""
    numbers = codes.tolist()
    ways = (cast_codes, stored_codes) if (src in store.SOURCES and dst in store.DESTINATIONS) else (cast_codes,)
    nans = np.array([src.kind == "float" and exact.decode(code, src).kind == "nan" for code in numbers], bool)
    for policy in policies(src, dst):
        label = f"{src.name} -> {dst.name} {policy.rounding}/{policy.overflow}"
        expected = np.array([exact.cast_code(code, src, dst, policy) for code in numbers], dtype=f"u{dst.itemsize}")
        yield from (compare(label, codes, way(codes, src, dst, policy), expected) for way in ways)
        policy = policy._replace(nan="zero")
        expected[nans] = [exact.cast_code(code, src, dst, policy) for code in codes[nans].tolist()]
        yield from (compare(f"{label}/zero", codes, way(codes, src, dst, policy), expected) for way in ways)


def check_table(pair: tuple[str, str]) -> list[Count]:
    """Compare all codes of a narrow source."""
    remember_decoded_codes()
    src, dst = map(get_format, pair)
    return list(check_codes(np.arange(1 << src.bits, dtype=f"u{src.itemsize}"), src, dst))


def check_boundaries(pair: tuple[str, str]) -> list[Count]:
    """Compare the boundary codes of a wide source."""
    src, dst = map(get_format, pair)
    return list(check_codes(boundary_codes(src, dst), src, dst))


def remember_decoded_codes() -> None:
    """Let the definition decode each code once in this process."""
    if not hasattr(exact.decode, "cache_info"):
        exact.decode = cache(exact.decode)


# --------------------------------------------------------------------------- where casts go wrong


def boundary_codes(src: Format, dst: Format, seed: int = 0) -> Array:
    """Return codes of a wide source: special, near a tie somewhere, at the boundaries of dst."""
    parts = [special_codes(src), near_ties(src, seed)]
    if dst.kind != "bool" and dst.name != "float64":
        points = boundary_points(dst, seed)
        parts.append(float_neighbours(points, src) if src.kind == "float" else integer_neighbours(points, src))
    return np.unique(np.concatenate(parts))


def boundary_points(dst: Format, seed: int) -> Array:
    """Return magnitudes of a format, the one that would come next, midpoints; some where they are many."""
    if not dst.is_narrow and dst.kind == "int":
        powers = 2.0 ** np.arange(dst.bits + 1)
        return np.concatenate([powers + beside for beside in (-1, -0.5, 0, 0.5, 1)])
    if not dst.is_narrow:
        codes = np.concatenate([special_codes(dst), near_ties(dst, seed)]) & np.uint32(dst.magnitude_mask)
        values = codes[codes < dst.infinity_code].view(np.float32).astype(np.float64)
        steps = np.ldexp(1.0, np.maximum(np.frexp(values)[1] - 24, -149))
        return np.concatenate([values, values + steps / 2, values + steps])
    values = np.arange((1 << dst.bits) + 1.0) if dst.kind == "int" else finite_magnitudes(dst)[0]
    return np.concatenate([values, (values[:-1] + values[1:]) / 2])


def float_neighbours(points: Array, src: Format) -> Array:
    """Return codes of points and of what lies beside them, of both signs."""
    with np.errstate(over="ignore"):
        codes = points.astype(src.name).view(f"u{src.itemsize}")
    around = np.concatenate([codes, codes + codes.dtype.type(1), codes[codes > 0] - codes.dtype.type(1)])
    return np.concatenate([around, around | codes.dtype.type(src.sign_bit)])


def integer_neighbours(points: Array, src: Format) -> Array:
    """Return codes of the integers around points, of both signs."""
    at = np.unique(np.floor(points[points < 2.0**src.bits])).astype(object)
    values = {int(v) + step for v in at for step in (-1, 0, 1, 2)}
    return integer_codes(values | {-v for v in values}, src)


def integer_codes(values: Iterable[int], src: Format) -> Array:
    inside = [v & src.mask for v in values if src.min_integer <= v <= src.max_integer]
    return np.array(sorted(inside), dtype=f"u{src.itemsize}")


def special_codes(src: Format) -> Array:
    """Return zeros, infinities, NaNs, borders of the subnormals and of the range; powers of two."""
    if src.kind == "int":
        powers = [(1 << k) + step for k in range(src.bits + 1) for step in (-1, 0, 1)]
        return integer_codes({0, *powers, *(-p for p in powers)}, src)
    infinity = src.exponent_mask
    payloads = {1, src.quiet_bit - 1, src.quiet_bit, src.quiet_bit + 1, (1 << src.fraction_bits) - 1}
    payloads |= {1 << k for k in range(src.fraction_bits)} | {src.quiet_bit | 1 << k for k in range(src.fraction_bits)}
    normal = 1 << src.fraction_bits
    codes = {0, 1, 2, normal - 1, normal, normal + 1, infinity - 1, infinity, *(infinity | p for p in payloads)}
    codes |= {e << src.fraction_bits for e in range(1 << src.exponent_bits)}
    return np.array(sorted(codes | {c | src.sign_bit for c in codes}), dtype=f"u{src.itemsize}")


def near_ties(src: Format, seed: int, count: int = 1000) -> Array:
    """Return codes whose low bits are at, or one beside, nothing or a half, at any width."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, src.mask, count, dtype=f"u{src.itemsize}", endpoint=True)
    if src.kind == "int":  # as many small integers as large ones
        codes >>= random.integers(0, src.bits, count, dtype=codes.dtype)
    width = random.integers(1, src.bits - 1, count, dtype=codes.dtype)
    one = codes.dtype.type(1)
    high, half = codes >> width << width, one << (width - one)
    lows = [half - half, half - one, half, half + one, half + half - one]
    return np.concatenate([codes, *(high | low for low in lows)])


# --------------------------------------------------------------------------- all float32 inputs

LOSSES = np.arange(4)  # what lies between a magnitude and its lower neighbour: nothing, < half, half, > half


def moves_up(rounding: Rounding, is_odd: Array, negative: bool) -> Array:
    """Whether the upper neighbour is taken: by parity of the lower one, and by loss."""
    odd, even = is_odd[:, None], ~is_odd[:, None]
    up = {
        Rounding.TIES_TO_EVEN: (LOSSES == 3) | (LOSSES == 2) & odd,
        Rounding.TIES_TO_AWAY: (LOSSES >= 2) | (odd & False),
        Rounding.TOWARD_ZERO: odd & False,
        Rounding.TOWARD_NEGATIVE: odd | True if negative else odd & False,
        Rounding.TOWARD_POSITIVE: odd & False if negative else odd | True,
        Rounding.TO_ODD: even,
        Rounding.AWAY_FROM_ZERO: odd | True,
    }[rounding]
    return up & (LOSSES > 0)


def finite_magnitudes(dst: Format) -> tuple[Array, Array]:
    """Return the magnitudes of a float in order, the next one beyond its range too, and their codes."""
    decoded = [(exact.decode(code, dst), code) for code in range(dst.magnitude_mask + 1)]
    finite = sorted((n.significand * 2.0**n.exponent, code) for n, code in decoded if n.kind == "finite")
    if not dst.has_zero:
        finite.insert(0, (0.0, 0))
    largest = finite[-1][0]
    step = 2.0 ** dst.quantum_exponent(int(np.frexp(largest)[1]) - 1)
    values = np.array([*(v for v, _ in finite), largest + step])
    return values, np.array([code for _, code in finite])


class ToFloat:
    """Every result of casts to a narrow float: by lower neighbour and loss, in ``key`` order."""

    def __init__(self, dst: Format) -> None:
        self.dst = dst
        self.values, self.codes = finite_magnitudes(dst)
        self.steps = np.diff(self.values)
        self.end = len(self.codes)
        self.is_odd = np.append(self.values[:-1] / self.steps % 2 == 1, False)

    def keys(self, x: Array, first: float) -> Array:
        """Return keys of magnitudes of one binade, or of the subnormals, that begins at ``first``."""
        low = int(np.searchsorted(self.values, first, side="right")) - 1
        if low == self.end:
            return np.full(x.shape, 4 * self.end)
        step = self.steps[low]
        keys = halves_and_more(x, step) + 4 * int(low - self.values[low] / step)
        return np.minimum(keys, 4 * self.end)

    def results(self, rounding: Rounding, overflow: Overflow, negative: bool) -> Array:
        """Return the code for every key."""
        dst = self.dst
        index = np.arange(self.end + 1)[:, None] + moves_up(rounding, self.is_odd, negative)
        code = self.codes[np.minimum(index, self.end - 1)]
        sign = dst.sign_bit if negative else 0
        signed = np.where((code == 0) & (not dst.has_negative_zero), 0, code | sign)
        result = np.where(index >= self.end, self.beyond(rounding, overflow, negative), signed)
        if not dst.has_zero:
            result[0] = 0 if overflow is Overflow.SATURATE else dst.nan_code
            if negative:
                result[0, 1:] = result[1:] = dst.nan_code
        return result.astype(f"u{dst.itemsize}").ravel()

    def beyond(self, rounding: Rounding, overflow: Overflow, negative: bool) -> int:
        """Return the code of an overflow, in the direction of rounding."""
        inward = (Rounding.TOWARD_ZERO, Rounding.TO_ODD)
        inward += (Rounding.TOWARD_POSITIVE if negative else Rounding.TOWARD_NEGATIVE,)
        if overflow is Overflow.SATURATE or rounding in inward:
            return self.dst.max_code | (self.dst.sign_bit if negative else 0)
        return self.infinity(overflow, negative)

    def infinity(self, overflow: Overflow, negative: bool) -> int:
        """Return the code of an infinite input."""
        dst = self.dst
        sign = dst.sign_bit if negative else 0
        if negative and not dst.is_signed:
            return dst.nan_code
        if overflow is Overflow.IEEE and dst.has_infinity:
            return dst.infinity_code | sign
        if overflow is Overflow.IEEE and dst.nan != "none":
            return dst.nan_code | (sign if dst.nan_is_signed else 0)
        return dst.max_code | sign

    def nan(self, codes: Array) -> Array:
        """Return codes for float32 NaNs: sign, quiet bit and leading payload where there is room."""
        dst = self.dst
        sign = (codes >> 31).astype(np.int64) * dst.sign_bit
        if dst.nan == "ieee":
            payload = (codes & 0x7FFFFF).astype(np.int64) >> (23 - dst.fraction_bits)
            return sign | dst.exponent_mask | dst.quiet_bit | payload
        return {"all_ones": sign | dst.magnitude_mask, "negative_zero": 0 * sign | dst.sign_bit, "none": 0 * sign}[
            dst.nan
        ]

    def hybrid_keys(self, keys: Array, codes: Array, exponent: int) -> Array:
        """Move keys as CAST_HYBRID does: the bits that fall off against the lowest bits."""
        if abs(exponent) < 4 or not -23 <= exponent <= 15:
            return keys
        m = codes.astype(np.int64) & 0x7FFFFF
        if exponent == -23:
            head = 1 << 13 | m >> 10
        elif exponent < -15:
            head = m >> 9
        else:
            head = (m >> 8 if abs(exponent) >= 8 else m >> 7) & 0x3FFF
        moved = 4 * (keys // 4 + (head >= (m & 0x3FFF)))
        return np.where((exponent < 15) | (m < 0x200000), moved, keys)


class ToInteger:
    """Every result of casts to a narrow integer; a magnitude from 2**bits on counts modulo 2**bits."""

    def __init__(self, dst: Format) -> None:
        self.dst, self.size = dst, 1 << dst.bits

    def keys(self, x: Array, first: float) -> Array:
        """Return keys of magnitudes of one binade, that begins at ``first``."""
        keys = halves_and_more(np.fmod(x, 2.0**self.dst.bits), 1.0)
        return keys + 4 * self.size if first >= self.size else keys

    def results(self, rounding: Rounding, overflow: Overflow, negative: bool) -> Array:
        """Return the code for every key."""
        dst = self.dst
        lower = np.arange(2 * self.size)
        value = lower[:, None] + moves_up(rounding, lower % 2 == 1, negative)
        value = -value if negative else value
        if overflow is Overflow.SATURATE:
            # From 2**bits on a key stands for more than its number says, which is enough to clip.
            value = np.clip(value, dst.min_integer, dst.max_integer)
        return (value & dst.mask).astype(f"u{dst.itemsize}").ravel()

    def infinity(self, overflow: Overflow, negative: bool) -> int:
        """Return the code of an infinite input."""
        return (self.dst.min_integer if negative else self.dst.max_integer) & self.dst.mask

    def nan(self, codes: Array) -> Array:
        """Return codes for NaNs."""
        return np.zeros(codes.shape, np.int64)


def halves_and_more(x: Array, step: float) -> Array:
    """Return 4 * (x // step) + loss, exact in float64."""
    halves = x.astype(np.float64) * (2.0 / step)
    whole = np.floor(halves)
    return 2 * whole.astype(np.int64) + (halves != whole)


@cache
def second(name: str) -> tuple[ToFloat | ToInteger, list[tuple[Policy, bool, Callable[..., Any], Array]]]:
    """Return the second computation to a destination, and all that is to be compared with it."""
    dst = get_format(name)
    to = ToFloat(dst) if dst.kind == "float" else ToInteger(dst)
    runs = []
    for policy, negative in product(policies(FLOAT32, dst), (False, True)):
        rounding, overflow, _ = policy
        finite = Rounding.TIES_TO_AWAY if rounding is Rounding.HYBRID else rounding
        cast = lutcast.caster(FLOAT32, dst, rounding=rounding, overflow=overflow)
        runs.append((policy, negative, cast, to.results(finite, overflow, negative)))
    return to, runs


def check_binade(task: tuple[str, int]) -> list[Count]:
    """Compare all float32 inputs that have one exponent field, of both signs."""
    name, field = task
    if field == 255:
        return list(check_not_finite(name))
    begin, end = field << 23, (field + 1) << 23
    middle = 1 << 22 if field == 0 else end  # 2**-127, the smallest float8_e8m0fnu, halves the subnormals
    counts: dict[str, Count] = {}
    for first, last in ((begin, middle), (middle, end)):
        for start in range(first, last, BLOCK):
            for count in check_block(name, np.arange(start, min(start + BLOCK, last), dtype=np.uint32), first):
                add(counts, count)
    return list(counts.values())


def check_block(name: str, codes: Array, first: int) -> Iterator[Count]:
    """Compare non-negative codes, and the same with a sign."""
    to, runs = second(name)
    keys = to.keys(codes.view(np.float32), float(np.uint32(first).view(np.float32)))
    hybrid = to.hybrid_keys(keys, codes, (first >> 23) - 127) if name == "hifloat8" else keys
    signed = codes, codes | np.uint32(1 << 31)
    for policy, negative, cast, results in runs:
        got = cast(signed[negative]).view(results.dtype)
        expected = results.take(hybrid if policy.rounding is Rounding.HYBRID else keys)
        yield compare(f"float32 -> {name} {policy.rounding}/{policy.overflow}", signed[negative], got, expected)


def check_not_finite(name: str) -> Iterator[Count]:
    """Compare infinities and all NaNs; NaNs under nan=zero too."""
    to, _ = second(name)
    dst = to.dst
    codes = np.arange(0x7F800000, 0x80000000, dtype=np.uint32)
    for policy, negative in product(policies(FLOAT32, dst), (False, True)):
        label = f"float32 -> {name} {policy.rounding}/{policy.overflow}"
        inputs = codes | np.uint32(negative << 31)
        expected = to.nan(inputs).astype(f"u{dst.itemsize}")
        expected[0] = to.infinity(policy.overflow, negative)
        yield compare(label, inputs, cast_codes(inputs, FLOAT32, dst, policy), expected)
        expected[1:] = 0
        yield compare(f"{label}/zero", inputs, cast_codes(inputs, FLOAT32, dst, policy._replace(nan="zero")), expected)


# --------------------------------------------------------------------------- the program


def add(counts: dict[str, Count], count: Count) -> None:
    """Add to what was compared under the same label."""
    old = counts.get(count.label, Count(count.label, 0, 0))
    counts[count.label] = Count(
        count.label, old.inputs + count.inputs, old.mismatches + count.mismatches, old.example or count.example
    )


def run(check: Callable[[Any], list[Count]], tasks: list[Any], jobs: int, merge: Callable[[str], str]) -> bool:
    """Run checks, print the counts under merged labels; return whether all agreed."""
    counts: dict[str, Count] = {}
    began = last = time.monotonic()
    pool = ProcessPoolExecutor(jobs) if jobs > 1 else None
    try:
        checked = (
            (future.result() for future in as_completed([pool.submit(check, task) for task in tasks]))
            if pool
            else map(check, tasks)
        )
        for done, results in enumerate(checked, 1):
            for count in results:
                add(counts, count._replace(label=merge(count.label)))
            if time.monotonic() - last > 5 or done == len(tasks):
                last = time.monotonic()
                print(f"\r{done} of {len(tasks)}, {last - began:.0f} s", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    finally:
        if pool:
            pool.shutdown(wait=False, cancel_futures=True)
    for count in counts.values():
        print(f"{count.label}: {count.inputs} inputs, {count.mismatches} mismatches {count.example}".rstrip())
    wrong = sum(count.mismatches for count in counts.values())
    print(f"{sum(count.inputs for count in counts.values())} casts compared, {wrong} mismatches")
    return wrong == 0


def by_pair(label: str) -> str:
    """Leave the policy out of a label."""
    return label.rpartition(" ")[0]


def main(argv: list[str] | None = None) -> int:
    """Run the proofs that were asked for; return 1 where anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    narrow = [f.name for f in NARROW if f.kind != "bool"]
    parser.add_argument("--tables", action="store_true", help="all codes of all narrow sources")
    parser.add_argument("--boundaries", action="store_true", help="boundary values of all wide sources")
    parser.add_argument(
        "--float32",
        nargs="+",
        default=[],
        choices=narrow,
        metavar="DST",
        help="all float32 inputs to floats and integers of 16 bits or fewer",
    )
    names = [f.name for f in REAL]
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="SRC", help="these sources of the tables, boundaries"
    )
    parser.add_argument("--to", nargs="+", choices=names, metavar="DST", help="these destinations of the same")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    options = parser.parse_args(argv)
    if not (options.tables or options.boundaries or options.float32):
        parser.error("nothing to do: give --tables, --boundaries or --float32 DST")

    def pairs(sources: tuple[Format, ...]) -> list[tuple[str, str]]:
        chosen = [(s.name, d.name) for s in sources for d in REAL if s is not d]
        return [(s, d) for s, d in chosen if s in (options.only or names) and d in (options.to or names)]

    print(f"lutcast {lutcast.__version__}, kernels {VARIANT}")
    agreed = True
    if options.tables:
        agreed &= run(check_table, pairs(NARROW), options.jobs, by_pair)
    if options.boundaries:
        agreed &= run(check_boundaries, pairs(WIDE), options.jobs, by_pair)
    for name in options.float32:
        agreed &= run(check_binade, [(name, field) for field in range(256)], options.jobs, str)
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
