"""Every variant of the loops gives the same bits, for all codes of the narrow formats."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import digests
import pytest

import lutcast

KERNELS = lutcast.show_config("dicts")["kernels"]


@pytest.fixture(scope="module")
def here():
    """Return the digests of the variant in use, which all other tests measure against the definition."""
    return digests.digests()


@pytest.mark.parametrize("variant", KERNELS["variants"])
def test_same_bits(variant, here):
    command = [sys.executable, str(Path(digests.__file__))]
    environment = {**os.environ, "LUTCAST_CPU": variant}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    other = json.loads(result.stdout)
    assert other["variant"] == variant
    assert len(here) == 30 * 33
    assert [pair for pair in here if other["digests"][pair] != here[pair]] == []
