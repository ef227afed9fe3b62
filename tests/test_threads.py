"""Any count of threads gives the same bits, and none stays behind."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lutcast
from lutcast.names import array_dtype

N = 3_000_017
PAIRS = [
    ("float32", "float8_e4m3fn"), ("float32", "float16"), ("float64", "bfloat16"), ("uint8", "float64"),
    ("bfloat16", "float32"), ("complex64", "complex32"), ("float16", "int4"), ("int64", "int64"), ("float64", "bool"),
]  # fmt: skip


@pytest.fixture(scope="module")
def raw():
    """Return random bits, enough for the widest source."""
    return np.random.default_rng(0).integers(0, 1 << 64, N, np.uint64)


def source(raw, name):
    dtype = array_dtype(lutcast.get_format(name))
    return raw.view(dtype)[:N] if dtype.itemsize >= 4 else np.resize(raw.view(dtype), 3 * N)


@pytest.mark.parametrize(("src", "dst"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_same_bits_from_any_count(raw, src, dst):
    x = source(raw, src)
    expected = lutcast.cast(x, dst)
    for threads in (2, 3, 4):
        assert np.array_equal(bits(lutcast.cast(x, dst, threads=threads)), bits(expected))
        out = np.empty_like(expected)
        lutcast.caster(src, dst)(x, out, threads)
        assert np.array_equal(bits(out), bits(expected))


def bits(array):
    return array.reshape(-1).view(np.uint8)


VIEWS = {
    "strided": lambda x: x[: N // 3 * 3].reshape(-1, 3)[:, 1],
    "reversed": lambda x: x[::-1],
    "transposed": lambda x: x[: 1700 * 1700].reshape(1700, 1700).T,
    "permuted": lambda x: x[: 60 * 700 * 70].reshape(60, 700, 70).transpose(1, 2, 0),
    "broadcast": lambda x: np.broadcast_to(x[:1003], (3000, 1003)),
    "big-endian": lambda x: x.view(x.dtype.newbyteorder(">")),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dst", ["float16", "float8_e5m2", "float64"])
def test_same_bits_from_strided_sources(raw, view, dst):
    x = VIEWS[view](raw.view(np.float32))
    expected = lutcast.cast(x, dst).tobytes()
    for threads in (2, 4):
        assert lutcast.cast(x, dst, threads=threads).tobytes() == expected
        dtype = array_dtype(lutcast.get_format(dst))
        for out in (np.empty((*x.shape, 2), dtype)[..., 1], np.empty(x.shape, dtype, order="F")):
            lutcast.cast(x, dst, threads=threads, out=out)
            assert out.tobytes() == expected


def test_more_threads_than_work():
    x = np.arange(10, dtype=np.float32)
    assert lutcast.cast(x, "int8", threads=10_000).tolist() == list(range(10))
    assert lutcast.cast(np.zeros((0, 5)), "int8", threads=8).shape == (0, 5)


@pytest.mark.parametrize("threads", [1, 4])
def test_threads_are_those_asked_for_and_end_with_the_call(raw, monkeypatch, threads):
    started, before = [], threading.active_count()
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda self: (started.append(self), start(self))[1])
    lutcast.cast(source(raw, "float32"), "bfloat16", threads=threads)
    assert len(started) <= threads - 1
    assert not any(thread.is_alive() for thread in started)
    assert threading.active_count() == before


def test_callers_in_many_threads(raw):
    """First use of a pair from several threads at once loads its table once, whole."""
    x = source(raw, "float16")[:5000]
    policies = [(r, o) for r in ("ties_to_even", "floor", "ceil", "odd") for o in ("saturate", "ieee")]
    expected = {}
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            (policy, pool.submit(lutcast.cast, x, "float8_e3m4", rounding=policy[0], overflow=policy[1], threads=2))
            for policy in policies * 10
        ]
        for policy, job in jobs:
            assert job.result().tobytes() == expected.setdefault(policy, job.result().tobytes())
    for (rounding, overflow), result in expected.items():
        assert lutcast.cast(x, "float8_e3m4", rounding=rounding, overflow=overflow).tobytes() == result


def test_the_gil_is_released(raw):
    """A counter in another thread moves on during a long cast."""
    x = np.tile(source(raw, "float64"), 4)
    ticks, done = [], threading.Event()

    def count():
        while not done.wait(0.0005):
            ticks.append(1)

    counter = threading.Thread(target=count)
    counter.start()
    try:
        before = len(ticks)
        lutcast.cast(x, "float16", rounding="odd")
        moved = len(ticks) - before
    finally:
        done.set()
        counter.join()
    assert moved > 3
