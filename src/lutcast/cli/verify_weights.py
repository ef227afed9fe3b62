"""``lutcast verify-weights``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lutcast import weights

from .options import FORMAT, policy_options, selection_options
from .render import printable

_EPILOG = """
\b
Examples:
  lutcast verify-weights model.safetensors small.safetensors
  lutcast verify-weights model/ model-fp8/ --threads 2
"""


@click.command(epilog=_EPILOG)
@click.argument("source", metavar="SRC", type=click.Path(path_type=Path))
@click.argument("destination", metavar="DST", type=click.Path(path_type=Path))
@click.option("--to", metavar="FORMAT", type=FORMAT, help="Format of DST; by default what DST records.")
@policy_options
@selection_options
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads of each cast.")
@click.pass_context
def verify_weights(
    context: click.Context, /, source: Path, destination: Path, to: Any, threads: int, **options: Any
) -> int:
    """Check a converted checkpoint, bit by bit.

    Every tensor of SRC is converted again, as DST records or as --to and its companions say, and
    compared with DST. The first difference is printed, and the exit code is 1.
    """
    if to is None:
        given = [
            name for name in options if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
        ]
        if given:
            raise click.UsageError(f"--{given[0]} needs --to: options are either all recorded or all given", context)
        options = {}
    result = weights.verify_checkpoint(source, destination, to, threads=threads, **options)
    if result.difference:
        click.echo(f"different: {printable(str(result.difference))}")
        return 1
    click.echo(f"{result.tensors} tensors verified")
    return 0
