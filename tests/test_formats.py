"""Derived properties of every format against NumPy, ml_dtypes and the values of all codes."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import ml_dtypes
import numpy as np
import pytest
from witnesses import EN_DTYPES, NARROW, NARROW_FLOATS, REAL, values

import lutcast
from lutcast import get_format
from lutcast.formats import hifloat8_fraction_bits

WITH_FINFO = [f for f in REAL if f.kind == "float" and f.name not in EN_DTYPES]


@pytest.mark.parametrize("fmt", WITH_FINFO, ids=lambda f: f.name)
def test_floats_against_finfo(fmt):
    info = ml_dtypes.finfo(fmt.name if fmt.bits >= 32 else getattr(ml_dtypes, fmt.name, np.float16))
    assert fmt.bits == info.bits
    assert fmt.exponent_bits == info.nexp
    assert fmt.fraction_bits == info.nmant
    assert fmt.min_exponent == info.minexp
    if fmt.is_narrow:
        assert values(fmt.name)[fmt.max_code] == float(info.max)
        assert 2.0 ** fmt.quantum_exponent(-10_000) == float(info.smallest_subnormal)


@pytest.mark.parametrize("fmt", [f for f in REAL if f.kind == "int"], ids=lambda f: f.name)
def test_integers_against_iinfo(fmt):
    info = ml_dtypes.iinfo(getattr(ml_dtypes, fmt.name, None) or fmt.name)
    assert (fmt.bits, fmt.min_integer, fmt.max_integer) == (info.bits, int(info.min), int(info.max))
    assert fmt.max_code == info.max
    assert fmt.quantum_exponent(100) == 0
    assert fmt.nan_code is fmt.infinity_code is None
    assert not fmt.has_negative_zero


@pytest.mark.parametrize("fmt", NARROW_FLOATS, ids=lambda f: f.name)
def test_special_codes_by_value(fmt):
    value = values(fmt.name)
    finite = np.where(np.isfinite(value), value, -1)
    assert fmt.max_code == np.argmax(finite)
    assert fmt.has_infinity == np.any(np.isinf(value))
    assert fmt.infinity_code is None or value[fmt.infinity_code] == np.inf
    assert (fmt.nan_code is None) == (not np.any(np.isnan(value)))
    assert fmt.nan_code is None or np.isnan(value[fmt.nan_code])
    assert fmt.has_zero == np.any(value == 0)
    assert fmt.is_signed == np.any(value < 0)
    assert fmt.has_negative_zero == np.any(np.signbit(value) & (value == 0))
    if fmt.nan_is_signed:
        assert np.isnan(value[fmt.nan_code | fmt.sign_bit])


@pytest.mark.parametrize("fmt", NARROW_FLOATS, ids=lambda f: f.name)
def test_quantum_is_the_distance_to_the_next_value(fmt):
    value = np.unique(values(fmt.name)[np.isfinite(values(fmt.name))])
    value = value[value > 0]
    exponent = np.frexp(value[:-1])[1] - 1
    assert [2.0 ** fmt.quantum_exponent(int(e)) for e in exponent] == np.diff(value).tolist()


@pytest.mark.parametrize(
    ("name", "bias", "largest", "nans", "infinities"),
    [
        ("float4_e2m1fn", 1, 6, 0, 0),
        ("float4_e1m2fn", 1, 1.75, 0, 0),
        ("float6_e2m3fn", 1, 7.5, 0, 0),
        ("float6_e3m2fn", 3, 28, 0, 0),
        ("float8_e4m3fn", 7, 448, 2, 0),
        ("float8_e4m3fnuz", 8, 240, 1, 0),
        ("float8_e5m2", 15, 57344, 6, 2),
        ("float8_e5m2fnuz", 16, 57344, 1, 0),
        ("float8_e4m3", 7, 240, 14, 2),
        ("float8_e3m4", 3, 15.5, 30, 2),
        ("float8_e4m3b11fnuz", 11, 30, 1, 0),
        ("float8_e8m0fnu", 127, 2.0**127, 1, 0),
        ("hifloat8", 0, 32768, 1, 2),
        ("float16", 15, 65504, 2046, 2),
        ("bfloat16", 127, 3.3895313892515355e38, 254, 2),
    ],
)
def test_published_facts(name, bias, largest, nans, infinities):
    fmt = get_format(name)
    decoded = lutcast.table(name, "float64")
    assert fmt.bias == bias
    assert decoded[fmt.max_code] == largest
    assert np.isnan(decoded).sum() == nans
    assert np.isinf(decoded).sum() == infinities


def test_sizes():
    assert [f.name for f in lutcast.formats() if f.itemsize * 8 > f.bits] == [
        "bool", "int2", "uint2", "int4", "uint4", "float4_e2m1fn", "float4_e1m2fn", "float6_e2m3fn", "float6_e3m2fn",
    ]  # fmt: skip
    assert [f.name for f in lutcast.formats() if f.is_narrow] == [f.name for f in NARROW]
    assert {f.name: f.part.name for f in lutcast.formats() if f.part} == {
        "complex32": "float16", "complex64": "float32", "complex128": "float64",
    }  # fmt: skip


def test_hifloat8_tapers():
    widths = {e: hifloat8_fraction_bits(e) for e in (0, 3, -3, 4, -7, 8, 15, -15, -16, -22)}
    assert widths == {0: 3, 3: 3, -3: 3, 4: 2, -7: 2, 8: 1, 15: 1, -15: 1, -16: 0, -22: 0}


@pytest.mark.parametrize("fmt", lutcast.formats(), ids=lambda f: f.name)
def test_formats_are_singletons(fmt):
    assert copy.deepcopy(fmt) is fmt
    assert pickle.loads(pickle.dumps(fmt)) is fmt
    assert get_format(fmt.name) is fmt
    assert repr(fmt) == f"<Format {fmt.name}>"
    with pytest.raises(FrozenInstanceError):
        fmt.bits = 7
