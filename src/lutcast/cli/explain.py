"""``lutcast explain``."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby
from typing import Any

import click
from rich.console import Console

from lutcast.golden import Explanation
from lutcast.golden import explain as explain_cast
from lutcast.golden.fields import Field

from .options import FORMAT
from .render import Column, console, render_table

LINE = 49  # characters between two neighbours
_OUTCOMES: tuple[Column, ...] = (
    ("rounding", "left"),
    ("overflow", "left"),
    ("code", "left"),
    ("value", "right"),
    ("why", "left"),
)
_EPILOG = """
\b
Examples:
  lutcast explain 1.0625 float32 float8_e4m3fn
  lutcast explain 0x7f800001 float32 bfloat16
  lutcast explain -- -464.1 float64 float8_e4m3fn
"""


@click.command(epilog=_EPILOG)
@click.argument("value", metavar="VALUE")
@click.argument("source", metavar="SRC", type=FORMAT)
@click.argument("destination", metavar="DST", type=FORMAT)
def explain(value: str, source: Any, destination: Any) -> None:
    """Explain one cast.

    VALUE is a number, or a code of SRC such as 0x3f80. Shows its fields, the neighbours that DST
    has for it, and what each rounding and overflow rule gives, and why.
    """
    render_explanation(explain_cast(value, source, destination), console())


def render_explanation(e: Explanation, to: Console) -> None:
    """Print an explanation."""
    to.print(f"{e.source} {e.code} = {e.value}")
    render_fields(e.fields, to)
    to.print()
    if e.below and e.above:
        for line in _picture(e):
            to.print(f"  {line}")
        to.print()
    render_table(_OUTCOMES, [*_rows(e)], to)


def _rows(e: Explanation) -> Iterator[tuple[str, ...]]:
    """Yield what each policy gives, in one row where it is the same under every overflow rule."""
    for rounding, group in groupby(e.outcomes, lambda outcome: outcome.rounding):
        rows = [(o.overflow, o.code, o.value, o.why) for o in group]
        if len({row[1:] for row in rows}) == 1:
            rows = [("any", *rows[0][1:])]
        yield from ((rounding, *row) for row in rows)


def render_fields(fields: tuple[Field, ...], to: Console) -> None:
    """Print the fields of a code: names, bits and meanings, one below the other."""
    columns: tuple[Column, ...] = tuple((field.name, "left") for field in fields)
    render_table(columns, [[field.bits for field in fields], [field.meaning for field in fields]], to)


def _picture(e: Explanation) -> list[str]:
    """Draw the value between its neighbours."""
    assert e.below
    assert e.above
    below, above = (f"{number_text(n.value)} ({n.code or 'beyond the range'})" for n in (e.below, e.above))
    if e.place is None:
        return [f"{e.destination} has this value: {below}"]
    gap = " " * max(LINE - len(below) + 1, 2)
    position = min(int(e.place * LINE), LINE - 1)
    line = "".join("x" if i == position else "+" if i == LINE // 2 else "-" for i in range(LINE))
    left, right = (number_text(n.distance) for n in (e.below, e.above))
    share = float(e.place)
    return [
        f"{below}{gap}{above}",
        f"|{line}|",
        f"{left} above, {right} below: {share:.6%} of the way" + (", the middle" if e.place == Fraction(1, 2) else ""),
    ]


def number_text(value: Fraction) -> str:
    """Return a number in decimal: integers whole, others with the fewest digits that name a float64."""
    if value.denominator == 1 and abs(value) < 10**20:
        return str(value.numerator)
    try:
        return repr(float(value))
    except OverflowError:
        return "beyond 1e308"
