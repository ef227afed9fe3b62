"""The drivers of the C interface, for a few seconds each; tools/sanitize.py runs them for longer."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lutcast._kernels import supported

TOOLS = Path(__file__).parents[2] / "tools"


def drive(tool, *arguments, **environment):
    """Run a driver in a process of its own, where no table is loaded yet."""
    command = [sys.executable, TOOLS / tool, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ | environment)


@pytest.mark.parametrize("variant", supported())
def test_random_calls(variant):
    done = drive("fuzz_capi.py", "--seconds", "3", LUTCAST_CPU=variant)
    assert done.returncode == 0, done.stdout + done.stderr
    calls, loops, made = re.match(r"(\d+) calls with (\w+) loops, 0 failures: (.*)", done.stdout).groups()
    assert int(calls) > 100
    assert loops == variant
    functions = set(re.findall(r"\d+ (\w+)", made))
    assert functions == {
        "plan_create", "plan_run", "plan_run_strided", "plan_run_packed", "tile", "format_bits", "format_itemsize"
    }  # fmt: skip


def test_eight_threads_that_load_tables_at_once():
    done = drive("race_capi.py", "--seconds", "3", "--threads", "8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(r"[1-9]\d{2,} casts in 8 threads with \w+ loops, 0 failures\n", done.stdout)


WRONG = """
import sys, runpy, lutcast
right = lutcast.cast

def wrong(x, *arguments, **options):
    result = right(x, *arguments, **options)
    result.reshape(-1).view("u1")[-1:] ^= 1
    return result

lutcast.cast = wrong
sys.argv = ["driver", "--seconds", "20"]
sys.path.insert(0, {folder!r})
runpy.run_path({path!r}, run_name="__main__")
"""


@pytest.mark.parametrize("tool", ["fuzz_capi.py", "race_capi.py"])
def test_a_wrong_bit_is_found(tool):
    code = WRONG.format(folder=str(TOOLS), path=str(TOOLS / tool))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stderr
    assert re.search(r"[1-9]\d* failures", done.stdout)
