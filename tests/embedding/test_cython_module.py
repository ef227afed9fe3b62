"""A Cython module cimports lutcast."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from compiling import SOURCES, build_module

import lutcast


def test_cimport(tmp_path, rng):
    pytest.importorskip("Cython")
    source = tmp_path / "user.c"
    include = Path(lutcast.get_include()).parents[1]  # where the package lutcast lies
    command = [sys.executable, "-m", "cython", "-3", "-I", include, SOURCES / "user.pyx", "-o", source]
    subprocess.run(command, check=True)
    user = build_module("cc", [], source, tmp_path / "user.so")
    x = rng.integers(0, 2**32, 5000, np.uint32).view(np.float32)
    out = np.empty(5000, np.uint16)
    user.to_bfloat16(x, out)
    assert out.tobytes() == lutcast.cast(x, "bfloat16", rounding="to_odd").tobytes()
