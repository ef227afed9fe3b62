"""Another library may have asked for a signal at every floating-point exception: casts raise none."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from lutcast._kernels import supported

PROGRAM = """
import ctypes
import numpy as np
import lutcast
from lutcast.names import array_dtype

libm = ctypes.CDLL("libm.so.6")
rng = np.random.default_rng(0)
casts = 0
for src in lutcast.formats():
    x = rng.integers(0, 256, 512 * src.itemsize, dtype=np.uint8).view(array_dtype(src))
    for dst in lutcast.formats():
        out = np.empty(512, array_dtype(dst))
        for rounding in ("ties_to_even", "ties_to_away"):
            cast = lutcast.caster(src, dst, rounding=rounding)
            libm.feenableexcept(0x3D)
            cast(x, out)
            libm.fedisableexcept(0x3D)
            casts += 1
print(casts)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="feenableexcept is glibc's")
@pytest.mark.parametrize("variant", supported())
def test_no_cast_raises_a_signal(variant):
    environment = os.environ | {"LUTCAST_CPU": variant}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert int(done.stdout) == 33 * 33 * 2
