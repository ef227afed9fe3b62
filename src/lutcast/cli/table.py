"""``lutcast table``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import lutcast
from lutcast.weights.atomic import replacing

from .options import FORMAT, policy_options
from .table_files import WRITERS

_EPILOG = """
\b
.npy  an array; unsigned codes where NumPy does not know DST
.bin  the codes, little-endian, sub-byte codes one to a byte
.csv  both codes in hexadecimal, both values in decimal
.hex  one code in hexadecimal on each line, as $readmemh reads it

\b
Examples:
  lutcast table float16 float8_e4m3fn -o golden.csv
  lutcast table bfloat16 hifloat8 --rounding ties_to_away -o rom.hex
  lutcast table float8_e5m2 float32 -o decode.npy
"""


@click.command(epilog=_EPILOG)
@click.argument("source", metavar="SRC", type=FORMAT)
@click.argument("destination", metavar="DST", type=FORMAT)
@policy_options
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    required=True,
    help=f"File to write, ending in {', '.join(WRITERS)}.",
)
def table(source: Any, destination: Any, output: Path, **policy: Any) -> None:
    """Write a cast as a table.

    The cast of every code of format SRC, of 16 bits or fewer, to format DST.
    """
    writer = WRITERS.get(output.suffix.lower())
    if writer is None:
        raise click.BadParameter(f"{output} does not end in {', '.join(WRITERS)}", param_hint="'-o'")
    values = lutcast.table(source, destination, **policy)
    with replacing(output) as stream:
        writer(stream, values, source, destination)
