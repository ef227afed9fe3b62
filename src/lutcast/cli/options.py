"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

import lutcast
from lutcast.policy import parse_rounding

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:  # generic in newer click only
    _ParamType = click.ParamType

Command = TypeVar("Command", bound=Callable[..., Any])


class Parsed(_ParamType):
    """A value that a function of the library understands, or refuses with TypeError or ValueError."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the text of the command line."""
        try:
            return self._parse(value) if isinstance(value, str) else value
        except (TypeError, ValueError) as error:
            self.fail(str(error), param, ctx)


FORMAT = Parsed("format", lutcast.get_format)
ROUNDING = Parsed("rounding", parse_rounding)

_POLICY = (
    click.option(
        "--rounding",
        type=ROUNDING,
        help=f"Which neighbour an inexact value becomes: {', '.join(lutcast.Rounding)}. "
        "By default ties_to_even into floats, toward_zero into integers.",
    ),
    click.option(
        "--overflow",
        type=click.Choice([str(o) for o in lutcast.Overflow]),
        help="What a value beyond the largest finite one becomes. By default saturate into integers "
        "and floats of 8 bits or fewer, ieee into wider floats.",
    ),
    click.option(
        "--nan", type=click.Choice(["keep", "zero"]), default="keep", show_default=True, help="What NaN becomes."
    ),
)


def policy_options(command: Command) -> Command:
    """Add --rounding, --overflow and --nan to a command."""
    for option in reversed(_POLICY):
        command = option(command)
    return command
