"""``lutcast convert``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.progress import DownloadColumn

from lutcast import weights
from lutcast.weights.atomic import check_destination
from lutcast.weights.conditions import Condition, failures, parse_condition
from lutcast.weights.report_files import REPORTS, write_report

from .executors import dask_executor
from .options import FORMAT, SIZE, Parsed, policy_options, scaling_options, selection_options
from .progress import progress_bar
from .recipe import recipe_option
from .render import console, printable, render_report
from .termination import terminable

_EPILOG = """
\b
Examples:
  lutcast convert model.safetensors small.safetensors --to float8_e4m3fn
  lutcast convert model.safetensors small.safetensors --to bfloat16 --exclude '*norm*'
  lutcast convert model.safetensors x.safetensors --to F8_E5M2 --dry-run --json
  lutcast convert model/ model-bf16/ --to bfloat16 --keep norms --max-shard-size 5GB
  lutcast convert model/ model-fp8/ --to float8_e4m3fn --scale channel
  lutcast convert deepseek/ deepseek-bf16/ --to bfloat16 --unscale
  lutcast convert model.onnx small.onnx --to float16
  lutcast convert weights.npz codes.npz --to hifloat8 --rounding ties_to_away
"""

_SUFFIX = ".safetensors"
_OF_CHECKPOINTS = ("keep", "scale", "layout", "scale_max", "unscale", "resume", "max_shard_size", "audit", "dask")


def _check_report(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a report that could not be written before hours of work."""
    if path is not None and path.suffix.lower() not in REPORTS:
        raise click.BadParameter(f"{path} does not end in {' or '.join(REPORTS)}", context, parameter)
    if path is not None:
        check_destination(path)
    return path


@click.command(epilog=_EPILOG)
@click.argument("source", metavar="SRC", type=click.Path(path_type=Path))
@click.argument("destination", metavar="DST", type=click.Path(path_type=Path))
@click.option("--to", metavar="FORMAT", type=FORMAT, required=True, help="Format of the result; see 'lutcast formats'.")
@policy_options
@selection_options
@scaling_options
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads of each cast.")
@click.option("--overwrite", is_flag=True, help="Replace DST if it is there.")
@click.option("--resume", is_flag=True, help="Go on where a conversion with the same options was stopped.")
@click.option("--max-shard-size", metavar="SIZE", type=SIZE, help="Divide the checkpoint anew, as in 5GB.")
@click.option("--audit/--no-audit", default=True, show_default=True, help="Measure what each cast loses.")
@click.option("--dask", metavar="ADDRESS", help="Convert shards on the cluster of this Dask scheduler.")
@click.option("--dry-run", is_flag=True, help="Report what would be lost, sizes and free disk; write nothing.")
@click.option(
    "--report",
    "report_path",
    metavar="FILE.json|.html",
    type=click.Path(path_type=Path),
    callback=_check_report,
    help="Write the report, with every measure; as HTML with charts.",
)
@click.option(
    "--fail-on",
    metavar="CONDITION",
    type=Parsed("condition", parse_condition),
    multiple=True,
    help="Exit with code 1 if this holds for a tensor, as in 'saturated>0' or 'snr_db<20'. Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON document.")
@recipe_option
@click.pass_context
def convert(
    context: click.Context,
    /,
    source: Path,
    destination: Path,
    to: Any,
    as_json: bool,
    report_path: Path | None,
    fail_on: tuple[Condition, ...],
    **options: Any,
) -> int:
    """Convert the floats of a weight file, or of a folder of them.

    The floating-point tensors of SRC are cast to FORMAT and written to DST. Other tensors, the
    metadata and the order are kept, and so are scales and zero points. DST appears whole or not at
    all; what is already there is replaced with --overwrite only.

    A checkpoint, SRC, is a .safetensors file or a folder with one, or with several and an index; DST
    is then a .safetensors file or a folder, where the other files of SRC go, too. Its shards are
    finished one by one: --resume goes on after a crash.

    Files also end in .npy, .npz or .onnx. A model, .onnx, is made from a model only: its nodes read
    the cast tensors through Cast nodes, and compute in the types they had. Data of external tensors
    goes to DST.data.

    .npy and .npz files hold formats that NumPy does not know as unsigned integers: the codes.
    In JSON, the strings "inf", "-inf" and "nan" stand for what JSON has no numbers for.
    """
    with terminable(), progress_bar(DownloadColumn(), shown=not as_json) as progress:
        if _is_checkpoint(source, destination, options):
            with dask_executor(options.pop("dask")) as executor:
                report = weights.convert_checkpoint(
                    source, destination, to, executor=executor, progress=progress, **options
                )
        else:
            for name in _OF_CHECKPOINTS:
                if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
                    option = "--" + name.replace("_", "-")
                    raise click.UsageError(f"{option} is for checkpoints: folders and .safetensors files", context)
                del options[name]
            report = weights.convert(source, destination, to, progress=progress, **options)
    if report_path:
        write_report(report_path, report)
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2, allow_nan=False))
    else:
        render_report(report, console())
    return _failed(report, fail_on)


def _failed(report: weights.Report, conditions: tuple[Condition, ...]) -> int:
    """Name what the conditions are met by, on stderr; return the exit code."""
    code = 0
    for condition in conditions:
        names = [printable(name) for name in failures(report, condition)]
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            click.echo(f"failed on {condition}: {', '.join(names[:3])}{more}", err=True)
            code = 1
    return code


def _is_checkpoint(source: Path, destination: Path, options: Mapping[str, Any]) -> bool:
    if source.is_dir():
        return True
    to_folder = destination.is_dir() or not destination.suffix or options["max_shard_size"] is not None
    return source.suffix.lower() == _SUFFIX and (to_folder or destination.suffix.lower() == _SUFFIX)
