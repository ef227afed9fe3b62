"""``lutcast convert``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from lutcast import weights

from .options import FORMAT, policy_options
from .render import console, printable, render_report

_EPILOG = """
\b
Examples:
  lutcast convert model.safetensors small.safetensors --to float8_e4m3fn
  lutcast convert model.safetensors small.safetensors --to bfloat16 --exclude '*norm*'
  lutcast convert model.safetensors x.safetensors --to F8_E5M2 --dry-run --json
  lutcast convert model.onnx small.onnx --to float16
  lutcast convert weights.npz codes.npz --to hifloat8 --rounding ties_to_away
"""


@click.command(epilog=_EPILOG)
@click.argument("source", metavar="SRC", type=click.Path(path_type=Path))
@click.argument("destination", metavar="DST", type=click.Path(path_type=Path))
@click.option("--to", metavar="FORMAT", type=FORMAT, required=True, help="Format of the result; see 'lutcast formats'.")
@policy_options
@click.option("--include", metavar="GLOB", multiple=True, help="Convert only tensors whose name matches. Repeatable.")
@click.option("--exclude", metavar="GLOB", multiple=True, help="Copy tensors whose name matches. Repeatable.")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads of each cast.")
@click.option("--dry-run", is_flag=True, help="Report what would be lost; write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON document.")
def convert(source: Path, destination: Path, to: Any, as_json: bool, **options: Any) -> None:
    """Convert the floats of a weight file.

    The floating-point tensors of SRC are cast to FORMAT and written to DST. Both files end in
    .safetensors, .npy, .npz or .onnx. Other tensors, the metadata and the order are kept. DST
    appears whole or not at all; a file that is already there is replaced.

    A model, .onnx, is made from a model only: its nodes read the cast tensors through Cast nodes,
    and compute in the types they had. Data of external tensors goes to DST.data.

    .npy and .npz files hold formats that NumPy does not know as unsigned integers: the codes.
    In JSON, the strings "inf", "-inf" and "nan" stand for what JSON has no numbers for.
    """
    with _progress_bar(shown=not as_json and sys.stderr.isatty()) as progress:
        report = weights.convert(source, destination, to, progress=progress, **options)
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2, allow_nan=False))
    else:
        render_report(report, console())


@contextmanager
def _progress_bar(shown: bool) -> Iterator[weights.Progress | None]:
    if not shown:
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def update(name: str, done: int, total: int) -> None:
            bar.update(task, description=printable(name), completed=done, total=total)

        yield update
