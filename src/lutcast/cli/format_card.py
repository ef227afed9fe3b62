"""One format, drawn: fields, special codes, and every value of a narrow one."""

from __future__ import annotations

from rich.console import Console

from lutcast.formats import Format
from lutcast.golden.fields import fields_of
from lutcast.golden.values import code_text, value_text

from .explain import render_fields
from .render import Column, render_table

PER_ROW = 16


def render_format(fmt: Format, to: Console) -> None:
    """Print what a format is."""
    part = fmt.part or fmt
    to.print(f"{fmt.name}: {fmt.bits} bits" + (f", two parts of {part.name}, the real one low" if fmt.part else ""))
    aliases = ", ".join(f"{system} {name}" for system, name in fmt.aliases.items())
    if aliases:
        to.print(f"also: {aliases}")
    to.print()
    if part.kind == "float":
        if part.is_tapered:
            to.print("fields: sign, prefix, exponent in sign and magnitude without its first bit, fraction")
        else:
            to.print(f"bias {part.bias}, smallest normal exponent {part.min_exponent}")
        to.print(f"1.0 is {'' if part.is_tapered else 'stored as '}{code_text(_one(part), part)}:")
        render_fields(fields_of(_one(part), part), to)
        to.print()
    columns: tuple[Column, ...] = (("", "left"), ("code", "left"), ("value", "left"))
    rows = [(name, code_text(code, part), value_text(code, part)) for name, code in _landmarks(part)]
    render_table(columns, rows, to)
    if part.bits <= 8 and not fmt.part:
        to.print()
        _render_values(fmt, to)


def _one(fmt: Format) -> int:
    return 0b0001000 if fmt.is_tapered else fmt.bias << fmt.fraction_bits


def _landmarks(fmt: Format) -> list[tuple[str, int]]:
    """Return the codes that one looks up, by name."""
    if fmt.kind != "float":
        return [("largest", fmt.max_integer), ("smallest", fmt.min_integer & fmt.mask)]
    marks: list[tuple[str, int | None]] = [
        ("zero", 0 if fmt.has_zero else None),
        ("negative zero", fmt.sign_bit if fmt.has_negative_zero else None),
        ("smallest positive", 1 if fmt.has_zero else 0),
        ("smallest normal", None if fmt.is_tapered or not fmt.has_zero else 1 << fmt.fraction_bits),
        ("largest finite", fmt.max_code),
        ("infinity", fmt.infinity_code),
        ("NaN", fmt.nan_code),
    ]
    return [(name, code) for name, code in marks if code is not None]


def _render_values(fmt: Format, to: Console) -> None:
    """Print every value, sixteen in a row, the row by the high digit of the code."""
    per_row = min(PER_ROW, 1 << fmt.bits)
    columns: tuple[Column, ...] = (("", "left"), *((f"{low:x}", "right") for low in range(per_row)))
    rows = [
        [f"{start >> 4:x}_", *(_short(value_text(code, fmt)) for code in range(start, start + per_row))]
        for start in range(0, 1 << fmt.bits, per_row)
    ]
    render_table(columns, rows, to)


def _short(text: str) -> str:
    """Return a value in few characters; every digit where they are few."""
    plain = text.removesuffix(".0")
    return plain if len(plain) <= 9 else f"{float(plain):.5g}"
