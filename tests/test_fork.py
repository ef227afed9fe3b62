"""Processes: a forked child casts like its parent; importing is quiet and cheap."""

import subprocess
import sys

import pytest

FORK = """
import os, sys
import numpy as np
import lutcast

x = np.random.default_rng(0).standard_normal(3_000_000).astype(np.float32)
warm = {warm}
if warm:
    lutcast.cast(x, "float8_e4m3fn", threads=3)
child = os.fork()
if child == 0:
    parts = [lutcast.cast(x, dst, threads=t).tobytes() for dst in ("float8_e4m3fn", "float16") for t in (1, 3)]
    os._exit(0 if parts[0] == parts[1] and parts[2] == parts[3] and lutcast.cast([1.5], "int8").tolist() == [1] else 3)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert lutcast.cast(x, "float8_e4m3fn", threads=3).tobytes() == lutcast.cast(x, "float8_e4m3fn").tobytes()
sys.exit(status)
"""

POOL = """
import multiprocessing, numpy as np, lutcast

def work(seed):
    x = np.random.default_rng(seed).standard_normal(1_000_000).astype(np.float32)
    return lutcast.cast(x, "bfloat16", threads=2).tobytes() == lutcast.cast(x, "bfloat16").tobytes()

if __name__ == "__main__":
    work(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert all(pool.map(work, range(4)))
"""


def run(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("warm", [False, True], ids=["fresh", "after casts in threads"])
def test_a_forked_child_casts(warm):
    done = run(FORK.format(warm=warm))
    assert done.returncode == 0, done.stderr


def test_a_pool_of_forked_workers():
    done = run(POOL)
    assert done.returncode == 0, done.stderr


def test_import_is_quiet_and_starts_no_thread():
    done = run("import threading, lutcast; lutcast.cast([1.0], 'int8'); assert threading.active_count() == 1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("module", ["torch", "tensorflow", "onnx", "en_dtypes", "click", "rich", "safetensors"])
def test_import_does_not_pull_in(module):
    code = f"import sys, lutcast; lutcast.cast([1.0], 'torch.float8_e4m3fn'); sys.exit('{module}' in sys.modules)"
    assert run(code).returncode == 0


def test_a_cast_while_the_interpreter_ends():
    code = "import atexit, numpy as np, lutcast; atexit.register(lambda: print(lutcast.cast([1.5], 'int8')[0]))"
    assert run(code).stdout == "1\n"
