"""A second definition of casts to narrow floats, by search among all values; nothing of lutcast in it.

Magnitudes are exact: integers in units of 2**-160, made with fractions.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from functools import cache
from math import copysign, inf, isinf, isnan

import numpy as np
import witnesses

UNITS = Fraction(2) ** 160
# What would come next beyond the largest value, where that is not one step of the last kind.
NEXT = {"hifloat8": 1.5 * 2.0**15, "float8_e8m0fnu": 2.0**128}
LESS, TIE, MORE = 1, 2, 3

ROUNDINGS = (
    "ties_to_even", "ties_to_away", "toward_zero", "toward_negative", "toward_positive", "to_odd", "away_from_zero",
)  # fmt: skip


def units(value: float) -> int:
    """Return a magnitude as an integer."""
    scaled = Fraction(value) * UNITS
    assert scaled.denominator == 1
    return scaled.numerator


class Oracle:
    """Casts to one float format."""

    def __init__(self, name: str) -> None:
        self.name = name
        value = witnesses.values(name)
        top = len(value) // 2 if np.any(value < 0) else len(value)  # codes without sign
        self.top = top
        finite = sorted((units(v), code) for code, v in enumerate(value[:top].tolist()) if np.isfinite(v))
        if name == "float8_e8m0fnu":
            finite.insert(0, (0, 0))  # below the smallest value; `outcome` decides
        self.magnitudes, self.codes = [list(part) for part in zip(*finite, strict=True)]
        last, before = self.magnitudes[-1], self.magnitudes[-2]
        self.magnitudes.append(units(NEXT[name]) if name in NEXT else 2 * last - before)
        self.infinity = next((code for code, v in enumerate(value.tolist()) if v == inf), None)
        self.nan = next((code for code, v in enumerate(value.tolist()) if np.isnan(v)), None)
        self.minus_zero = bool(np.any(np.signbit(value) & (value == 0)))

    def neighbour(self, magnitude: float) -> tuple[int, int]:
        """Return the index of the lower neighbour, and what is lost: nothing, LESS than half, TIE, MORE."""
        if magnitude == inf:
            return len(self.codes), 0
        exact = units(magnitude)
        lower = bisect_right(self.magnitudes, exact) - 1
        if lower == len(self.codes):
            return lower, 0
        below, above = exact - self.magnitudes[lower], self.magnitudes[lower + 1] - exact
        return lower, 0 if below == 0 else LESS if below < above else TIE if below == above else MORE

    def is_odd(self, index: int) -> bool:
        """Whether the significand field ends in 1; one without bits counts as odd, zero as even."""
        code = self.codes[index]
        if self.name == "float8_e8m0fnu":
            return index > 0
        if self.name == "hifloat8" and code < 8:
            return code > 0
        return code % 2 == 1

    def outcome(self, lower: int, loss: int, negative: bool, infinite: bool, rounding: str, overflow: str) -> int:
        """Return the code; any NaN where it is NaN."""
        if self.name == "float8_e8m0fnu" and (lower == 0 or negative):
            is_zero = lower == 0 and loss == 0
            return 0 if overflow == "saturate" and (is_zero or not negative) else self.nan
        index = lower
        if loss and lower < len(self.codes):
            match rounding:
                case "ties_to_even":
                    index += loss == MORE or (loss == TIE and self.is_odd(lower))
                case "ties_to_away":
                    index += loss >= TIE
                case "toward_negative":
                    index += negative
                case "toward_positive":
                    index += not negative
                case "to_odd":
                    index += not self.is_odd(lower)
                case "away_from_zero":
                    index += 1
        sign = self.top if negative else 0
        if index < len(self.codes):
            code = self.codes[index]
            return code if code == 0 and not self.minus_zero else sign + code
        inward = rounding in ("toward_zero", "to_odd", "toward_positive" if negative else "toward_negative")
        if overflow == "saturate" or (inward and not infinite) or self.infinity is self.nan is None:
            return sign + self.codes[-1]
        return sign + self.infinity if self.infinity is not None else self.nan

    def table(self, source: str, rounding: str, overflow: str) -> np.ndarray:
        """Return the code for every code of a source; any NaN where it is NaN, 0 where there is no NaN."""
        places, index = places_of(source, self.name)
        outcomes = [(self.nan or 0) if p is None else self.outcome(*p, rounding, overflow) for p in places]
        return np.array(outcomes)[index]


@cache
def oracle(name: str) -> Oracle:
    """Return the oracle of a destination."""
    return Oracle(name)


@cache
def places_of(source: str, name: str) -> tuple[list[tuple[int, int, bool, bool] | None], np.ndarray]:
    """Return the distinct places of a source's values among those of a destination, None for NaN.

    A place is the first four arguments of `Oracle.outcome`; the array says where each code has its place.
    """
    find = cache(oracle(name).neighbour)
    places: dict[tuple[int, int, bool, bool] | None, int] = {}
    index = []
    for value in witnesses.values(source).tolist():
        place = None if isnan(value) else (*find(abs(value)), copysign(1, value) < 0, isinf(value))
        index.append(places.setdefault(place, len(places)))
    return list(places), np.array(index)
