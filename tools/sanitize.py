#!/usr/bin/env python3
"""Build lutcast with a sanitizer of gcc, from nothing, and run the drivers of the C interface under it.

    sanitize.py address                    AddressSanitizer and UBSan: fuzz_capi.py, 60 s for each variant
    sanitize.py thread --seconds 300       ThreadSanitizer: race_capi.py
    sanitize.py address --work DIR         keep the environment there, and use it again

Each mode has its own virtual environment. A variant of the loops that this processor cannot run is
left out. The exit code is 1 when a sanitizer or a driver found anything.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ("meson-python", "meson", "ninja", "cython", "numpy", "ml_dtypes")


class Mode(NamedTuple):
    """What a sanitizer needs: at build time, at run time, and something to run."""

    sanitize: str
    library: str
    driver: str
    environment: dict[str, str]


MODES = {
    "address": Mode(
        "address,undefined",
        "libasan.so",
        "fuzz_capi.py",
        {
            # Python keeps what it allocated to its end.
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
            "PYTHONMALLOC": "malloc",  # or a small object would be a piece of one that the sanitizer sees whole
        },
    ),
    "thread": Mode(
        "thread",
        "libtsan.so",
        "race_capi.py",
        {"TSAN_OPTIONS": "exitcode=66"},
    ),
}


def build(mode: Mode, folder: Path) -> Path:
    """Install the instrumented package into a virtual environment; return its Python."""
    if not folder.exists():
        venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    environment = os.environ | {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    options = [f"-Db_sanitize={mode.sanitize}", "-Db_lundef=false", "-Dbuildtype=debugoptimized"]
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *REQUIREMENTS], check=True, env=environment)
    arguments = ["--no-build-isolation", "--no-deps", "--force-reinstall", f"-Cbuilddir={folder / 'build'}"]
    setup = [f"-Csetup-args={option}" for option in options]
    subprocess.run([*pip, *arguments, *setup, ROOT], check=True, env=environment)
    return python


def preload(library: str) -> dict[str, str]:
    """Return the environment that loads a sanitizer ahead of an interpreter that was built without it."""
    path = subprocess.run(["gcc", f"-print-file-name={library}"], check=True, capture_output=True, text=True)
    return {"LD_PRELOAD": path.stdout.strip()}


def variants(python: Path, environment: dict[str, str]) -> list[str]:
    """Return the variants of the loops that this processor runs."""
    code = "from lutcast._kernels import supported; print(*supported())"
    done = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True, env=environment, cwd="/")
    return done.stdout.split()


def main(argv: Sequence[str] | None = None) -> int:
    """Build and run; return the exit code."""
    options = parser().parse_args(argv)
    mode = MODES[options.mode]
    with tempfile.TemporaryDirectory() as scratch:
        python = build(mode, (options.work or Path(scratch)) / options.mode)
        environment = os.environ | mode.environment | preload(mode.library)
        codes = []
        for variant in options.variants or variants(python, environment):
            print(f"== {options.mode}, {variant}", flush=True)
            command = [python, ROOT / "tools" / mode.driver, "--seconds", str(options.seconds), *options.arguments]
            codes.append(subprocess.run(command, env=environment | {"LUTCAST_CPU": variant}, cwd="/").returncode)
    return int(any(codes))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("mode", choices=MODES)
    result.add_argument("--seconds", type=float, default=60, help="for each variant")
    result.add_argument("--work", type=Path, help="folder for the environments, kept")
    result.add_argument("--variants", nargs="+", help="those to run; default: all that the processor can")
    result.add_argument("arguments", nargs="*", help="behind --: further arguments of the driver")
    return result


if __name__ == "__main__":
    sys.exit(main())
