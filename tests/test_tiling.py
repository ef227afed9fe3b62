"""`tile` against `numpy.tile`, bit for bit."""

import gc
import sys
from importlib import import_module

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labels import label

import lutcast
from lutcast import _kernels

DTYPES = [
    "?", "u1", "<i2", ">i4", "<f8", "<c8", ">c16", "f2", "U3", "S5", "V7", "M8[s]", "i1,f8", "g",
    ml_dtypes.bfloat16, ml_dtypes.int4, ml_dtypes.float8_e8m0fnu,
]  # fmt: skip


def random_array(shape, dtype, seed=0):
    """Return an array of random bits, NaN payloads and byte order as they come."""
    dtype = np.dtype(dtype)
    raw = np.random.default_rng(seed).integers(0, 128, (*shape, dtype.itemsize), np.uint8)
    return raw.view(dtype).reshape(shape)


def reference(x, repeats):
    """Return numpy.tile of the bytes of an array."""
    raw = np.frombuffer(x.tobytes(), f"V{x.itemsize}").reshape(x.shape)
    return np.tile(raw, repeats)


def assert_tiled(x, repeats):
    result = lutcast.tile(x, repeats)
    expected = reference(np.asarray(x), repeats)
    assert result.dtype == np.asarray(x).dtype
    assert result.shape == expected.shape
    assert result.tobytes() == expected.tobytes()
    assert result.flags.c_contiguous
    assert not np.shares_memory(result, x)


@settings(max_examples=300, deadline=None)
@given(
    dtype=st.sampled_from(DTYPES),
    shape=st.lists(st.integers(0, 5), max_size=4),
    repeats=st.lists(st.integers(0, 4), max_size=5),
    steps=st.lists(st.sampled_from([1, 2, -1, -2]), min_size=4, max_size=4),
    order=st.permutations(range(4)),
    seed=st.integers(0, 1 << 30),
)
def test_any_shape_stride_dtype_and_count(dtype, shape, repeats, steps, order, seed):
    x = random_array(shape, dtype, seed)[tuple(slice(None, None, step) for step in steps[: len(shape)])]
    assert_tiled(x.transpose([axis for axis in order if axis < len(shape)]), repeats)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("repeats", [3, (2,), (2, 1, 3), (1, 1), (), 0, (0, 2), (1, 4, 1, 2)], ids=str)
def test_every_dtype(dtype, repeats):
    assert_tiled(random_array((3, 4), dtype), repeats)
    assert_tiled(random_array((), dtype), repeats)
    assert_tiled(np.broadcast_to(random_array((4,), dtype), (3, 4)), repeats)


@pytest.mark.parametrize(
    ("shape", "repeats"),
    [
        ((3,), 400_001), ((1,), (7, 300_000)), ((700, 500), (3, 2)), ((100_003,), 9), ((90, 90), (6, 40)),
        ((3, 50, 700), (4, 3, 2)),
    ],
)  # fmt: skip
def test_large_results(shape, repeats):
    for dtype in ("u1", "f4"):
        assert_tiled(random_array(shape, dtype), repeats)


@pytest.mark.parametrize("variant", _kernels.supported())
def test_small_rows_of_every_width(variant):
    module = import_module("lutcast._kernels.tile" + f"_{variant}" * (variant != "baseline"))
    for width in range(1, 67):
        for rows, repeats in ((1, 3), (1, 900), (5, 2), (60, 2), (60, 11)):
            x = random_array((2 * rows, width), "u1", width)[::2]
            space = np.full(x.size * repeats + 64, 99, np.uint8)
            module.tile_into(x, (1, repeats), space[:-64].reshape(rows, -1))
            assert space.tobytes() == np.tile(x, repeats).tobytes() + bytes([99] * 64), (width, rows, repeats)


@pytest.mark.parametrize("variant", _kernels.supported())
@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8"])
def test_results_at_any_place_of_a_cache_line(variant, dtype):
    module = import_module("lutcast._kernels.tile" + f"_{variant}" * (variant != "baseline"))
    itemsize = np.dtype(dtype).itemsize
    for shape, repeats in (((9, 1), 64), ((7, 2), 96), ((33, 2), 32), ((1, 4), 333), ((20, 3), 24), ((20, 7), 33)):
        x = random_array(shape, dtype)
        expected = np.tile(x, repeats).tobytes()
        for place in range(0, 64, itemsize):
            space = np.full(len(expected) + 256, 99, np.uint8)
            start = -space.ctypes.data % 64 + place
            out = space[start : start + len(expected)].view(dtype).reshape(shape[0], -1)
            module.tile_into(x, (1, repeats), out)
            before, after = bytes([99] * start), bytes([99] * (256 - start))
            assert space.tobytes() == before + expected + after, (shape, place)


def test_bits_of_nan_and_negative_zero_are_kept():
    codes = np.array([0x7F800001, 0xFFC00123, 0x80000000], np.uint32)
    assert lutcast.tile(codes.view(np.float32), (2, 2)).tobytes() == np.tile(codes, (2, 2)).tobytes()


@pytest.mark.parametrize(
    "x", [5, 2.5, True, 1j, "text", b"bytes", [[1, 2]], np.float32(3), ml_dtypes.bfloat16(2)], ids=label
)
def test_array_likes(x):
    result = lutcast.tile(x, (2, 3))
    assert result.dtype == np.asarray(x).dtype
    assert np.array_equal(result, np.tile(np.asarray(x), (2, 3)))


@pytest.mark.parametrize(
    "repeats", [[2, 1], np.array([2, 1]), np.array([2, 1], np.uint8), (np.int64(2), True), range(2, 3)]
)
def test_kinds_of_repeats(repeats):
    x = np.arange(6).reshape(2, 3)
    assert np.array_equal(lutcast.tile(x, repeats), np.tile(x, tuple(int(n) for n in repeats)))


def test_strings_of_any_length():
    x = np.array([["a", "long enough to live on the heap", ""]], np.dtypes.StringDType())
    result = lutcast.tile(x, (2, 2))
    assert result.dtype == x.dtype
    assert result.tolist() == np.tile(x, (2, 2)).tolist()


def test_objects_are_counted():
    item = object()
    x = np.array([item, None, item], object)
    before = sys.getrefcount(item)
    result = lutcast.tile(x, (4, 2))
    assert sys.getrefcount(item) == before + 16
    assert result.tolist() == np.tile(x, (4, 2)).tolist()
    out = np.full((4, 6), item, object)
    lutcast.tile(x, (4, 2), out=out)
    assert sys.getrefcount(item) == before + 32
    del result, out
    gc.collect()
    assert sys.getrefcount(item) == before
    nested = np.array([(item, 1)], [("a", "O"), ("b", "i4")])
    assert lutcast.tile(nested, 3).tolist() == [(item, 1)] * 3


@pytest.mark.parametrize(
    ("x", "repeats"),
    [
        ([1, 2], 2**62), ([1, 2], (2**40, 2**40)), ([[1]], (2**31, 2**32)), (1, 2**70), ([1], (0, 2**70)),
        (np.zeros(1 << 20), 2**41), ("text", 2**60),
    ],
    ids=str,
)  # fmt: skip
def test_results_that_fit_nowhere(x, repeats):
    with pytest.raises(ValueError, match=r"^repeats: .*(does not fit|dimensions given)"):
        lutcast.tile(x, repeats)


def test_any_count_of_nothing():
    assert lutcast.tile([], 2**70).shape == (0,)
    assert lutcast.tile(np.zeros((0, 3)), (2**62, 1)).shape == (0, 3)


def test_too_large_for_memory_is_refused_before_it_is_touched():
    with pytest.raises(
        ValueError, match=r"^repeats: a result of shape .* takes 4611686018427387904 bytes and does not fit"
    ):
        lutcast.tile(np.zeros(1, np.uint8), 2**62)


@pytest.mark.parametrize(
    ("repeats", "message"),
    [
        (-1, r"^repeats: \(-1,\) has a negative count$"),
        ((2, -3), r"^repeats: \(2, -3\) has a negative count$"),
        (2.0, r"^repeats: float64 of 0 dimensions given, integers in 1-D are needed$"),
        ([1.5, 2], r"^repeats: float64 of 1 dimensions given, integers"),
        ([[1, 2]], r"^repeats: int64 of 2 dimensions given, integers in 1-D are needed$"),
        ("2", r"^repeats: <U1 of 0 dimensions given, integers"),
        (None, r"^repeats: None given, integers are needed$"),
        ([1, None], r"^repeats: \[1, None\] given, integers are needed$"),
        (np.ones(2, np.float32), r"^repeats: float32 of 1 dimensions"),
    ],
    ids=label,
)
def test_bad_repeats(repeats, message):
    with pytest.raises(ValueError, match=message):
        lutcast.tile([1, 2], repeats)


def test_more_dimensions_than_numpy_has():
    with pytest.raises(ValueError, match=r"^repeats: 65 counts given, an array has at most 64 axes$"):
        lutcast.tile([1], (1,) * 65)
    assert lutcast.tile([1, 2], (1,) * 63 + (2,)).shape == (1,) * 63 + (4,)


def test_ragged_repeats_are_refused():
    with pytest.raises(ValueError, match=r"^repeats: .* given, an integer or a sequence of integers is needed$"):
        lutcast.tile([1], [[1], [1, 2]])


def test_out():
    x = random_array((2, 3), ml_dtypes.bfloat16)
    out = np.zeros((4, 3), ml_dtypes.bfloat16)
    assert lutcast.tile(x, (2, 1), out=out) is out
    assert out.tobytes() == reference(x, (2, 1)).tobytes()
    middle = np.zeros((3, 4, 3), ml_dtypes.bfloat16)
    lutcast.tile(x, (2, 1), out=middle[1])
    assert middle[1].tobytes() == out.tobytes()
    assert not any(middle[0].tobytes() + middle[2].tobytes())
    assert lutcast.tile(x, 0, out=np.zeros((2, 0), ml_dtypes.bfloat16)).shape == (2, 0)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ([0] * 6, r"^out: an array of int32 and shape \(6,\) is needed$"),
        (np.zeros(5, np.int32), r"^out: an array of int32 and shape \(6,\)"),
        (np.zeros(6, np.int64), r"^out: an array of int32 and shape \(6,\)"),
        (np.zeros(6, ">i4"), r"^out: an array of int32 and shape \(6,\)"),
        (np.zeros(12, np.int32)[::2], r"^out: a C-contiguous, writable array is needed$"),
        (np.frombuffer(bytes(24), np.int32), r"^out: a C-contiguous, writable array is needed$"),
    ],
    ids=["list", "shape", "dtype", "byte order", "strided", "read-only"],
)
def test_bad_outs(out, message):
    with pytest.raises(ValueError, match=message):
        lutcast.tile(np.array([1, 2, 3], np.int32), 2, out=out)
    assert not any(bytes(np.asarray(out)))


def test_overlap_is_refused():
    buffer = np.arange(12, dtype=np.int32)
    for x in (buffer[:3], buffer[5:8], buffer[9:]):
        with pytest.raises(ValueError, match=r"^out: overlaps x$"):
            lutcast.tile(x, 4, out=buffer)
    with pytest.raises(ValueError, match=r"^out: overlaps x$"):
        lutcast.tile(buffer, 1, out=buffer)
    assert buffer.tolist() == list(range(12))
