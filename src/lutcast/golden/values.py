"""Codes as numbers and as text."""

from __future__ import annotations

import math

from .. import exact
from ..formats import Format


def value_of(code: int, fmt: Format) -> int | float:
    """Return the value of one code of a format that is not complex; it is exact."""
    number = exact.decode(code, fmt)
    if fmt.kind != "float":
        return -number.significand if number.negative else number.significand
    magnitude = {"infinite": math.inf, "nan": math.nan}.get(number.kind)
    if magnitude is None:
        magnitude = math.ldexp(number.significand, number.exponent)
    return math.copysign(magnitude, -1.0 if number.negative else 1.0)


def value_text(code: int, fmt: Format) -> str:
    """Return the shortest text that names the value of one code: "448.0", "-7", "nan", "1.0-2.5j"."""
    if fmt.part is None:
        return repr(value_of(code, fmt))
    real, imaginary = value_of(code & fmt.part.mask, fmt.part), value_of(code >> fmt.part.bits, fmt.part)
    return f"{real!r}{imaginary:+}j"


def code_text(code: int, fmt: Format) -> str:
    """Return one code in hexadecimal, all codes of a format equally wide."""
    return f"{code:0{-(-fmt.bits // 4)}x}"
