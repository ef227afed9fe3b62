"""No result depends on the state of the floating-point unit, and no call changes it."""

import ctypes
import subprocess

import numpy as np
import pytest

import lutcast
from lutcast import exact
from lutcast.formats import ALL
from lutcast.names import array_dtype
from lutcast.policy import Overflow, Policy, Rounding

SOURCE = """
#if defined(__x86_64__)
#include <immintrin.h>
unsigned get(void) { return _mm_getcsr() & ~63u; } /* without the sticky flags */
void set(unsigned state) { _mm_setcsr(state); }
unsigned modified(int flush, int direction) { return 0x1F80u | (flush ? 0x8040u : 0) | ((unsigned)direction << 13); }
#elif defined(__aarch64__)
unsigned get(void) { unsigned long s; __asm__ volatile("mrs %0, fpcr" : "=r"(s)); return (unsigned)s; }
void set(unsigned state) { __asm__ volatile("msr fpcr, %0" : : "r"((unsigned long)state)); }
unsigned modified(int flush, int direction) { return (flush ? 1u << 24 : 0) | ((unsigned)direction << 22); }
#endif
"""
# Subnormals flushed on input and output; the three directions that are not the default.
STATES = {"flush": (1, 0), "1": (0, 1), "2": (0, 2), "3": (0, 3), "flush and 3": (1, 3)}


@pytest.fixture(scope="module")
def fpu(tmp_path_factory):
    """Return a library that reads and writes the state of this thread."""
    folder = tmp_path_factory.mktemp("fpu")
    (folder / "fpu.c").write_text(SOURCE)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", folder / "fpu.so", folder / "fpu.c"], check=True)
    library = ctypes.CDLL(str(folder / "fpu.so"))
    library.get.restype = library.modified.restype = ctypes.c_uint
    return library


@pytest.fixture(params=STATES)
def state(fpu, request):
    """Put the thread into one of the states for the length of a test."""
    return fpu.modified(*STATES[request.param])


class Modified:
    """The state of this thread, changed inside a with block; `after` is what was left at its end."""

    def __init__(self, fpu, state):
        self.fpu, self.state = fpu, state

    def __enter__(self):
        self.before = self.fpu.get()
        self.fpu.set(self.state)
        return self

    def __exit__(self, *_):
        self.after = self.fpu.get()
        self.fpu.set(self.before)


def random_array(fmt, n=3000):
    """Return random bits, subnormals and small numbers among them."""
    rng = np.random.default_rng(fmt.bits)
    raw = rng.integers(0, 256, (n, fmt.itemsize), np.uint8)
    part = (fmt.part or fmt).itemsize
    raw[: n // 3].reshape(-1, part)[:, -1] &= 0x80  # the leading byte of each part: exponents near zero
    raw[: n // 6].reshape(-1, part)[:, part // 2 :] &= 0x80
    return raw.view(array_dtype(fmt))[:, 0]


def test_the_state_is_really_changed(fpu, state):
    tiny, one = np.float32(1e-39), np.float64(1)
    with Modified(fpu, state):
        changed = [(tiny + np.zeros(1, np.float32)).tobytes(), (one / np.array([10.0, -10.0])).tobytes()]
    assert changed != [(tiny + np.zeros(1, np.float32)).tobytes(), (one / np.array([10.0, -10.0])).tobytes()]


@pytest.mark.parametrize("src", ALL, ids=lambda f: f.name)
def test_casts_are_the_same_and_leave_the_state(fpu, state, src):
    x = random_array(src)
    expected = [lutcast.cast(x, dst, src=src).tobytes() for dst in ALL]
    with Modified(fpu, state) as modified:
        results = [lutcast.cast(x, dst, src=src) for dst in ALL]
        small = [lutcast.cast(x[:5], dst, src=src) for dst in ALL]
        strided = [lutcast.cast(x[::-1], dst, src=src) for dst in ALL]
    assert modified.after == state
    assert [result.tobytes() for result in results] == expected
    assert [result[::-1].tobytes() for result in strided] == expected
    for result, whole in zip(small, expected, strict=True):
        assert result.tobytes() == whole[: result.nbytes]


@pytest.mark.parametrize("rounding", ["ties_to_away", "floor", "ceil", "odd", "trunc", "away_from_zero"])
def test_every_rounding(fpu, state, rounding):
    wide = [lutcast.get_format(name) for name in ("float32", "float64", "int64", "uint64", "bfloat16")]
    x = {src: random_array(src) for src in wide}

    def run():
        return [lutcast.cast(x[src], dst, rounding=rounding).tobytes() for src in wide for dst in ALL]

    expected = run()
    with Modified(fpu, state):
        results = run()
    assert results == expected


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_round_to_integral(fpu, state, name):
    x = random_array(lutcast.get_format(name))
    expected = lutcast.round_to_integral(x, rounding="ceil").tobytes()
    with Modified(fpu, state) as modified:
        result = lutcast.round_to_integral(x, rounding="ceil")
    assert modified.after == state
    assert result.tobytes() == expected


def test_large_casts_in_threads(fpu, state):
    x = random_array(lutcast.get_format("float32"), 3_000_000)
    for dst in ("float16", "bfloat16", "float64"):
        expected = lutcast.cast(x, dst)
        with Modified(fpu, state):
            result = lutcast.cast(x, dst, threads=3)
        assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("src", "dst"), [("float6_e3m2fn", "float64"), ("float8_e5m2fnuz", "complex64")])
def test_a_table_first_loaded_under_another_state(fpu, state, src, dst):
    policy = Policy(Rounding.AWAY_FROM_ZERO, Overflow.SATURATE, "zero")
    with Modified(fpu, state):
        table = lutcast.table(src, dst, rounding="away_from_zero", overflow="saturate", nan="zero")
    source, destination = lutcast.get_format(src), lutcast.get_format(dst)
    codes = table.view(np.uint64).tolist()
    assert codes == [exact.cast_code(code, source, destination, policy) for code in range(len(codes))]
