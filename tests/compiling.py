"""Builds users of the C interface with the compiler alone."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

import lutcast

SOURCES = Path(__file__).parent / "embedding"
WARNINGS = ["-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Wno-cast-function-type", "-Werror"]


def build(compiler: str, flags: list[str], source: Path, output: Path, libraries: list[str] = ()) -> Path:
    """Compile one source against lutcast.h and Python; skip where there is no such compiler."""
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    include = [f"-I{lutcast.get_include()}", f"-I{sysconfig.get_path('include')}"]
    subprocess.run([compiler, *flags, *include, str(source), "-o", str(output), *libraries], check=True)
    return output


def build_module(compiler: str, flags: list[str], source: Path, output: Path) -> ModuleType:
    """Compile an extension module and import it."""
    path = build(compiler, ["-shared", "-fPIC", "-O1", *flags], source, output)
    spec = importlib.util.spec_from_file_location(output.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
