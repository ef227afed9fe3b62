"""Conditions on the measures of tensors, such as ``saturated>0``."""

from __future__ import annotations

import dataclasses
import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .measures import Measures
from .report import Report

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
#: Measures that are numbers.
NAMES = tuple(field.name for field in dataclasses.fields(Measures) if field.name != "steps")
_CONDITION = re.compile(r"\s*(\w+)\s*(>=|<=|==|!=|>|<)\s*(\S+)\s*")


@dataclass(frozen=True)
class Condition:
    """A comparison of one measure of a tensor with a number."""

    measure: str
    operator: str
    bound: float

    def __str__(self) -> str:
        return f"{self.measure}{self.operator}{self.bound:g}"

    def holds(self, measures: Measures) -> bool:
        """Whether the condition holds for a tensor; never where it has no such measure."""
        value = getattr(measures, self.measure)
        return value is not None and _OPERATORS[self.operator](value, self.bound)


def parse_condition(text: str) -> Condition:
    """Return the condition that a text states.

    Raises
    ------
    ValueError
        It states none.

    Examples
    --------
    >>> from lutcast.weights.conditions import parse_condition
    >>> parse_condition("snr_db < 20")
    Condition(measure='snr_db', operator='<', bound=20.0)
    """
    found = _CONDITION.fullmatch(text)
    try:
        bound = float(found[3]) if found else math.nan
    except ValueError:
        bound = math.nan
    if found is None or math.isnan(bound):
        raise ValueError(f"{text!r} is no condition such as saturated>0 or snr_db<20")
    if found[1] not in NAMES:
        raise ValueError(f"{text!r}: {found[1]} is not one of {', '.join(NAMES)}")
    return Condition(found[1], found[2], bound)


def failures(report: Report, condition: Condition) -> Iterator[str]:
    """Yield the names of the tensors for which a condition holds."""
    for tensor in report.tensors:
        if tensor.audit is not None and condition.holds(tensor.audit):
            yield tensor.name
