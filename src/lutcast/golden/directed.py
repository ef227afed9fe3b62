"""Inputs from sources too wide for a table: where a cast can go wrong, and next to it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np

from .. import exact
from ..arrays import Array
from ..casting import cast
from ..formats import FLOAT64, Format

HALF = Fraction(1, 2)


@cache
def directed_inputs(src: Format, dst: Format) -> Array:
    """Return codes of a wide source around every value and midpoint of a destination, ascending; read-only."""
    points = {sign * point for point in _magnitudes(dst) for sign in (1, -1)}
    codes = np.unique(_around_integers(points, src) if src.kind == "int" else _around_floats(points, src))
    codes.setflags(write=False)
    return codes


# --------------------------------------------------------------------------- of the destination


def _magnitudes(dst: Format) -> list[Fraction]:
    """Return magnitudes of values, the midpoints between them, and what lies just beyond the last."""
    values = sorted({Fraction(0), *(_every_value(dst) if dst.bits <= 16 else _some_values(dst))})
    step = last_step(dst)
    values += [values[-1] + step, values[-1] + 2 * step]
    return [*values, *((a + b) / 2 for a, b in pairwise(values))]


def _every_value(dst: Format) -> Iterator[Fraction]:
    for code in range(1 << dst.bits):
        number = exact.decode(code, dst)
        if number.kind == "finite":
            yield _magnitude(number)


def _some_values(dst: Format) -> Iterator[Fraction]:
    """Yield the ends, their neighbours and the middle of every binade, and the smallest subnormals."""
    if dst.kind == "int":
        for exponent in range(dst.bits):
            power = Fraction(2) ** exponent
            yield from (power - 1, power, power + 1, power * 3 / 2)
        yield from (Fraction(dst.max_integer), Fraction(-dst.min_integer))
        return
    quantum = Fraction(2) ** (dst.min_exponent - dst.fraction_bits)
    yield from (quantum, 2 * quantum, 3 * quantum)
    largest = _magnitude(exact.decode(dst.max_code, dst))
    exponent = dst.min_exponent - dst.fraction_bits
    while (power := Fraction(2) ** exponent) <= largest:
        step = Fraction(2) ** dst.quantum_exponent(exponent)
        yield from (value for value in (power, power + step, power * 3 / 2, 2 * power - step) if value % step == 0)
        exponent += 1


def last_step(dst: Format) -> Fraction:
    """Return how far above the largest finite value the next one would be."""
    if dst.kind != "float":
        return Fraction(1)
    largest = exact.decode(dst.max_code, dst)
    return Fraction(2) ** dst.quantum_exponent(largest.significand.bit_length() - 1 + largest.exponent)


def _magnitude(number: exact.Number) -> Fraction:
    return number.significand * Fraction(2) ** number.exponent


# --------------------------------------------------------------------------- of the source


def _around_integers(points: set[Fraction], src: Format) -> Array:
    """Return each point, or the integers beside it, with their neighbours; powers of two with theirs."""
    centres = {point.numerator // point.denominator for point in points}
    centres |= {sign << bit for bit in range(src.bits) for sign in (1, -1)}
    centres |= {0, src.min_integer, src.max_integer}
    near = {centre + step for centre in centres for step in (-1, 0, 1)}
    return np.array([n & src.mask for n in near if src.min_integer <= n <= src.max_integer], f"u{src.itemsize}")


def _around_floats(points: set[Fraction], src: Format) -> Array:
    """Return each point, or the nearest value, with its neighbours; the special codes of the source."""
    largest = _magnitude(exact.decode(src.max_code, src))
    centres = np.array([float(point) for point in points if abs(point) <= largest], np.float64)
    codes = cast(centres, src, src=FLOAT64).view(f"u{src.itemsize}")
    magnitudes = codes & src.magnitude_mask
    signs = codes & src.sign_bit
    near = [codes, np.where(magnitudes > 0, magnitudes - 1, 0) | signs, (magnitudes + 1) | signs]
    return np.concatenate([*near, np.array(_special_codes(src), codes.dtype)])


def _special_codes(src: Format) -> list[int]:
    """Return zero, the borders of the subnormals, the largest values, infinities and NaNs, of either sign."""
    infinity, quiet = src.exponent_mask, src.quiet_bit
    smallest_normal = 1 << src.fraction_bits
    magnitudes = [
        0, 1, smallest_normal - 1, smallest_normal, infinity - 1, infinity,
        infinity | 1, infinity | quiet, infinity | quiet | 1, infinity | quiet - 1, src.magnitude_mask,
    ]  # fmt: skip
    return [sign | magnitude for sign in (0, src.sign_bit) for magnitude in magnitudes]
