"""Tile is stricter than NumPy's, and copies bits."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lutcast.onnx

tile = lutcast.onnx.tile
DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128", ml_dtypes.bfloat16,
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype, rng):
    itemsize = np.dtype(dtype).itemsize
    raw = rng.integers(0, 2 if dtype == "bool" else 256, 6 * itemsize, np.uint8)
    x = raw.view(dtype).reshape(2, 3)
    as_bytes = raw.view(f"V{itemsize}").reshape(2, 3)
    result = tile(x, [2, 3])
    assert result.dtype == x.dtype
    assert result.tobytes() == np.tile(as_bytes, (2, 3)).tobytes()


@pytest.mark.parametrize("dtype", ["U3", object])
def test_strings(dtype):
    x = np.array([["a", "bcd"]], dtype)
    result = tile(x, np.array([2, 2]))
    assert result.dtype == object
    assert result.tolist() == [["a", "bcd", "a", "bcd"]] * 2


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=5))
def test_shapes(axes):
    shape, repeats = [n for n, _ in axes], [n for _, n in axes]
    x = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    result = tile(x, np.array(repeats, np.int64))
    assert np.array_equal(result, np.tile(x, repeats) if axes else x)
    assert result.shape == tuple(n * r for n, r in axes)


def test_zero_repeats_empty_inputs_and_scalars():
    assert tile(np.ones((2, 3)), [0, 2]).shape == (0, 6)
    assert tile(np.ones((0, 3)), [4, 2]).shape == (0, 6)
    assert tile(np.float32(2.5), np.array([], np.int64)).tolist() == 2.5
    assert tile(np.float32(2.5), []).shape == ()


@pytest.mark.parametrize(
    ("repeats", "message"),
    [
        ([2], r"^repeats: 1 counts given for 2 axes$"),
        ([1, 2, 3], r"^repeats: 3 counts given for 2 axes$"),
        ([[2, 2]], r"^repeats: 2 dimensions given, 1-D is needed$"),
        (2, r"^repeats: 0 dimensions given, 1-D is needed$"),
        ([2, -1], r"^repeats: \(2, -1\) has a negative count$"),
        ([1.0, 2.0], r"^repeats: float64 of 1 dimensions given, integers in 1-D are needed$"),
        ([True, True], r"^repeats: bool of 1 dimensions given, integers in 1-D are needed$"),
        (["1", "2"], r"^repeats: <U1 of 1 dimensions given, integers in 1-D are needed$"),
        ([2**62, 1], r"^repeats: a result of shape \(9223372036854775808, 3\) does not fit the index type$"),
        ([2**40, 2**10], r"^repeats: a result of shape .* (does not fit in memory|does not fit the index type)$"),
        ([[1], [1, 2]], r"^repeats: \[\[1\], \[1, 2\]\] given, 1-D integers are needed$"),
    ],
)
def test_bad_repeats(repeats, message):
    with pytest.raises(ValueError, match=message):
        tile(np.ones((2, 3), np.float32), repeats)


@pytest.mark.parametrize(
    "dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.int4, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e8m0fnu]
)
def test_types_outside_the_list(dtype):
    with pytest.raises(TypeError, match=rf"^x: no version of Tile takes {np.dtype(dtype).name}$"):
        tile(np.zeros(2, dtype), [2])
    assert lutcast.tile(np.zeros(2, dtype), 2).shape == (4,)
