"""``lutcast golden verify``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from lutcast.golden import Vectors, Verdict, vectors, verify
from lutcast.golden.dumps import Meaning, read_dump, read_golden
from lutcast.golden.files import Options, read_codes

from .options import FORMAT, layout_options, rounding_options
from .render import Column, console, render_table

PATH = click.Path(path_type=Path)
BAR = 40
_MISMATCHES: tuple[Column, ...] = (
    ("vector", "right"),
    ("input", "left"),
    ("", "left"),
    ("expected", "left"),
    ("", "left"),
    ("got", "left"),
    ("", "left"),
    ("steps", "right"),
    ("kind", "left"),
)
_EPILOG = """
\b
Examples:
  lutcast golden verify dump.bin --src float32 --dst float8_e4m3fn
  lutcast golden verify dump.hex --golden golden.csv --src float32 --dst bfloat16 --nan any
  lutcast golden verify output.bin --inputs input_x.bin --src float16 --dst int4 --packed
  lutcast golden verify dump.bin --golden goldens/float32/bfloat16/ties_to_even-ieee.bin --json
"""


@click.command("verify", epilog=_EPILOG)
@click.argument("dump", metavar="DUMP", type=PATH)
@click.option("--golden", "golden_path", metavar="FILE", type=PATH, help="Compare with this file; by default computed.")
@click.option("--inputs", "inputs_path", metavar="FILE", type=PATH, help="What the device was given: codes of SRC.")
@click.option("--src", metavar="SRC", type=FORMAT, help="Format of the inputs.")
@click.option("--dst", metavar="DST", type=FORMAT, help="Format of the results.")
@rounding_options
@click.option(
    "--nan",
    type=click.Choice(["keep", "zero", "any"]),
    help="What NaN becomes, by default keep; any takes all NaNs for equal.",
)
@click.option("--level", type=click.IntRange(1, 2), default=1, show_default=True, help="Level of the vectors.")
@layout_options
@click.option("--first", type=click.IntRange(min=0), default=10, show_default=True, help="Mismatches to show.")
@click.option("--plot", "plot_path", metavar="FILE.png", type=PATH, help="Draw the error over the input.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def verify_dump(
    dump: Path,
    golden_path: Path | None,
    inputs_path: Path | None,
    src: Any,
    dst: Any,
    rounding: Any,
    overflow: Any,
    nan: str | None,
    level: int,
    kind: str | None,
    first: int,
    plot_path: Path | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Compare what a device gave with a golden.

    Shows the first mismatches decoded, how far off they are, and which faults explain them.
    Exit code 1 if anything differs.
    """
    given = {"src": src and src.name, "dst": dst and dst.name, "rounding": rounding, "overflow": overflow, "nan": nan}
    meaning: Any = {key: str(value) for key, value in given.items() if value not in (None, "any")}
    layout = Options(**options)
    expected = _golden(golden_path, inputs_path, meaning, level, layout)
    got, expected = read_dump(dump, expected, format=kind, options=layout)
    verdict = verify(got, expected, any_nan=nan == "any", first=first)
    if plot_path:
        from lutcast.golden.plot import plot_errors

        try:
            plot_errors(plot_path, got, expected)
        except ImportError as error:
            raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(verdict.as_dict(), indent=2, allow_nan=False))
    else:
        render_verdict(verdict)
    return 0 if verdict.is_equal else 1


def _golden(path: Path | None, inputs: Path | None, meaning: Meaning, level: int, layout: Options) -> Vectors:
    if path and inputs:
        raise click.UsageError("--golden and --inputs exclude each other")
    if path:
        return read_golden(path, meaning, options=layout)
    if not {"src", "dst"} <= meaning.keys():
        raise click.UsageError("--src and --dst are needed, or a --golden that says them")
    if inputs:
        return vectors(**meaning, inputs=read_codes(inputs, meaning["src"], options=layout))
    return vectors(**meaning, level=level)


def render_verdict(verdict: Verdict) -> None:
    """Print a verdict."""
    to = console()
    to.print(f"{verdict.source} to {verdict.destination}, {verdict.policy}: {verdict.vectors} vectors")
    if verdict.is_equal:
        to.print("all equal")
        return
    kinds = ", ".join(f"{kind} {count}" for kind, count in verdict.kinds.items())
    to.print(f"{verdict.mismatches} mismatches ({verdict.mismatches / verdict.vectors:.2%}): {kinds}")
    to.print()
    most = max(verdict.histogram.values())
    rows = [(name, count, "#" * max(BAR * count // most, 1)) for name, count in verdict.histogram.items()]
    render_table((("steps", "right"), ("mismatches", "right"), ("", "left")), rows, to)
    to.print()
    if verdict.causes:
        causes = [
            (f"{c.explained / verdict.mismatches:.1%}", c.explained, c.contradicted, c.fault) for c in verdict.causes
        ]
        columns: tuple[Column, ...] = (
            ("explains", "right"),
            ("mismatches", "right"),
            ("contradicts", "right"),
            ("likely cause", "left"),
        )
        render_table(columns, causes, to)
    if verdict.unexplained:
        to.print(f"{verdict.unexplained} mismatches that no known fault explains")
    to.print()
    shown = [
        (m.index, m.input, m.input_value, m.expected, m.expected_value, m.got, m.got_value, f"{m.steps:+.0f}", m.kind)
        for m in verdict.first
    ]
    if shown:
        render_table(_MISMATCHES, shown, to)
    if len(shown) < verdict.mismatches:
        to.print(f"and {verdict.mismatches - len(shown)} more")
