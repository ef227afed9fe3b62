"""The kernels' headers compile without a warning under each compiler and for each instruction set."""

import platform
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[1] / "src" / "lutcast" / "_kernels"
HEADERS = sorted(path.name for path in KERNELS.glob("*.h"))
LEVELS = {"baseline": []}
if platform.machine() == "x86_64":
    LEVELS |= {"v3": ["-march=x86-64-v3"], "v4": ["-march=x86-64-v4", "-mavx512vbmi"]}
COMPILERS = [(compiler, level) for compiler in ("gcc", "clang") for level in LEVELS]
COMPILERS += [("aarch64-linux-gnu-gcc", "baseline")]


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
def test_all_headers(compiler, level, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    assert "convert.h" in HEADERS
    source = tmp_path / "headers.c"
    source.write_text("".join(f'#include "{name}"\n' for name in ["Python.h", *HEADERS]))
    command = [compiler, "-std=c11", "-fsyntax-only", *LEVELS[level], "-Wall", "-Wno-unused-function", "-Werror"]
    folders = [f"-I{sysconfig.get_path('include')}", f"-I{KERNELS}"]
    done = subprocess.run([*command, *folders, str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
