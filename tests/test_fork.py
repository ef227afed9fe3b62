"""Processes: a forked child casts like its parent; importing is quiet and cheap."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"

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

BUSY = """
import os, sys, threading
import numpy as np
import lutcast
from lutcast import tables

load, loading, forked = tables._load, threading.Event(), threading.Event()

def slowly(*key):
    loading.set()
    forked.wait(1)
    return load(*key)

tables._load = slowly
thread = threading.Thread(target=lutcast.cast, args=(np.float16([1.5]), "float8_e4m3fn"))
thread.start()
loading.wait()
child = os.fork()
forked.set()
if child == 0:
    os._exit(0 if lutcast.cast(np.uint8([7]), "float16").tolist() == [7] else 3)
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

C_INTERFACE = """
import ctypes, os, sys
import numpy as np
sys.path.insert(0, {tools!r})
from fuzzing.interface import load

api = load()

def run(plan, x, y):
    return api.plan_run(plan, x.ctypes.data, y.ctypes.data, x.size)

def make(src, dst):
    plan = ctypes.c_void_p()
    assert api.plan_create(ctypes.byref(plan), src, dst, 0, 0, 0) == 0
    return plan

x, y = np.arange(5000, dtype=np.float32), np.zeros(5000, np.float16)
plan = make(29, 27)
child = os.fork()
other = make(7, 28)  # in both processes
codes = np.zeros(3, np.uint16)
good = run(plan, x, y) == 0 and y.tolist() == x.astype(np.float16).tolist()
good &= run(other, np.uint8([1, 2, 3]), codes) == 0 and codes.tolist() == [0x3F80, 0x4000, 0x4040]
api.plan_destroy(plan)
api.plan_destroy(other)
if child == 0:
    os._exit(0 if good else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or not good)
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


def test_a_child_of_a_process_that_was_loading_a_table():
    done = run(BUSY)
    assert done.returncode == 0, done.stderr


def test_the_c_interface_in_both_processes():
    done = run(C_INTERFACE.format(tools=str(TOOLS)))
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
