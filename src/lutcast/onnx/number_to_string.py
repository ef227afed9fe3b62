"""Numbers to strings: as few digits as tell a value from its neighbours in its own format."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np

from .. import exact
from ..arrays import Array
from ..casting import cast
from ..formats import FLOAT8_E8M0FNU, FLOAT32, FLOAT64, Format
from .types import object_array

SPECIAL = {"inf": "INF", "-inf": "-INF", "nan": "NaN"}
# From here on whole numbers are written with an exponent.
END_OF_PLAIN = 1e16


def number_to_string(array: Array, src: Format) -> Array:
    """Write numbers as strings.

    Parameters
    ----------
    array : ndarray
    src : Format
        Its format, not a complex one.

    Returns
    -------
    ndarray of str objects
        Whole numbers below 10**16 exactly; others with the fewest digits that round to the value,
        as Python's ``repr`` lays them out; ``"NaN"``, ``"INF"``, ``"-INF"``, ``"-0"``.
    """
    if src.kind != "float":
        integers = cast(array, "int64" if src.is_signed and src.kind == "int" else "uint64")
        return object_array(list(map(str, integers.ravel().tolist())), array.shape)
    values = cast(array, FLOAT64).ravel()  # exact
    finite = np.isfinite(values)
    plain = finite & (np.trunc(values) == values) & (np.abs(values) < END_OF_PLAIN)
    texts = list(map(repr, _shortest_of_float32(array) if src is FLOAT32 else values.tolist()))
    if src not in (FLOAT32, FLOAT64, FLOAT8_E8M0FNU):
        codes = cast(array, src).ravel().view(f"u{src.itemsize}").tolist()  # in native byte order
        for index in np.flatnonzero(finite & ~plain).tolist():
            texts[index] = shortest(codes[index] & src.mask, src)
    for index in np.flatnonzero(plain).tolist():
        texts[index] = f"{values[index]:.0f}"
    return object_array([SPECIAL.get(text, text) for text in texts], array.shape)


def _shortest_of_float32(array: Array) -> list[float]:
    # NumPy finds the digits; as a float64 they are laid out by repr and stay as they are.
    return list(map(float, array.ravel().astype(str).tolist()))


@cache
def shortest(code: int, src: Format) -> str:
    """Write one finite value that is not zero.

    Among the shortest decimals that round to it, ties to even, the nearest is taken.
    """
    number = exact.decode(code, src)
    top = number.significand.bit_length() - 1
    quantum = src.quantum_exponent(top + number.exponent)
    significand = exact.in_units(number, quantum)
    is_power = significand.bit_count() == 1
    below = src.quantum_exponent(top + number.exponent - 1) if is_power else quantum
    value = significand * Fraction(2) ** quantum
    low, high = value - Fraction(2) ** (below - 1), value + Fraction(2) ** (quantum - 1)
    unit = Fraction(10) ** Decimal(float(value)).adjusted()
    while True:
        near = [k for k in (value // unit, value // unit + 1) if _is_within(k * unit, low, high, significand % 2 == 0)]
        if near:
            nearest = min(near, key=lambda k: (abs(k * unit - value), k % 2))
            return "-" * number.negative + repr(float(nearest * unit))
        unit /= 10


def _is_within(decimal: Fraction, low: Fraction, high: Fraction, closed: bool) -> bool:
    return low <= decimal <= high if closed else low < decimal < high
