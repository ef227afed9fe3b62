"""What a cast does where the destination cannot hold the value: rounding, overflow, NaN."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple, TypeVar

from .errors import UnsupportedCast
from .formats import FLOAT16, FLOAT32, HIFLOAT8, Format

Nan = Literal["keep", "zero"]


class Rounding(StrEnum):
    """Which of its two neighbours an inexact value becomes (IEEE 754-2019 4.3).

    Examples
    --------
    >>> import lutcast
    >>> lutcast.Rounding("RNE")
    <Rounding.TIES_TO_EVEN: 'ties_to_even'>
    """

    TIES_TO_EVEN = "ties_to_even"
    TIES_TO_AWAY = "ties_to_away"
    TOWARD_ZERO = "toward_zero"
    TOWARD_NEGATIVE = "toward_negative"
    TOWARD_POSITIVE = "toward_positive"
    TO_ODD = "to_odd"
    AWAY_FROM_ZERO = "away_from_zero"
    HYBRID = "hybrid"

    @classmethod
    def _missing_(cls, value: object) -> Rounding | None:
        name = ROUNDING_ALIASES.get(value) if isinstance(value, str) else None
        return cls(name) if name else None


class Overflow(StrEnum):
    """What a value beyond the largest finite one becomes.

    ``saturate``: the largest finite value. ``ieee``: infinity, or as the direction of rounding
    says (IEEE 754-2019 7.4). ``wrap``: the integer modulo 2**bits.
    """

    SATURATE = "saturate"
    IEEE = "ieee"
    WRAP = "wrap"


ROUNDING_ALIASES = {
    "rint": "ties_to_even", "RNE": "ties_to_even", "CAST_RINT": "ties_to_even",
    "round": "ties_to_away", "RNA": "ties_to_away", "CAST_ROUND": "ties_to_away",
    "trunc": "toward_zero", "RTZ": "toward_zero", "CAST_TRUNC": "toward_zero",
    "floor": "toward_negative", "RTN": "toward_negative", "CAST_FLOOR": "toward_negative",
    "ceil": "toward_positive", "RTP": "toward_positive", "CAST_CEIL": "toward_positive",
    "odd": "to_odd", "CAST_ODD": "to_odd",
    "CAST_HYBRID": "hybrid",
}  # fmt: skip

# The roundings that every pair of formats has.
COMMON_ROUNDINGS = tuple(r for r in Rounding if r is not Rounding.HYBRID)


class Policy(NamedTuple):
    """A complete policy: nothing in it is left to a default."""

    rounding: Rounding
    overflow: Overflow
    nan: Nan = "keep"

    def __str__(self) -> str:
        return "/".join(self)


def overflows(dst: Format) -> tuple[Overflow, ...]:
    """Return the overflow rules that a destination has; its default comes first."""
    if dst.kind == "bool":
        return (Overflow.SATURATE,)
    if dst.kind == "int":
        return (Overflow.SATURATE, Overflow.WRAP)
    if (dst.part or dst).bits <= 8:
        return (Overflow.SATURATE, Overflow.IEEE)
    return (Overflow.IEEE, Overflow.SATURATE)


def default_rounding(dst: Format) -> Rounding:
    """Return the rounding that a cast to ``dst`` has by default."""
    return Rounding.TOWARD_ZERO if dst.kind in ("int", "bool") else Rounding.TIES_TO_EVEN


def has_hybrid(src: Format, dst: Format) -> bool:
    """Whether a pair of formats has the rounding ``hybrid``."""
    return dst is HIFLOAT8 and src in (FLOAT16, FLOAT32)


Name = TypeVar("Name", Rounding, Overflow)


def _parse(enum: type[Name], argument: str, value: object) -> Name:
    try:
        return enum(value)  # type: ignore[arg-type]
    except ValueError:
        allowed = ", ".join(repr(str(member)) for member in enum)
        raise ValueError(f"{argument}: {value!r} is not one of {allowed}") from None


def parse_rounding(value: object) -> Rounding:
    """Return the rounding of that name or alias; ValueError for any other value."""
    return _parse(Rounding, "rounding", value)


def resolve(src: Format, dst: Format, rounding: object, overflow: object, nan: object) -> Policy:
    """Check the three parts of a policy for one pair of formats and fill in the defaults.

    Raises
    ------
    ValueError
        An unknown name, ``ieee`` into integers or ``wrap`` into floats.
    UnsupportedCast
        ``hybrid`` for any pair but float16 or float32 to hifloat8.
    """
    chosen = default_rounding(dst) if rounding is None else parse_rounding(rounding)
    if chosen is Rounding.HYBRID and not has_hybrid(src, dst):
        raise UnsupportedCast(
            f"rounding: 'hybrid' exists from float16 and float32 to hifloat8 only, not from {src.name} to {dst.name}"
        )
    allowed = overflows(dst)
    rule = allowed[0] if overflow is None else _parse(Overflow, "overflow", overflow)
    if dst.kind == "bool":
        rule = allowed[0]
    elif rule not in allowed:
        names = " or ".join(repr(str(o)) for o in allowed)
        raise ValueError(f"overflow: {str(rule)!r} has no meaning for the destination {dst.name}; it takes {names}")
    if nan not in ("keep", "zero"):
        raise ValueError(f"nan: {nan!r} is not one of 'keep', 'zero'")
    return Policy(chosen, rule, "zero" if nan == "zero" else "keep")
