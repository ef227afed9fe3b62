"""``--recipe``: the options of a command in a TOML file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import click

_NAME = "recipe"


def _load(context: click.Context, parameter: click.Parameter, path: Path | None) -> None:
    """Make what the file says the defaults of the command."""
    if path is None:
        return
    try:
        recipe = tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise click.UsageError(f"{path}: not TOML: {error}", context) from None
    options = {option.name: option for option in context.command.params if isinstance(option, click.Option)}
    known = [name.replace("_", "-") for name in options if name and name not in (_NAME, "help")]
    values = {}
    for key, value in recipe.items():
        name = key.replace("-", "_")
        if key.replace("_", "-") not in known:
            raise click.UsageError(f"{path}: unknown option {key!r}; known are {', '.join(known)}", context)
        values[name] = _checked(path, key, value, options[name])
    context.default_map = values


def _checked(path: Path, key: str, value: Any, option: click.Option) -> Any:
    wanted: tuple[type, ...]
    if option.multiple:
        wanted, what = (list,), "a list of strings"
    elif option.is_flag:
        wanted, what = (bool,), "true or false"
    else:
        wanted, what = (str, int), "a string or an integer"
    is_right = type(value) in wanted and (not option.multiple or all(isinstance(item, str) for item in value))
    if not is_right:
        raise click.UsageError(f"{path}: {key} = {value!r} given; it takes {what}")
    # As text, so that it is parsed like the command line.
    return str(value) if type(value) is int else value


recipe_option = click.option(
    f"--{_NAME}",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    is_eager=True,
    expose_value=False,
    callback=_load,
    help="TOML file with options of this command; what is given here too goes first.",
)
