"""A C++17 program that embeds Python casts from eight threads."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from compiling import SOURCES, WARNINGS, build


def linker_flags():
    """Return what links a program with this Python; skip where it has no library."""
    folder, name = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDLIBRARY")
    if not folder or not (Path(folder) / name).exists():
        pytest.skip("this Python has no library to link with")
    version = sysconfig.get_config_var("LDVERSION")
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", f"-lpython{version}", "-lpthread", "-ldl", "-lm"]


def test_eight_threads(tmp_path):
    program = build(
        "c++", ["-std=c++17", "-O1", *WARNINGS], SOURCES / "server.cpp", tmp_path / "server", linker_flags()
    )
    result = subprocess.run([program, sys.executable, "30"], capture_output=True, text=True, timeout=120)
    assert result.stdout == "488 casts, 0 failures\n", result.stderr
    assert result.returncode == 0
