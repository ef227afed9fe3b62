"""The definition itself: against the values that others have, and rule by rule."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from witnesses import NARROW, values

from lutcast import exact, get_format
from lutcast.policy import COMMON_ROUNDINGS, Overflow, Policy, Rounding, resolve

F = {name: get_format(name) for name in ("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "bool")}
FLOAT32, FLOAT64 = F["float32"], F["float64"]


def cast(code, src, dst, rounding=None, overflow=None, nan="keep"):
    src, dst = get_format(src), get_format(dst)
    return exact.cast_code(code, src, dst, resolve(src, dst, rounding, overflow, nan))


def cast_float(value, dst, rounding=None, overflow=None, nan="keep"):
    """Cast a Python float, which is a float64."""
    return cast(struct.unpack("<Q", struct.pack("<d", value))[0], "float64", dst, rounding, overflow, nan)


def as_float(number):
    """Return the value of a Number, exact in float64."""
    sign = -1.0 if number.negative else 1.0
    if number.kind != "finite":
        return math.copysign(math.inf if number.kind == "infinite" else math.nan, sign)
    return sign * float(Fraction(number.significand) * Fraction(2) ** number.exponent)


@pytest.mark.parametrize("fmt", NARROW, ids=lambda f: f.name)
def test_decode_narrow(fmt):
    decoded = np.array([as_float(exact.decode(code, fmt)) for code in range(1 << fmt.bits)])
    assert np.array_equal(decoded, values(fmt.name), equal_nan=True)
    finite = ~np.isnan(decoded)
    assert np.array_equal(np.signbit(decoded[finite]), np.signbit(values(fmt.name)[finite]))


@pytest.mark.parametrize("fmt", [FLOAT32, FLOAT64], ids=lambda f: f.name)
def test_decode_wide_floats(fmt, rng):
    codes = rng.integers(0, 1 << fmt.bits, 2000, dtype=f"u{fmt.itemsize}")
    edges = [0, 1, fmt.exponent_mask - 1, fmt.exponent_mask, 1 << fmt.fraction_bits, (1 << fmt.fraction_bits) - 1]
    codes = np.concatenate([codes, np.array([c | s for c in edges for s in (0, fmt.sign_bit)], codes.dtype)])
    for code, value in zip(codes.tolist(), codes.view(fmt.name).tolist(), strict=True):
        got = as_float(exact.decode(code, fmt))
        assert got == value or (math.isnan(got) and math.isnan(value))


@pytest.mark.parametrize("fmt", NARROW, ids=lambda f: f.name)
def test_encode_undoes_decode(fmt):
    policy = resolve(fmt, fmt, None, "ieee" if fmt.kind == "float" else None, "keep")
    for code in range(1 << fmt.bits):
        number = exact.decode(code, fmt)
        if number.kind != "nan" and fmt.kind != "bool":
            assert exact.encode(number, fmt, policy) == code


@pytest.mark.parametrize("fmt", NARROW, ids=lambda f: f.name)
@pytest.mark.parametrize("wide", ["float64", "complex128"])
def test_widening_and_back_is_the_identity(fmt, wide):
    step = 1 if fmt.bits <= 8 else 37
    for code in range(0, 1 << fmt.bits, step):
        number = exact.decode(code, fmt)
        overflow = "ieee" if fmt.kind == "float" else None
        back = cast(cast(code, fmt, wide), wide, fmt, overflow=overflow)
        if number.kind == "nan":
            assert exact.decode(back, fmt).kind == "nan"
        else:
            assert back == code


def test_double_rounding_is_impossible():
    value = 1 + 2**-8 + 2**-40
    assert cast_float(value, "bfloat16") == 0x3F81
    assert cast_float(float(np.float32(value)), "bfloat16") == 0x3F80  # what others do
    assert cast((1 << 62) + (1 << 54) + 1, "int64", "bfloat16") == 0x5E81


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        ("ties_to_even", [-4, -2, -2, 0, 0, 2, 2, 4]),
        ("ties_to_away", [-4, -3, -2, -1, 1, 2, 3, 4]),
        ("toward_zero", [-3, -2, -1, 0, 0, 1, 2, 3]),
        ("toward_negative", [-4, -3, -2, -1, 0, 1, 2, 3]),
        ("toward_positive", [-3, -2, -1, 0, 1, 2, 3, 4]),
        ("to_odd", [-3, -3, -1, -1, 1, 1, 3, 3]),
        ("away_from_zero", [-4, -3, -2, -1, 1, 2, 3, 4]),
    ],
)
def test_halves(rounding, expected):
    halves = [-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5]
    assert [cast_float(x, "int8", rounding) for x in halves] == [e & 0xFF for e in expected]


@pytest.mark.parametrize(
    ("value", "dst", "rounding", "overflow", "code"),
    [
        (460.0, "float8_e4m3fn", "to_odd", "ieee", 0x7E),
        (40960.0, "hifloat8", "to_odd", "ieee", 0x6E),
        (1e9, "float8_e4m3fn", "ties_to_even", "ieee", 0x7F),
        (-1e9, "float8_e4m3fn", "ties_to_even", "ieee", 0xFF),
        (-1e9, "float8_e4m3fnuz", "ties_to_even", "ieee", 0x80),
        (-1e9, "float8_e5m2", "toward_positive", "ieee", 0xFB),
        (-1e9, "float8_e5m2", "toward_negative", "ieee", 0xFC),
        (-math.inf, "float8_e5m2", "toward_positive", "ieee", 0xFC),
        (math.inf, "float8_e5m2", "ties_to_even", "saturate", 0x7B),
        (1e9, "float4_e2m1fn", "away_from_zero", "ieee", 0x7),
        (-math.inf, "float6_e3m2fn", "ties_to_even", "ieee", 0x3F),
        (-0.0, "float8_e4m3fnuz", "ties_to_even", "saturate", 0x00),
        (-1e-9, "float8_e4m3fnuz", "ties_to_even", "saturate", 0x00),
        (-1e-9, "float4_e2m1fn", "ties_to_even", "saturate", 0x8),
        (-1e-9, "hifloat8", "ties_to_away", "saturate", 0x00),
        (257.0, "uint8", "toward_zero", "wrap", 1),
        (-1.0, "uint8", "toward_zero", "saturate", 0),
        (-math.inf, "int8", "toward_zero", "wrap", 0x80),
        (0.0, "float8_e8m0fnu", "ties_to_even", "saturate", 0x00),
        (-0.0, "float8_e8m0fnu", "ties_to_even", "ieee", 0xFF),
        (-1.0, "float8_e8m0fnu", "ties_to_even", "saturate", 0xFF),
        (0.9999 * 2.0**-127, "float8_e8m0fnu", "toward_positive", "ieee", 0xFF),
        (1.5, "float8_e8m0fnu", "ties_to_even", "saturate", 0x80),
        (1.5, "float8_e8m0fnu", "to_odd", "saturate", 0x7F),
        (1.5 * 2.0**127, "float8_e8m0fnu", "toward_negative", "ieee", 0xFE),
        (1.5 * 2.0**127, "float8_e8m0fnu", "toward_positive", "ieee", 0xFF),
        (math.inf, "float8_e8m0fnu", "toward_zero", "ieee", 0xFF),
        (math.inf, "float8_e8m0fnu", "toward_zero", "saturate", 0xFE),
    ],
)
def test_rules(value, dst, rounding, overflow, code):
    assert cast_float(value, dst, rounding, overflow) == code


@pytest.mark.parametrize(
    ("code", "src", "dst", "kept", "zero"),
    [
        (0x7F800001, "float32", "float16", 0x7E00, 0),
        (0xFFA00000, "float32", "float16", 0xFF00, 0),
        (0xFFC01234, "float32", "float64", 0xFFF8024680000000, 0),
        (0x7FF0000000000001, "float64", "bfloat16", 0x7FC0, 0),
        (0xFFC00000, "float32", "float8_e4m3fn", 0xFF, 0),
        (0xFFC00000, "float32", "float8_e4m3fnuz", 0x80, 0),
        (0xFFC00000, "float32", "hifloat8", 0x80, 0),
        (0xFFC00000, "float32", "float8_e8m0fnu", 0xFF, 0),
        (0xFF, "float8_e4m3fn", "float16", 0xFE00, 0),
        (0x80, "float8_e5m2fnuz", "bfloat16", 0x7FC0, 0),
        (0x80, "hifloat8", "float32", 0x7FC00000, 0),
        (0xFF, "float8_e8m0fnu", "float32", 0x7FC00000, 0),
        (0x7FC00000, "float32", "float4_e2m1fn", 0, 0),
        (0x7FC00000, "float32", "int8", 0, 0),
        (0x7FC00000, "float32", "bool", 1, 0),
        (0x7F800001, "float32", "float32", 0x7F800001, 0x7F800001),
    ],
)
def test_nan(code, src, dst, kept, zero):
    assert cast(code, src, dst) == kept
    assert cast(code, src, dst, nan="zero") == zero


def test_hybrid_is_no_rounding_to_a_multiple():
    with pytest.raises(ValueError, match="hybrid does not round to a multiple"):
        exact.round_to_multiple(exact.Number(False, 3, -1), 0, Rounding.HYBRID)


@pytest.mark.parametrize("rounding", COMMON_ROUNDINGS)
def test_roundings_choose_a_neighbour(rounding, rng):
    """Whatever the rounding, the result is one of the two values around."""
    policy = Policy(rounding, Overflow.IEEE)
    for code in rng.integers(0, 0x7F800000, 300).tolist():
        got = exact.cast_code(code, FLOAT32, F["bfloat16"], policy)
        assert got in (code >> 16, (code >> 16) + (code & 0xFFFF > 0))


def test_complex_parts():
    code = 0x7E00 << 16 | 0x3C00  # 1 + nan j
    assert cast(code, "complex32", "float16") == 0x3C00
    assert cast(code, "complex32", "complex64") == 0x7FC00000 << 32 | 0x3F800000
    assert cast(code, "complex32", "complex64", nan="zero") == 0x3F800000
    assert cast(0x8000 << 16, "complex32", "bool") == 0
    assert cast(0x0001 << 16, "complex32", "bool") == 1
    assert cast(0xFF, "int8", "complex32") == 0xBC00


@pytest.mark.parametrize(
    ("code", "rounding", "right"),
    [
        (0x3F000000, "ties_to_even", 0x00000000),
        (0xBF000000, "ties_to_even", 0x80000000),
        (0xBF000000, "toward_positive", 0x80000000),
        (0x00000001, "away_from_zero", 0x3F800000),
        (0x4B000001, "to_odd", 0x4B000001),
        (0x3FC00000, "to_odd", 0x3F800000),
        (0x7F800000, "ties_to_even", 0x7F800000),
        (0x7F800001, "ties_to_even", 0x7FC00001),
    ],
)
def test_round_to_integral_code(code, rounding, right):
    assert exact.round_to_integral_code(code, FLOAT32, Rounding(rounding)) == right
