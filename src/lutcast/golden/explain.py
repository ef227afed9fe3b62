"""Explain one cast by the definition: the value, its neighbours, and what every policy makes of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from .. import exact
from ..errors import UnsupportedCast
from ..formats import Format
from ..names import get_format
from ..policy import Overflow, Policy, Rounding, has_hybrid, overflows, resolve
from .fields import Field, fields_of
from .values import code_text, value_text

_SCALE_BITS = 2200  # below the last place of every format
_TOO_LARGE = exact.Number(False, 1, 5000)

#: Why a value between two neighbours becomes which; the second where it is a tie.
_REASONS = {
    Rounding.TIES_TO_EVEN: ("the nearer neighbour", "a tie: to the neighbour whose last bit is 0"),
    Rounding.TIES_TO_AWAY: ("the nearer neighbour", "a tie: to the neighbour of larger magnitude"),
    Rounding.TOWARD_ZERO: ("the neighbour toward zero",) * 2,
    Rounding.TOWARD_NEGATIVE: ("the neighbour below",) * 2,
    Rounding.TOWARD_POSITIVE: ("the neighbour above",) * 2,
    Rounding.TO_ODD: ("the neighbour whose last bit is 1",) * 2,
    Rounding.AWAY_FROM_ZERO: ("the neighbour away from zero",) * 2,
    Rounding.HYBRID: ("by a threshold from the low bits of the source, or the nearer",) * 2,
}


@dataclass(frozen=True)
class Neighbour:
    """A value of the destination next to the source's.

    Attributes
    ----------
    value : Fraction
    code : str or None
        In hexadecimal; None for a value that would come after the largest finite one.
    distance : Fraction
        From the source's value.
    """

    value: Fraction
    code: str | None
    distance: Fraction


@dataclass(frozen=True)
class Outcome:
    """What one policy gives.

    Attributes
    ----------
    rounding, overflow : str
    code, value : str
    why : str
    """

    rounding: str
    overflow: str
    code: str
    value: str
    why: str


@dataclass(frozen=True)
class Explanation:
    """One cast, explained.

    Attributes
    ----------
    source, destination : str
    code, value : str
        Of the source.
    fields : tuple of Field
        Of the source's code.
    below, above : Neighbour or None
        The neighbours toward negative and toward positive infinity, the same one where the
        destination has the value; None where there are none.
    outcomes : tuple of Outcome
        For every rounding and every overflow rule of the destination.
    """

    source: str
    destination: str
    code: str
    value: str
    fields: tuple[Field, ...]
    below: Neighbour | None
    above: Neighbour | None
    outcomes: tuple[Outcome, ...]

    @property
    def place(self) -> Fraction | None:
        """Where the value lies from the neighbour below, 0, to the one above, 1."""
        if self.below is None or self.above is None or self.below.value == self.above.value:
            return None
        return self.below.distance / (self.above.value - self.below.value)


def explain(value: str | int | float, src: object, dst: object) -> Explanation:
    """Explain what becomes of one value.

    Parameters
    ----------
    value : str, int or float
        A number, rounded to the nearest value of the source; or a code of it as text, "0x3f80".
    src, dst : format
        Not complex.

    Returns
    -------
    Explanation

    Raises
    ------
    TypeError
        No such format; UnsupportedCast for a complex one.
    ValueError
        No number, or a code or an integer beyond the source.

    Examples
    --------
    >>> from lutcast.golden import explain
    >>> e = explain("1.0625", "float32", "float8_e4m3fn")
    >>> e.place, e.outcomes[0].code, e.outcomes[0].why
    (Fraction(1, 2), '38', 'a tie: to the neighbour whose last bit is 0')
    """
    source, destination = get_format(src, "src"), get_format(dst, "dst")
    for argument, fmt in (("src", source), ("dst", destination)):
        if fmt.part:
            raise UnsupportedCast(f"{argument}: {fmt.name} is complex; its parts are cast as {fmt.part.name}")
    code = code_of(str(value), source)
    number = exact.decode(code, source)
    below = above = None
    if number.kind == "finite" and destination.kind != "bool" and not _is_outside(number, destination):
        below, above = (
            _neighbour(number, destination, r) for r in (Rounding.TOWARD_NEGATIVE, Rounding.TOWARD_POSITIVE)
        )
    return Explanation(
        source.name,
        destination.name,
        code_text(code, source),
        value_text(code, source),
        fields_of(code, source),
        below,
        above,
        tuple(_outcome(code, number, source, destination, policy) for policy in _policies(source, destination)),
    )


def code_of(text: str, fmt: Format) -> int:
    """Return the code that a text names: "0x..." as it is, a number rounded to the nearest value once.

    Raises
    ------
    ValueError
        No number, or beyond the format.
    """
    plain = text.strip().lower()
    try:
        if plain.startswith("0x"):
            code = int(plain, 16)
            if code >> fmt.bits:
                raise ValueError(f"value: {text} is beyond the {fmt.bits} bits of {fmt.name}")
            return code
        if fmt.kind != "float":
            integer = int(plain)
            if not fmt.min_integer <= integer <= fmt.max_integer:
                raise ValueError(f"value: {text} is beyond {fmt.name}, {fmt.min_integer} to {fmt.max_integer}")
            return integer & fmt.mask
        approximate = float(plain)
    except ValueError as error:
        if str(error).startswith("value:"):
            raise
        what = "a number" if fmt.kind == "float" else "an integer"
        raise ValueError(f"value: {text!r} is neither {what} nor a code such as 0x7f") from None
    policy = resolve(fmt, fmt, None, None, "keep")._replace(overflow=Overflow.IEEE)
    negative = math.copysign(1, approximate) < 0
    if math.isnan(approximate):
        return exact.encode_nan(exact.Number(negative, 0, 0, "nan"), fmt, policy)
    number = _number(plain, approximate)._replace(negative=negative)
    if not fmt.has_zero and exact.is_below_range(number, fmt):
        return exact.encode_below_range(number, fmt, policy)
    rounded = exact.round_to_grid(number, fmt, policy.rounding)
    if number.kind == "finite" and exact.is_beyond_max(rounded, fmt):
        largest = value_text(fmt.max_code, fmt)
        raise ValueError(f"value: {text} is beyond {fmt.name}, whose largest finite value is {largest}")
    return exact.encode(rounded, fmt, policy)


def _number(text: str, approximate: float) -> exact.Number:
    """Return the magnitude of a decimal number, so exactly that every format rounds it as it would round the text."""
    if "inf" in text:
        return exact.Number(False, 0, 0, "infinite")
    if math.isinf(approximate):
        return _TOO_LARGE
    digits = text.partition("e")[0]
    if approximate == 0:
        return exact.Number(False, int(any(c in "123456789" for c in digits)), -_SCALE_BITS)
    whole, rest = divmod(abs(Fraction(text)) * 2**_SCALE_BITS, 1)
    return exact.Number(False, int(whole) << 1 | (rest != 0), -_SCALE_BITS - 1)


def _is_outside(number: exact.Number, dst: Format) -> bool:
    return not dst.has_zero and exact.is_below_range(number, dst)


def _neighbour(number: exact.Number, dst: Format, rounding: Rounding) -> Neighbour:
    rounded = exact.round_to_grid(number, dst, rounding)
    value = _signed(rounded)
    policy = Policy(Rounding.TOWARD_ZERO, overflows(dst)[0])
    code = None if _is_beyond(rounded, dst) else code_text(exact.encode(rounded, dst, policy), dst)
    return Neighbour(value, code, abs(value - _signed(number)))


def _signed(number: exact.Number) -> Fraction:
    magnitude = number.significand * Fraction(2) ** number.exponent
    return -magnitude if number.negative else magnitude


def _is_beyond(number: exact.Number, dst: Format) -> bool:
    if dst.kind == "int":
        return not dst.min_integer <= _signed(number) <= dst.max_integer
    return exact.is_beyond_max(number, dst)


def _policies(src: Format, dst: Format) -> list[Policy]:
    roundings = [r for r in Rounding if r is not Rounding.HYBRID or has_hybrid(src, dst)]
    return [Policy(rounding, overflow) for rounding in roundings for overflow in overflows(dst)]


def _outcome(code: int, number: exact.Number, src: Format, dst: Format, policy: Policy) -> Outcome:
    result = exact.cast_code(code, src, dst, policy)
    why = _reason(code, number, result, src, dst, policy)
    return Outcome(str(policy.rounding), str(policy.overflow), code_text(result, dst), value_text(result, dst), why)


def _reason(code: int, number: exact.Number, result: int, src: Format, dst: Format, policy: Policy) -> str:
    if src is dst:
        return "the same format: the bits are copied"
    if number.kind == "nan":
        return "NaN stays NaN" if dst.nan_code is not None else f"{dst.name} has no NaN"
    if dst.kind == "bool":
        return "zero is false, all else is true"
    if _is_outside(number, dst):
        return f"{dst.name} has neither zero nor negative values"
    if number.kind == "infinite":
        return _overflow_reason(result, dst, policy, "infinity")
    if policy.rounding is Rounding.HYBRID:
        rounded = exact.round_hybrid(number, code, src, dst)
    else:
        rounded = exact.round_to_grid(number, dst, policy.rounding)
    if _signed(rounded) == _signed(number):
        reason = "exact"
    else:
        ends = [_signed(exact.round_to_grid(number, dst, r)) for r in (Rounding.TOWARD_ZERO, Rounding.AWAY_FROM_ZERO)]
        reason = _REASONS[policy.rounding][sum(ends) == 2 * _signed(number)]
    if _is_beyond(rounded, dst):
        return f"{reason}, {_overflow_reason(result, dst, policy, 'beyond the largest finite value')}"
    return reason


def _overflow_reason(result: int, dst: Format, policy: Policy, what: str) -> str:
    if policy.overflow is Overflow.WRAP and what != "infinity":
        return f"{what}: modulo 2**{dst.bits}"
    kind = exact.decode(result, dst).kind
    if kind == "infinite":
        return f"{what}: infinity"
    if kind == "nan":
        return f"{what}: NaN, as {dst.name} has no infinity"
    if policy.overflow is not Overflow.IEEE:
        return f"{what}: clamped"
    if dst.infinity_code is None and dst.nan_code is None:
        return f"{what}: clamped, as {dst.name} has neither infinity nor NaN"
    return f"{what}: the largest finite value, as the direction of rounding says"
