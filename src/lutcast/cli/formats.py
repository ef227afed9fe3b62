"""``lutcast formats``."""

from __future__ import annotations

import json
from typing import Any

import click

import lutcast
from lutcast.formats import Format
from lutcast.golden.values import value_of

from .format_card import render_format
from .options import FORMAT
from .render import Column, console, render_table

_COLUMNS: tuple[Column, ...] = (
    ("name", "left"),
    ("bits", "right"),
    ("exponent", "right"),
    ("fraction", "right"),
    ("max", "right"),
    ("min positive", "right"),
    ("inf", "left"),
    ("nan", "left"),
    ("aliases", "left"),
)


_EPILOG = """
\b
Examples:
  lutcast formats
  lutcast formats float8_e4m3fn
  lutcast formats --json
"""


@click.command(epilog=_EPILOG)
@click.argument("name", required=False, type=FORMAT)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def formats(name: Any, as_json: bool) -> None:
    """List the number formats, or draw the one called NAME.

    Fields, range, special values and names in other systems. Of complex formats the fields are those of one part.
    """
    if name is not None:
        if as_json:
            click.echo(json.dumps(describe(name), indent=2, allow_nan=False))
        else:
            render_format(name, console())
        return
    records = [describe(fmt) for fmt in lutcast.formats()]
    if as_json:
        click.echo(json.dumps(records, indent=2, allow_nan=False))
    else:
        render_table(_COLUMNS, [_row(record) for record in records], console())


def describe(fmt: Format) -> dict[str, Any]:
    """Return what the list says about a format, in JSON's types."""
    part = fmt.part or fmt
    is_float = part.kind == "float"
    return {
        "name": fmt.name,
        "kind": fmt.kind,
        "bits": fmt.bits,
        "is_signed": fmt.is_signed,
        "exponent_bits": part.exponent_bits,
        "fraction_bits": part.fraction_bits,
        "max": value_of(part.max_code, part),
        # The smallest code above zero; float8_e8m0fnu has no zero.
        "min_positive": value_of(1 if part.has_zero else 0, part),
        "has_infinity": is_float and part.has_infinity,
        "has_nan": is_float and part.nan != "none",
        "aliases": dict(fmt.aliases),
    }


def _row(record: dict[str, Any]) -> list[str]:
    is_integral = record["kind"] in ("bool", "int")
    fields = [record["exponent_bits"], record["fraction_bits"]]
    aliases = dict.fromkeys(name for name in record["aliases"].values() if name != record["name"])
    return [
        record["name"],
        str(record["bits"]),
        *("-" if is_integral else str(field) for field in fields),
        *(_number(record[key]) for key in ("max", "min_positive")),
        *("yes" if record[key] else "no" for key in ("has_infinity", "has_nan")),
        " ".join(aliases),
    ]


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"
