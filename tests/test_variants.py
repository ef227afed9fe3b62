"""Every compiled variant gives the same bits, from import to result."""

import os
import subprocess
import sys

import pytest

from lutcast import _kernels

HASH = """
import hashlib
import numpy as np
import lutcast
from lutcast.names import array_dtype

digest = hashlib.sha256()
rng = np.random.default_rng(0)
for src in lutcast.formats():
    raw = rng.integers(0, 256, 3001 * src.itemsize, np.uint8)
    x = raw.view(array_dtype(src))
    for dst in lutcast.formats():
        digest.update(lutcast.cast(x, dst, src=src))
        for rounding in ("floor", "ceil", "rint", "round", "odd") if src.bits > 16 and dst.bits > 8 else ():
            digest.update(lutcast.cast(x[::-1], dst, src=src, rounding=rounding, nan="zero"))
        if dst.bits < 8 and dst.kind != "bool":
            digest.update(lutcast.cast(x, dst, src=src, packed=True))
        if src.bits < 8 and src.kind != "bool":
            digest.update(lutcast.cast(raw, dst, src=src, shape=len(raw) * 8 // src.bits))
print(lutcast.show_config("dicts")["kernels"]["in use"], digest.hexdigest())
"""


def run(code, variant):
    environment = os.environ | {"LUTCAST_CPU": variant}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=environment)


def test_same_bits_in_every_variant():
    outputs = {variant: run(HASH, variant) for variant in _kernels.supported()}
    for variant, done in outputs.items():
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[0] == variant
    assert len({done.stdout.split()[1] for done in outputs.values()}) == 1


@pytest.mark.parametrize("variant", ["v9", "V4", "avx2"])
def test_an_unknown_variant_is_refused(variant):
    done = run("import lutcast", variant)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: LUTCAST_CPU: '{variant}' is not one of baseline"), last


def test_an_empty_choice_is_the_best_variant():
    assert run("from lutcast._kernels import VARIANT; print(VARIANT)", "").stdout.strip() == _kernels.supported()[-1]
