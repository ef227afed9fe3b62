"""The rules of Cast and CastLike, with NumPy and ml_dtypes as witnesses, and the errors."""

import ml_dtypes
import numpy as np
import onnx
import pytest

import lutcast
import lutcast.onnx

cast = lutcast.onnx.cast
FLOAT8 = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]
WIDE = ["float16", "bfloat16", "float32", "float64"]


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize(
    "to", [10, np.int32(10), "FLOAT16", "float16", "half", np.float16, np.dtype("float16"), onnx.TensorProto.FLOAT16]
)
def test_ways_to_name_a_type(to):
    assert same_bits(cast([1.5], to), np.array([1.5], np.float16))


@pytest.mark.parametrize("to", [8, "STRING", "string", str, object, np.str_, np.dtype("U5"), np.dtype(object)])
def test_ways_to_name_strings(to):
    result = cast([1.5], to)
    assert result.dtype == object
    assert result.tolist() == ["1.5"]


@pytest.mark.parametrize("to", [0, 29, -1, True, None, 1.5, "FLOAT7", "strings", list])
def test_no_such_type(to):
    with pytest.raises(TypeError, match=r"^to: "):
        cast([1.0], to)


@pytest.mark.parametrize("name", WIDE)
def test_floats_round_to_even_and_overflow_to_infinity(name):
    x = np.array([1e300, -1e300, 0.1, np.inf, -0.0, 5e-324, 65520.0, 65519.0])
    with np.errstate(over="ignore"):
        assert same_bits(cast(x, name), x.astype(lutcast.cast(0, name).dtype))


def test_no_second_rounding():
    x = np.array([1 + 2**-8 + 2**-40, 1 + 2**-11 + 2**-40])
    assert cast(x, "BFLOAT16").view(np.uint16)[0] == 0x3F81
    assert cast(x, "FLOAT16").view(np.uint16)[1] == 0x3C01


@pytest.mark.parametrize("name", FLOAT8)
def test_float8_saturates_by_default(name):
    largest = float(ml_dtypes.finfo(name).max)
    x = np.array([np.inf, -np.inf, 1e30, -1e30, largest], np.float32)
    assert cast(x, name).astype(np.float64).tolist() == [largest, -largest, largest, -largest, largest]
    assert np.isnan(cast(np.array([np.nan, -np.nan]), name).astype(float)).all()


@pytest.mark.parametrize("name", FLOAT8)
@pytest.mark.parametrize("source", [np.float16, np.float32, ml_dtypes.bfloat16])
def test_float8_without_saturation(name, source):
    codes = np.arange(1 << 16, dtype=np.uint16)
    x = codes.view(source) if np.dtype(source).itemsize == 2 else (codes.astype(np.uint32) << 16).view(source)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        got, expected = cast(x, name, saturate=0), x.astype(name)
    nan = np.isnan(expected.astype(np.float32))
    assert np.array_equal(np.isnan(got.astype(np.float32)), nan)
    assert same_bits(got[~nan], expected[~nan])


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_nan_keeps_its_sign(name):
    x = np.array([0x7FC00000, 0xFFC00000], np.uint32).view(np.float32)
    for saturate in (0, 1):
        assert (cast(x, name, saturate=saturate).view(np.uint8) >> 7).tolist() == [0, 1]


@pytest.mark.parametrize(("name", "largest"), [("FLOAT4E2M1", 6), ("FLOAT6E2M3", 7.5), ("FLOAT6E3M2", 28)])
@pytest.mark.parametrize("saturate", [0, 1])
def test_float4_and_float6_clamp(name, largest, saturate):
    x = np.array([np.inf, -np.inf, 1e9, np.nan, -np.nan, -0.0], np.float32)
    result = cast(x, name, saturate=saturate)
    assert result.astype(float).tolist() == [largest, -largest, largest, 0, 0, 0]
    assert np.signbit(result.astype(float)).tolist() == [False, True, False, False, False, True]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("up", [126, 127, 128, 128]), ("down", [126, 127, 127, 127]), ("nearest", [126, 127, 127, 128])],
)
def test_e8m0_modes(mode, expected):
    x = np.array([0.5, 1.0, 1.4999, 1.5], np.float32)
    assert cast(x, "FLOAT8E8M0", round_mode=mode).view(np.uint8).tolist() == expected


def test_float_to_integer_keeps_the_low_bits():
    assert cast([300.0, -1.5, 128.0, np.nan], "INT8").tolist() == [44, -1, -128, 0]
    assert cast([-1.5, 256.0, 1e10], "UINT8").tolist() == [255, 0, 0]
    assert cast([9.0, -9.0, 7.9], "INT4").astype(int).tolist() == [-7, 7, 7]
    assert cast([3.0, -3.0, 2.0], "INT2").astype(int).tolist() == [-1, 1, -2]


@pytest.mark.parametrize("dst", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("src", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integer_to_integer(src, dst, rng):
    x = rng.integers(0, 256, 800, np.uint8).view(src)
    assert same_bits(cast(x, dst), x.astype(dst))


def test_integers_to_four_bits():
    x = np.arange(-128, 128, dtype=np.int8)
    assert cast(x, "INT4").astype(int).tolist() == [(v + 8) % 16 - 8 for v in range(-128, 128)]
    assert cast(x, "UINT4").astype(int).tolist() == [v % 16 for v in range(-128, 128)]


def test_integer_to_float_rounds_once():
    x = np.array([2**53 + 1, 2**62 + 2**37 + 1, -(2**24) - 1])
    assert same_bits(cast(x, "DOUBLE"), x.astype(float))
    # 2**62 + 2**37 + 1 is just above a midpoint of bfloat16 only if nothing was rounded before.
    y = np.array([2**62 + 2**54 + 1])
    assert float(cast(y, "BFLOAT16")[0]) == 2.0**62 + 2.0**55


def test_to_bool_and_back():
    x = np.array([0.0, -0.0, np.nan, 5e-324, -1.0, np.inf])
    assert cast(x, "BOOL").tolist() == [False, False, True, True, True, True]
    assert cast(np.array([True, False]), "FLOAT8E4M3FN").astype(float).tolist() == [1, 0]


def test_scalars_empty_and_strided():
    assert cast(1.5, "INT8").shape == ()
    assert cast(np.empty((0, 3), np.float32), "FLOAT16").shape == (0, 3)
    x = np.arange(20, dtype=np.float32).reshape(4, 5)[::2, ::-1]
    assert same_bits(np.ascontiguousarray(cast(x, "FLOAT16")), np.ascontiguousarray(x.astype(np.float16)))


@pytest.mark.parametrize("saturate", [2, -1, None, "1", 0.5])
def test_bad_saturate(saturate):
    with pytest.raises(ValueError, match=r"^saturate: .* is not one of 0, 1$"):
        cast([1.0], "FLOAT8E4M3FN", saturate=saturate)


@pytest.mark.parametrize("mode", ["UP", "even", None, 1, ["up"]])
def test_bad_round_mode(mode):
    with pytest.raises(ValueError, match=r"^round_mode: .* is not one of 'up', 'down', 'nearest'$"):
        cast([1.0], "FLOAT8E8M0", round_mode=mode)


def test_attributes_that_a_version_lacks_are_ignored():
    assert cast([1.5], "FLOAT16", saturate=7, round_mode="no", opset=13).tolist() == [1.5]
    with pytest.raises(ValueError, match=r"^saturate: "):
        cast([1.5], "FLOAT16", saturate=7, opset=19)
    with pytest.raises(ValueError, match=r"^round_mode: "):
        cast([1.5], "FLOAT16", round_mode="no", opset=24)


def test_cast_like_reads_the_type_only():
    for target in (np.empty((0, 4), ml_dtypes.int4), ml_dtypes.int4(3), np.zeros((2, 2), ml_dtypes.int4)):
        assert lutcast.onnx.cast_like([9.0], target).dtype == ml_dtypes.int4
    assert lutcast.onnx.cast_like([9.0], np.array([], str)).tolist() == ["9"]
    assert lutcast.onnx.cast_like([9.0], "text").tolist() == ["9"]


def test_elements_without_a_type():
    with pytest.raises(TypeError, match=r"^x: element 1 is of type int; an array of objects holds strings$"):
        cast(np.array(["1", 2], object), "FLOAT")
    with pytest.raises(TypeError, match=r"^x: elements of dtype datetime64\[s\] have no format"):
        cast(np.zeros(2, "datetime64[s]"), "FLOAT")
