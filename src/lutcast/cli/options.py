"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import click

import lutcast
from lutcast.golden.files import KINDS
from lutcast.policy import parse_rounding
from lutcast.weights.checkpoint.layouts import LAYOUTS
from lutcast.weights.checkpoint.options import DEFAULT_LAYOUT

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


_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def parse_size(text: str) -> int:
    """Return a number of bytes, given as in "5GB" or "500 MiB"; ValueError for other text."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMG]I?B)?", text.strip().upper())
    size = int(Fraction(found[1]) * _UNITS[found[2] or ""]) if found else 0
    if size < 1:
        raise ValueError(f"{text!r} is not a size such as 5GB, 500MiB or 1000000")
    return size


FORMAT = Parsed("format", lutcast.get_format)
SIZE = Parsed("size", parse_size)
ROUNDING = Parsed("rounding", parse_rounding)

_ROUNDING = (
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
)
_NAN = (
    click.option(
        "--nan", type=click.Choice(["keep", "zero"]), default="keep", show_default=True, help="What NaN becomes."
    ),
)

_LAYOUT = (
    click.option("--format", "kind", type=click.Choice(list(KINDS)), help="Kind of file; by default its extension."),
    click.option(
        "--endian", type=click.Choice(["little", "big"]), default="little", show_default=True, help="In .bin."
    ),
    click.option("--packed", is_flag=True, help="Codes below 8 bits share bytes in .bin."),
    click.option(
        "--words-per-line", type=click.IntRange(min=1), default=1, show_default=True, help="Codes in a .hex word."
    ),
)

_SELECTION = (
    click.option(
        "--include", metavar="GLOB", multiple=True, help="Convert only tensors whose name matches. Repeatable."
    ),
    click.option("--exclude", metavar="GLOB", multiple=True, help="Copy tensors whose name matches. Repeatable."),
    click.option(
        "--keep",
        metavar="GROUP",
        multiple=True,
        help="Copy norms, embeddings, routers, heads or biases; a glob is taken too. Repeatable.",
    ),
)


_SCALING = (
    click.option(
        "--scale",
        metavar="tensor|channel|block:RxC",
        help="Divide weights by scales, of each matrix, output channel or block, as in block:128x128.",
    ),
    click.option("--layout", type=click.Choice(list(LAYOUTS)), default=DEFAULT_LAYOUT, help="How scales are stored."),
    click.option("--scale-max", type=float, help="What the largest weight becomes; by default FORMAT's largest."),
    click.option("--unscale", is_flag=True, help="Multiply scaled weights by their scales, and leave these out."),
)


def rounding_options(command: Command) -> Command:
    """Add --rounding and --overflow to a command."""
    return _with(command, _ROUNDING)


def policy_options(command: Command) -> Command:
    """Add --rounding, --overflow and --nan to a command."""
    return _with(command, (*_ROUNDING, *_NAN))


def layout_options(command: Command) -> Command:
    """Add --format, --endian, --packed and --words-per-line of golden files to a command."""
    return _with(command, _LAYOUT)


def selection_options(command: Command) -> Command:
    """Add --include, --exclude and --keep to a command."""
    return _with(command, _SELECTION)


def scaling_options(command: Command) -> Command:
    """Add --scale, --layout, --scale-max and --unscale to a command."""
    return _with(command, _SCALING)


def _with(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
