"""Strings to numbers, correctly rounded for every destination.

A decimal is rounded once: to the nearest float64 if that is the destination, else to odd at
float64. Any format of fewer than 52 significant bits can then be rounded to as if from the decimal
itself, since an odd last bit lies on no value and on no midpoint of such a format.
"""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np

from ..arrays import Array
from ..formats import BOOL, FLOAT64, Format

NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE)
NOT_ZERO = re.compile(r"[+-]?[0.]*[1-9]")
SHORT_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
TRUTH = {"true": "1", "false": "0"}

# Values and midpoints of float32 and narrower floats have these last bits of a float64 zero.
LOW_BITS = (1 << 28) - 1
BEYOND_INTEGERS = 2.0**65


def string_to_number(strings: Array, dst: Format, argument: str) -> Array:
    """Read strings as numbers that the core can cast to a destination in one rounding.

    Parameters
    ----------
    strings : ndarray of str objects
    dst : Format
    argument : str
        How errors name the strings.

    Returns
    -------
    ndarray
        int64 or uint64 for integers; float64, the nearest or rounded to odd, for floats and bool.

    Raises
    ------
    ValueError
        A string is no number, or an integer destination cannot hold it.
    """
    texts = [text.strip() for text in strings.ravel().tolist()]
    if dst is BOOL:
        texts = [TRUTH.get(text.lower(), text) for text in texts]
    for index, text in enumerate(texts):
        if not NUMBER.fullmatch(text):
            raise ValueError(f"{_place(argument, strings, index)} is not a number")
    if dst.kind == "int":
        return _integers(texts, strings, dst, argument)
    values = np.array([float(text) for text in texts], np.float64)
    if dst is not FLOAT64:
        _make_odd(values, texts)
    return values.reshape(strings.shape)


def _integers(texts: list[str], strings: Array, dst: Format, argument: str) -> Array:
    values = [_truncate(text) for text in texts]
    low, high = dst.min_integer, dst.max_integer
    for index, value in enumerate(values):
        if value is None or not low <= value <= high:
            raise ValueError(f"{_place(argument, strings, index)} is out of range for {dst.name}, {low} to {high}")
    return np.array(values, np.int64 if dst.is_signed else np.uint64).reshape(strings.shape)


def _truncate(text: str) -> int | None:
    """Return a number toward zero, None where no integer format holds it."""
    if SHORT_INTEGER.fullmatch(text):
        return int(text)
    nearest = abs(float(text))
    if not nearest < BEYOND_INTEGERS:  # NaN too
        return None
    # So the exponent is small, and Decimal builds no huge integer.
    return int(Decimal(text)) if nearest >= 0.5 else 0


def _make_odd(values: Array, texts: list[str]) -> None:
    """Turn the nearest float64 of each decimal into that rounded to odd, where it could matter."""
    codes = values.view(np.int64)
    for index in np.flatnonzero((codes & LOW_BITS == 0) & np.isfinite(values)).tolist():
        nearest, text = float(values[index]), texts[index]
        if nearest == 0:
            codes[index] |= NOT_ZERO.match(text) is not None
            continue
        exact, rounded = Decimal(text), Decimal.from_float(nearest)
        if exact != rounded:
            codes[index] += 1 if exact.copy_abs() > rounded.copy_abs() else -1


def _place(argument: str, strings: Array, index: int) -> str:
    """Name one string in an error."""
    place = ", ".join(map(str, np.unravel_index(index, strings.shape)))
    return f"{argument}{f'[{place}]' if place else ''}: {strings.flat[index]!r}"
