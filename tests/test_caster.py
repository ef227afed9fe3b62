"""Prepared casts: the same results as `cast`, from the same policies."""

import copy
import gc
import sys
import threading

import en_dtypes
import ml_dtypes
import numpy as np
import pytest
from labels import label

import lutcast
from lutcast._kernels.caster import run_at
from lutcast.formats import ALL
from lutcast.names import array_dtype

X = np.random.default_rng(0).standard_normal((30, 40)).astype(np.float32)


def random_array(fmt, n=2500):
    """Return an array of random bits."""
    raw = np.random.default_rng(1).integers(0, 256, n * fmt.itemsize, np.uint8)
    return raw.view(array_dtype(fmt))


@pytest.mark.parametrize("dst", ALL, ids=lambda f: f.name)
def test_every_pair_gives_what_cast_gives(dst):
    for src in ALL:
        x = random_array(src)
        prepared = lutcast.caster(src, dst)
        for array in (x, x[::-3], x[:1], x[0], x[:0]):
            result = prepared(array)
            expected = lutcast.cast(array, dst, src=src)
            assert result.dtype == expected.dtype
            assert result.shape == expected.shape
            assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("options", [{"rounding": "floor"}, {"overflow": "ieee"}, {"nan": "zero"}, {"rounding": "odd"}])
def test_policies(options):
    x = np.append(X.ravel() * 300, [np.nan, np.inf]).astype(np.float32)
    result = lutcast.caster("float32", "float8_e4m3fn", **options)(x)
    assert result.tobytes() == lutcast.cast(x, "float8_e4m3fn", **options).tobytes()


def test_attributes_say_what_it_does():
    prepared = lutcast.caster("F32", "int8")
    assert prepared.src is lutcast.get_format("float32")
    assert prepared.dst is lutcast.get_format("int8")
    assert prepared.policy == ("toward_zero", "saturate", "keep")
    assert repr(prepared) == "<Caster float32 to int8, toward_zero/saturate/keep>"
    with pytest.raises(AttributeError):
        prepared.unknown = 1


@pytest.mark.parametrize(
    "x",
    [
        X[::2, ::-1], np.asfortranarray(X), X.astype(">f4"), np.broadcast_to(X[0], (50, 40)), X[3, 4],
        X.view(np.uint32), X.view(np.uint32).astype(">u4"), X[None, :, None],
    ],
    ids=["strided", "fortran", "big-endian", "broadcast", "scalar", "codes", "big-endian codes", "unit axes"],
)  # fmt: skip
def test_layouts_and_codes(x):
    expected = lutcast.cast(x, "float16", src="float32")
    result = lutcast.caster("float32", "float16")(x)
    assert result.shape == x.shape
    assert result.tobytes() == expected.tobytes()
    assert result.flags.f_contiguous == expected.flags.f_contiguous


def test_lists_and_python_numbers_have_the_format_that_numpy_gives_them():
    to_half = lutcast.caster("float64", "float16")
    assert to_half([1.5, 2.5]).tolist() == [1.5, 2.5]
    assert to_half(1.5).shape == ()
    assert lutcast.caster("int64", "float16")([[1], [2]]).tolist() == [[1], [2]]


@pytest.mark.parametrize(
    "x",
    [[1, 2], X.astype(np.float64), X.view(np.int32), np.zeros(2, ml_dtypes.bfloat16), X.astype(np.uint16)],
    ids=label,
)
def test_another_format_is_refused(x):
    out = np.full(np.shape(x), 7, np.float16)
    with pytest.raises(ValueError, match=r"^x: dtype \S+ given for float32; it takes float32 or codes as uint32$"):
        lutcast.caster("float32", "float16")(x, out)
    assert (out == 7).all()


@pytest.mark.parametrize("x", ["1.0", None, [None], np.zeros(1, "M8[s]"), np.zeros(2, "f4,f4")], ids=label)
def test_elements_without_format_are_refused(x):
    with pytest.raises((TypeError, ValueError), match=r"^x: "):
        lutcast.caster("float32", "float16")(x)


def test_arrays_of_en_dtypes():
    codes = np.arange(256, dtype=np.uint8)
    to_float = lutcast.caster("hifloat8", "float32")
    assert to_float(codes.view(en_dtypes.hifloat8)).tobytes() == to_float(codes).tobytes()


def test_out_is_returned_and_filled():
    to_int = lutcast.caster("float32", "int8")
    out = np.zeros((40, 60), np.int8).T[::2]
    assert to_int(X, out) is out
    assert np.array_equal(out, X.astype(np.int8))
    assert to_int(X, out=out, threads=2) is out
    y = X.copy()
    lutcast.caster("float32", "float32")(y, y)
    assert np.array_equal(y, X)


def test_calls_leak_nothing():
    to_half = lutcast.caster("float32", "float16")
    x, out = X.copy(), np.zeros(X.shape, np.float16)
    for _ in range(10):
        to_half(x, out)
        to_half(x)
    gc.collect()
    before = [sys.getrefcount(o) for o in (x, out, to_half, x.dtype, out.dtype)]
    for _ in range(1000):
        to_half(x, out)
        to_half(x)
        with pytest.raises(ValueError, match="out"):
            to_half(x, out[:1])
    gc.collect()
    after = [sys.getrefcount(o) for o in (x, out, to_half, x.dtype, out.dtype)]
    assert all(abs(a - b) <= 2 for a, b in zip(after, before, strict=True))


def test_shared_by_threads():
    prepared = lutcast.caster("float32", "float8_e5m2")
    expected = prepared(X).tobytes()
    results = []
    threads = [
        threading.Thread(target=lambda: results.extend(prepared(X).tobytes() for _ in range(200))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 800
    assert set(results) == {expected}


def test_it_outlives_its_name_and_can_be_copied():
    x = np.float32([1.5, -2])
    assert copy.copy(lutcast.caster("float32", "int8"))(x).tolist() == [1, -2]


def test_casts_between_addresses():
    prepared = lutcast.caster("float32", "int16")
    x, result = X.ravel()[:9], np.zeros(9, np.int16)
    assert run_at(prepared, x.ctypes.data, result.ctypes.data, 9)
    assert result.tobytes() == prepared(x).tobytes()
    for source, destination in ((0, 2), (4, 0), (2, 2), (4, 1)):
        assert not run_at(prepared, source, destination, 9)
    assert run_at(prepared, 4, 2, 0)
