"""``lutcast golden``: export, suite, check; verify has a file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.progress import MofNCompleteColumn, TextColumn

from lutcast import golden as library
from lutcast.golden.files import KINDS, Options, kind_of, write, write_ascendc
from lutcast.golden.presets import PRESETS, from_toml

from .golden_verify import verify_dump
from .options import FORMAT, layout_options, policy_options
from .progress import progress_bar

_EXTENSIONS = ", ".join(kind.extension for kind in KINDS.values())
PATH = click.Path(path_type=Path)


@click.group()
def golden() -> None:
    """Goldens: write, check and verify exact results of casts."""


_EXPORT_EPILOG = """
\b
Examples:
  lutcast golden export float32 float8_e4m3fn -o golden.csv
  lutcast golden export float32 bfloat16 --level 2 -o golden.tf
  lutcast golden export bfloat16 hifloat8 --rounding ties_to_away -o rom.hex --words-per-line 4
  lutcast golden export float16 int4 --layout ascendc -o kernel_test
"""


@golden.command(epilog=_EXPORT_EPILOG)
@click.argument("source", metavar="SRC", type=FORMAT)
@click.argument("destination", metavar="DST", type=FORMAT)
@policy_options
@click.option("--level", type=click.IntRange(1, 2), default=1, show_default=True, help="2 adds random inputs of SRC.")
@layout_options
@click.option("--layout", type=click.Choice(["ascendc"]), help="Write a folder as kernel test projects expect it.")
@click.option("--addresses", is_flag=True, help="Begin each line of .hex with its @ address.")
@click.option("--name", default="golden", show_default=True, help="Name in .h and .sv files.")
@click.option("--dry-run", is_flag=True, help="Say how many vectors there are; write nothing.")
@click.option("-o", "--output", metavar="FILE", type=PATH, required=True, help=f"File to write: {_EXTENSIONS}.")
def export(
    source: Any,
    destination: Any,
    level: int,
    kind: str | None,
    layout: str | None,
    dry_run: bool,
    output: Path,
    rounding: Any,
    overflow: Any,
    nan: str,
    **options: Any,
) -> None:
    """Write the vectors of a cast.

    Every code of format SRC if it has 16 bits or fewer; else directed inputs around every value and
    midpoint of DST. .csv, .json, .tf (TestFloat), .h and .sv hold inputs, results and flags, the
    others the results in the order of the inputs.
    """
    policy = {"rounding": rounding, "overflow": overflow, "nan": nan}
    chosen = Options(**options)
    if layout is None:
        kind_of(output, kind)
    if dry_run:
        click.echo(f"{library.count(source, destination, level)} vectors")
        return
    made = library.vectors(source, destination, level=level, **policy)
    if layout == "ascendc":
        write_ascendc(output, made)
    else:
        write(output, made, format=kind, options=chosen)
    click.echo(f"{len(made)} vectors", err=True)


_SUITE_EPILOG = f"""
\b
Presets: {", ".join(PRESETS)}

\b
A TOML file of your own:
  name = "my-kernels"
  [[golden]]
  src = "float32"
  dst = "float8_e4m3fn"
  rounding = "ties_to_even"
  format = "hex"

\b
Examples:
  lutcast golden suite ocp -o goldens
  lutcast golden suite ascend-950 -o goldens --dry-run
  lutcast golden suite my-kernels.toml -o goldens
"""


@golden.command(epilog=_SUITE_EPILOG)
@click.argument("preset", metavar="PRESET|FILE.toml")
@click.option("-o", "--output", metavar="DIR", type=PATH, required=True, help="Folder to make; it must be empty.")
@click.option("--dry-run", is_flag=True, help="List the files; write nothing.")
def suite(preset: str, output: Path, dry_run: bool) -> None:
    """Write many goldens and a manifest.

    The manifest says what each file means, with its SHA-256. The same suite is the same bytes on every machine.
    """
    if preset in PRESETS:
        name, goldens = preset, PRESETS[preset]()
    elif preset.endswith(".toml"):
        name, goldens = from_toml(Path(preset))
    else:
        raise click.BadParameter(
            f"{preset!r} is neither a .toml file nor one of {', '.join(PRESETS)}", param_hint="PRESET"
        )
    if dry_run:
        for item in goldens:
            click.echo(f"{item.count():>9}  {item.path}")
        click.echo(f"{sum(item.count() for item in goldens):>9}  vectors in {len(goldens)} files")
        return
    with progress_bar(MofNCompleteColumn(), TextColumn("vectors")) as progress:
        manifest = library.write_suite(goldens, output, name=name, progress=progress)
    click.echo(f"{len(manifest['files'])} files, {sum(f['vectors'] for f in manifest['files'])} vectors")


@golden.command()
@click.argument("folder", metavar="DIR", type=PATH)
def check(folder: Path) -> int:
    """Check a suite: every hash, and every vector computed anew.

    Exit code 1 if a file is missing, changed, or not what this version computes.
    """
    with progress_bar(MofNCompleteColumn(), TextColumn("vectors")) as progress:
        report = library.check(folder, progress=progress)
    for problem in report.problems:
        click.echo(problem)
    click.echo(f"{report.files} files, {len(report.problems)} problems")
    return 1 if report.problems else 0


golden.add_command(verify_dump)
