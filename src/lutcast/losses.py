"""What a cast loses, measured on blocks of elements."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from . import exact
from .arrays import Array
from .casting import cast
from .formats import FLOAT64, HIFLOAT8, Format
from .policy import Overflow, Policy, Rounding


class Marks(NamedTuple):
    """What happened to each element of a block.

    ``error`` is result minus element. ``beyond`` marks finite elements out of range once rounded,
    ``inexact`` those whose value changed, NaN apart, ``saturated`` those that were clamped.
    """

    result: Array
    before: Array
    after: Array
    error: Array
    beyond: Array
    inexact: Array
    saturated: Array


@dataclass
class Losses:
    """Adds up what a cast loses, block by block."""

    src: Format
    dst: Format
    policy: Policy
    counts: Counter[str] = field(default_factory=Counter)
    max_abs_error: float = 0.0
    signal: Fraction | int = 0
    noise: Fraction | int = 0

    def __post_init__(self) -> None:
        # Where CAST_HYBRID overflows is not a matter of magnitude alone.
        self.is_hybrid = self.policy.rounding is Rounding.HYBRID
        rounding = Rounding.TIES_TO_AWAY if self.is_hybrid else self.policy.rounding
        self.first_overflow = [_first_overflow(self.dst, rounding, negative) for negative in (False, True)]

    def add(self, marks: Marks) -> None:
        """Count what happened to one block."""
        before, after = marks.before, marks.after
        counts = self.counts
        counts["elements"] += before.size
        counts["inexact"] += _count(marks.inexact)
        counts["saturated"] += _count(marks.saturated)
        counts["overflowed"] += _count(marks.beyond & ~marks.saturated)
        counts["flushed_to_zero"] += _count((after == 0) & (before != 0) & np.isfinite(before))
        counts["nan_in"] += _count(np.isnan(before))
        counts["nan_out"] += _count(np.isnan(after))
        measured = np.isfinite(before) & np.isfinite(after)
        if measured.any():
            lost = np.abs(marks.error[measured])
            self.max_abs_error = max(self.max_abs_error, float(lost.max()))
            self.signal += power(before[measured])
            self.noise += power(lost)

    def marks(self, x: Array) -> Marks:
        """Cast one block and say of each element what happened to it."""
        rounding, overflow, nan = self.policy
        y = cast(x, self.dst, rounding=rounding, overflow=overflow, nan=nan, src=self.src)
        before, after = cast(x, FLOAT64, src=self.src), cast(y, FLOAT64, src=self.dst)
        if self.is_hybrid:
            unclamped = cast(x, HIFLOAT8, rounding=rounding, overflow=Overflow.IEEE, nan=nan, src=self.src)
            beyond = (unclamped & 0x7F == HIFLOAT8.infinity_code) & np.isfinite(before)
        else:
            # float64 holds all but 64-bit integers.
            beyond = self._beyond(x if self.src.kind == "int" and self.src.bits == 64 else before)
        with np.errstate(invalid="ignore", over="ignore"):
            error = _difference(x, before, y, after)
        is_infinite = np.isinf(before)
        clamped = np.isfinite(after) & (overflow is not Overflow.WRAP)
        return Marks(
            result=y,
            before=before,
            after=after,
            error=error,
            beyond=beyond,
            inexact=~np.isnan(before) & ((error != 0) | beyond) & ~(is_infinite & (before == after)),
            saturated=(beyond & clamped) | (is_infinite & np.isfinite(after)),
        )

    def _beyond(self, x: Array) -> Array:
        """Mark finite elements that would overflow."""
        highest, lowest = self.first_overflow
        if x.dtype.kind in "iu":
            return np.asarray((x >= math.ceil(highest)) | (x <= -math.ceil(lowest)))
        return np.asarray((x >= round_up(highest)) | (x <= -round_up(lowest))) & np.isfinite(x)

    def snr_db(self) -> float:
        """Return the signal-to-noise ratio in decibels."""
        return snr_db(self.signal, self.noise)


def snr_db(signal: Fraction | int, noise: Fraction | int) -> float:
    """Return the ratio of two squared lengths in decibels."""
    if noise == 0:
        return math.inf
    return 10 * (_log10(signal) - _log10(noise)) if signal else -math.inf


def _count(mask: Array) -> int:
    return int(np.count_nonzero(mask))


def _difference(x: Array, before: Array, y: Array, after: Array) -> Array:
    """Return result minus element, exactly zero where nothing is lost."""
    high, low = _halves(y, after)
    before_high, before_low = _halves(x, before)
    return np.asarray((high - before_high) + (low - before_low))


def _halves(x: Array, value: Array) -> tuple[Array, Array | float]:
    """Split 64-bit integers beyond 2**53 in two, each exact in float64; other values are exact whole."""
    if x.dtype.kind not in "iu" or x.itemsize < 8:
        return value, 0.0
    low = np.where(np.abs(value) < 2.0**53, x.dtype.type(0), x & 0xFFFFFFFF)
    return (x - low).astype(np.float64), low.astype(np.float64)


def power(values: Array) -> Fraction:
    """Sum squares, scaled so that none overflows or underflows."""
    largest = float(np.abs(values).max())
    exponent = math.frexp(largest)[1]
    total = float(np.square(np.ldexp(values, -exponent)).sum())
    return Fraction(total) * Fraction(4) ** exponent


def _log10(total: Fraction | int) -> float:
    return math.log10(total.numerator) - math.log10(total.denominator)


def _first_overflow(dst: Format, rounding: Rounding, negative: bool) -> Fraction:
    """Return the magnitude from which on values overflow, by the definition's own rounding.

    Where the border itself does not overflow, the returned value lies above it by a
    quantity too small for any source.
    """
    if dst.kind == "bool":
        return Fraction(2) ** 2000
    if dst.kind == "int":
        last, quantum = -dst.min_integer if negative else dst.max_integer, 0
    else:
        largest = exact.decode(dst.max_code, dst)
        quantum = dst.quantum_exponent(largest.significand.bit_length() - 1 + largest.exponent)
        last = exact.in_units(largest, quantum)
    tiny = 1200  # bits below the last place
    half = 1 << (tiny - 1)
    for offset in (1, half, half + 1, 2 * half):
        number = exact.Number(negative, (last << tiny) + offset, -tiny)
        if exact.round_to_multiple(number, 0, rounding).significand > last:
            break
    return Fraction(number.significand) * Fraction(2) ** (quantum - tiny)


def round_up(bound: Fraction) -> float:
    """Return the smallest float64 that is not below a bound."""
    try:
        value = float(bound)
    except OverflowError:
        return math.inf
    return value if math.isinf(value) or Fraction(value) >= bound else math.nextafter(value, math.inf)
