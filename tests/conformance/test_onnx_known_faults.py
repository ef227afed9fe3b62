"""What other implementations of ONNX get wrong, with the right value."""

import ml_dtypes
import numpy as np
import pytest

import lutcast.onnx

E4M3, E5M2, E8M0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu
FNUZ = (ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz)


def codes(values, to, **attributes):
    return lutcast.onnx.cast(np.array(values, np.float32), to, **attributes).view(np.uint8).tolist()


def test_e4m3fn_overflow_without_saturation_is_nan():
    assert codes([480, -480, np.inf, -np.inf, np.nan, -np.nan], E4M3, saturate=0) == [127, 255, 127, 255, 127, 255]


def test_e5m2_overflow_without_saturation_is_infinity():
    assert codes([61440, -61440, 57344, 61439], E5M2, saturate=0) == [0x7C, 0xFC, 0x7B, 0x7B]


@pytest.mark.parametrize("dtype", FNUZ)
@pytest.mark.parametrize("opset", [19, 20, 21, 22, 23, 24, None])
def test_infinity_saturates_into_fnuz(dtype, opset):
    assert codes([np.inf, -np.inf, np.nan], dtype, opset=opset) == [0x7F, 0xFF, 0x80]


@pytest.mark.parametrize("dtype", FNUZ)
def test_infinity_without_saturation_is_nan_in_fnuz(dtype):
    assert codes([np.inf, -1e6, np.nan], dtype, saturate=0) == [0x80, 0x80, 0x80]


def test_negative_zero_is_false_and_e8m0_is_never():
    assert lutcast.onnx.cast(np.array([0x80, 0, 1], np.uint8).view(E4M3), "BOOL").tolist() == [False, False, True]
    assert lutcast.onnx.cast(np.array([0, 0xFF], np.uint8).view(E8M0), "BOOL").tolist() == [True, True]


def test_infinity_saturates_into_e8m0():
    assert codes([np.inf, 3e38, -1, np.nan], E8M0) == [0xFE, 0xFE, 0xFF, 0xFF]
    assert codes([np.inf, 3e38, 0], E8M0, saturate=0) == [0xFF, 0xFF, 0xFF]


def test_exact_powers_are_not_rounded_up_into_e8m0():
    assert codes([2.0**-127, 1.0, 2.0**-126], E8M0, round_mode="up") == [0, 127, 1]


def test_tile_keeps_nan_bits():
    payloads = np.array([0x7C01, 0xFE3F, 0x7FFF, 0x8000], np.uint16).view(np.float16)
    result = lutcast.onnx.tile(payloads, [3])
    assert result.tobytes() == payloads.tobytes() * 3


def test_cast_like_heeds_round_mode():
    x = np.array([1.25, 1.5, 1.75], np.float32)
    for mode, expected in (("up", [128, 128, 128]), ("down", [127, 127, 127]), ("nearest", [127, 128, 128])):
        result = lutcast.onnx.cast_like(x, np.empty(0, E8M0), round_mode=mode)
        assert result.view(np.uint8).tolist() == expected


@pytest.mark.parametrize("size", [1, 2, 7, 8, 15, 16, 31, 32, 63, 64, 100])
def test_out_of_range_does_not_depend_on_the_position(size):
    for value, expected in ((300.0, 44), (-1.0, -1), (np.nan, 0), (1e10, 0)):
        for dtype in (np.float16, np.float32, np.float64, ml_dtypes.bfloat16):
            if dtype is np.float16 and value == 1e10:
                continue
            x = np.full(size, value).astype(dtype)
            low_bits = int(float(x[0])) if value == value else 0
            wrapped = (low_bits + 128) % 256 - 128
            assert lutcast.onnx.cast(x, "INT8").tolist() == [wrapped] * size
            assert dtype is ml_dtypes.bfloat16 or wrapped == expected
