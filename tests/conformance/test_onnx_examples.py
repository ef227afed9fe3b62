"""The examples in the documentation of CastLike 23 and Tile 13, to the bit."""

import ml_dtypes
import numpy as np
import pytest

import lutcast.onnx

FLOAT4 = ml_dtypes.float4_e2m1fn
INF, NAN = np.inf, np.nan

# Of FLOAT16_to_FLOAT4E2M1; in the float32 example two inputs differ.
HALVES = [0.48, 0.25, 1.05, -3.5, -8.0, 9.0, INF, 1.19e-07, NAN, INF, INF, -INF, -4.0, 0.01, -0.0]
SINGLES = [0.48, 0.25, 1.05, -3.5, -8.0, 9.0, 1e6, 1e-7, NAN, INF, INF, -INF, -4.0, 0.01, -0.0]
# 0.5 0 1 -4 -6 / 6 6 0 0 6 / 6 -6 -4 0 -0
CODES = np.array([1, 0, 2, 14, 15, 7, 7, 0, 0, 7, 7, 15, 14, 0, 8], np.uint8).reshape(3, 5)
VALUES = [0.5, 0.0, 1.0, -4.0, -6.0, 6.0, 6.0, 0.0, 0.0, 6.0, 6.0, -6.0, -4.0, 0.0, -0.0]


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize(("values", "dtype"), [(HALVES, np.float16), (SINGLES, np.float32)])
def test_to_float4(values, dtype):
    x = np.array(values, dtype).reshape(3, 5)
    result = lutcast.onnx.cast_like(x, np.zeros(1, FLOAT4), opset=23)
    assert same_bits(result, CODES.view(FLOAT4))


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_from_float4(dtype):
    result = lutcast.onnx.cast_like(CODES.view(FLOAT4), np.zeros(1, dtype), opset=23)
    assert same_bits(result, np.array(VALUES, dtype).reshape(3, 5))


def test_tile_after_resize():
    x = np.arange(1, 61, dtype=np.float32).reshape(10, 6)
    row = [[1, 3, 5, 1, 3, 5], [13, 15, 17, 13, 15, 17], [25, 27, 29, 25, 27, 29]]
    row += [[37, 39, 41, 37, 39, 41], [49, 51, 53, 49, 51, 53]]
    result = lutcast.onnx.tile(x[::2, ::2], np.array([2, 2]))
    assert same_bits(result, np.array(row + row, np.float32))


@pytest.mark.parametrize(
    ("x", "repeats", "expected"),
    [
        ([1, 2, 3], [3], [1, 2, 3, 1, 2, 3, 1, 2, 3]),
        ([[0, 1], [2, 3]], [2, 2], [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]]),
        ([[0, 1], [2, 3]], [1, 1], [[0, 1], [2, 3]]),
    ],
)
def test_tile(x, repeats, expected):
    result = lutcast.onnx.tile(np.array(x, np.float32), np.array(repeats, np.int64))
    assert same_bits(result, np.array(expected, np.float32))
