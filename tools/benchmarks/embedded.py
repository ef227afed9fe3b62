"""Plans run from C, as programs that embed lutcast do; needs the compiler that Python was built with, or ``cc``."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sysconfig
import tempfile
from functools import cache
from pathlib import Path

import lutcast

from .arrays import Array
from .timing import Sample

_SOURCE = r"""
#include <Python.h>
#include <lutcast.h>
#include <time.h>

static const lutcast_api *api;

/* Make a plan from the names' numbers; NULL where there is none. Called with the GIL. */
lutcast_plan *make_plan(int src, int dst)
{
    lutcast_plan *plan = NULL;
    if (api == NULL)
        api = lutcast_import();
    return api != NULL && api->plan_create(&plan, src, dst, 0, 0, 0) == LUTCAST_OK ? plan : NULL;
}

/* Run a plan so often; return the seconds. Called without the GIL. */
double run_plan(const lutcast_plan *plan, const void *src, void *dst, size_t n, int number)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < number; i++)
        if (api->plan_run(plan, src, dst, n) != LUTCAST_OK)
            return -1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}
"""


def plan_sample(src: str, dst: str, x: Array, out: Array) -> Sample | None:
    """Return a sample of a plan that a loop in C runs; None where nothing compiles."""
    libraries = _libraries()
    if libraries is None:
        return None
    with_gil, without_gil = libraries
    plan = with_gil.make_plan(_number(src), _number(dst))
    if not plan:
        raise AssertionError(f"no plan from {src} to {dst}")

    def sample(number: int) -> float:
        return float(without_gil.run_plan(plan, x.ctypes.data, out.ctypes.data, x.size, number))

    return sample


@cache
def _libraries() -> tuple[ctypes.PyDLL, ctypes.CDLL] | None:
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    compiler = compiler if shutil.which(compiler) else "cc"
    if not shutil.which(compiler):
        return None
    folder = Path(tempfile.mkdtemp(prefix="lutcast-bench-"))
    try:
        (folder / "embedded.c").write_text(_SOURCE)
        includes = [f"-I{lutcast.get_include()}", f"-I{sysconfig.get_path('include')}"]
        library = folder / "embedded.so"
        command = [compiler, "-O2", "-shared", "-fPIC", *includes, str(folder / "embedded.c"), "-o", str(library)]
        subprocess.run(command, check=True, capture_output=True)
        with_gil, without_gil = ctypes.PyDLL(str(library)), ctypes.CDLL(str(library))
    finally:
        shutil.rmtree(folder)
    with_gil.make_plan.restype = ctypes.c_void_p
    without_gil.run_plan.restype = ctypes.c_double
    without_gil.run_plan.argtypes = [*[ctypes.c_void_p] * 3, ctypes.c_size_t, ctypes.c_int]
    return with_gil, without_gil


def _number(name: str) -> int:
    """Return the number of a format in the C interface: their order is fixed."""
    return [fmt.name for fmt in lutcast.formats()].index(name) + 1
