"""The command group, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

import lutcast

from .convert import convert
from .explain import explain
from .formats import formats
from .golden import golden
from .table import table
from .verify_weights import verify_weights

FAILED = 1


_EPILOG = """
\b
Examples:
  lutcast convert model.safetensors small.safetensors --to float8_e4m3fn
  lutcast table float16 float8_e5m2 -o golden.csv
  lutcast golden suite ocp -o goldens
  lutcast explain 1.0625 float32 float8_e4m3fn
  lutcast formats
"""


@click.group(
    epilog=_EPILOG,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(lutcast.__version__, prog_name="lutcast")
def app() -> None:
    """Exact number-format casts: convert weight files, write and check goldens, explain formats."""


app.add_command(convert)
app.add_command(verify_weights)
app.add_command(table)
app.add_command(golden)
app.add_command(explain)
app.add_command(formats)


def run(arguments: Sequence[str] | None) -> int:
    """Run the command group; every foreseen error becomes one line on stderr."""
    try:
        code = app.main(arguments, prog_name="lutcast", standalone_mode=False)
    except click.UsageError as error:
        hint = f" (see '{error.ctx.command_path} --help')" if error.ctx else ""
        return _fail(error.format_message() + hint, error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted")
    except BrokenPipeError:
        # The reader of our output left; leave the interpreter nothing to complain of when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        return _fail(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    except MemoryError:
        return _fail("out of memory")
    except (click.ClickException, ValueError, lutcast.UnsupportedCast) as error:
        return _fail(str(error))
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int = FAILED) -> int:
    click.echo("Error: " + " ".join(message.split()), err=True)
    return code
