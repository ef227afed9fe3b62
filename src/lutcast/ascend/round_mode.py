"""The rounding modes of AscendC."""

from __future__ import annotations

from enum import IntEnum

from ..policy import Rounding


class RoundMode(IntEnum):
    """How ``Cast`` rounds, with AscendC's names and numbers.

    Examples
    --------
    >>> import lutcast.ascend
    >>> lutcast.ascend.RoundMode(1)
    <RoundMode.CAST_RINT: 1>
    """

    CAST_NONE = 0
    CAST_RINT = 1
    CAST_FLOOR = 2
    CAST_CEIL = 3
    CAST_ROUND = 4
    CAST_TRUNC = 5
    CAST_ODD = 6
    CAST_HYBRID = 7


# CAST_NONE stands where nothing is inexact, or means CAST_RINT.
ROUNDINGS = {
    RoundMode.CAST_NONE: Rounding.TIES_TO_EVEN,
    RoundMode.CAST_RINT: Rounding.TIES_TO_EVEN,
    RoundMode.CAST_FLOOR: Rounding.TOWARD_NEGATIVE,
    RoundMode.CAST_CEIL: Rounding.TOWARD_POSITIVE,
    RoundMode.CAST_ROUND: Rounding.TIES_TO_AWAY,
    RoundMode.CAST_TRUNC: Rounding.TOWARD_ZERO,
    RoundMode.CAST_ODD: Rounding.TO_ODD,
    RoundMode.CAST_HYBRID: Rounding.HYBRID,
}


def parse_round_mode(value: object) -> RoundMode:
    """Return a mode by itself, its number or its name, with or without ``CAST_``; ValueError otherwise."""
    try:
        if isinstance(value, str):
            return RoundMode[value if value.startswith("CAST_") else f"CAST_{value}"]
        if isinstance(value, int) and not isinstance(value, bool):
            return RoundMode(value)
    except (KeyError, ValueError):
        pass
    raise ValueError(f"round_mode: {value!r} is not one of {', '.join(mode.name for mode in RoundMode)}")
