"""All codes of narrow floats against the casts of ml_dtypes and NumPy: ties to even, IEEE overflow."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from witnesses import EN_DTYPES, NARROW_FLOATS, codes, dtype, same_codes, values

import lutcast

NAMES = [f.name for f in NARROW_FLOATS if f.name not in EN_DTYPES]


@pytest.mark.parametrize("dst", NAMES)
@pytest.mark.parametrize("src", NAMES)
def test_floats_to_floats(src, dst):
    given = codes(src).view(dtype(src))
    with np.errstate(invalid="ignore", over="ignore"):
        # By float32, which holds every narrow value, so that nothing is rounded twice.
        expected = given.astype(np.float32).astype(dtype(dst))
    got = lutcast.cast(given, dst, rounding="ties_to_even", overflow="ieee")
    assert got.dtype == dtype(dst)
    same = np.ones(len(given), bool)
    if dst.startswith(("float4", "float6")):
        same = ~np.isnan(values(src))  # no NaN there; ml_dtypes makes -0 of it, we +0
    elif dst == "float8_e8m0fnu":
        same = ~(values(src) < 2.0**-126)  # ml_dtypes mistakes subnormal float32s; test_witness_oracle has them
    word = f"u{got.itemsize}"
    assert same_codes(got.view(word)[same], expected.view(word)[same], dst)


@pytest.mark.parametrize("src", ["float16", "bfloat16"])
@pytest.mark.parametrize("dst", ["float16", "bfloat16", "float32"])
def test_nan_keeps_sign_and_payload(src, dst):
    given = codes(src)[np.isnan(values(src))]
    got = lutcast.cast(given, dst, src=src).view(f"u{dtype(dst).itemsize}").astype(np.int64)
    a, b = lutcast.get_format(src), lutcast.get_format(dst)
    if a is b:
        assert np.array_equal(got, given)
        return
    bits, width = given.astype(np.int64), max(a.fraction_bits, b.fraction_bits)
    payload = (bits & ((1 << a.fraction_bits) - 1)) << (width - a.fraction_bits) >> (width - b.fraction_bits)
    sign = (bits >> 15) << (b.bits - 1)
    assert np.array_equal(got, sign | b.exponent_mask | 1 << (b.fraction_bits - 1) | payload)


@pytest.mark.parametrize("src", ["float16", "bfloat16", "float8_e5m2", "float8_e4m3fnuz"])
@pytest.mark.parametrize("dst", ["int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "int64", "uint64"])
def test_floats_to_integers_in_range(src, dst):
    limits = ml_dtypes.iinfo(dtype(dst))
    inside = (values(src) > float(limits.min) - 1) & (values(src) < float(limits.max))
    given = codes(src).view(dtype(src))[inside]
    expected = given.astype(np.float64).astype(dtype(dst))
    assert np.array_equal(lutcast.cast(given, dst), expected)
