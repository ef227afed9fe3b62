"""All float16 and bfloat16 codes against gfloat, in the five roundings that it has."""

from __future__ import annotations

import gfloat
import numpy as np
import pytest
from gfloat.formats import format_info_ocp_e8m0
from witnesses import GFLOAT, codes, gfloat_format, values

import lutcast

ROUNDINGS = {
    "ties_to_even": gfloat.RoundMode.TiesToEven,
    "ties_to_away": gfloat.RoundMode.TiesToAway,
    "toward_zero": gfloat.RoundMode.TowardZero,
    "toward_negative": gfloat.RoundMode.TowardNegative,
    "toward_positive": gfloat.RoundMode.TowardPositive,
}


@pytest.mark.parametrize("name", GFLOAT)
def test_decode(name):
    # As float64: where lutcast puts the values of a format.
    expected = gfloat.decode_ndarray(gfloat_format(name), codes(name).astype(np.int64))
    got = lutcast.cast(codes(name), "float64", src=name)
    assert np.array_equal(got, expected, equal_nan=True)
    assert np.array_equal(np.signbit(got)[expected == 0], np.signbit(expected)[expected == 0])


@pytest.mark.parametrize("dst", GFLOAT)
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_floats_to_floats(dst, rounding):
    fmt, wrong = gfloat_format(dst), []
    for src in {"float16", "bfloat16"} - {dst}:
        # NaN, and infinity where a format has nothing for it, are refused by gfloat: left out there.
        kept = np.isfinite(values(src)) | (fmt.num_nans > 0)
        given = codes(src)[kept]
        for overflow in ("saturate", "ieee"):
            saturates = overflow == "saturate" or fmt.num_nans == 0
            expected = gfloat.round_ndarray(fmt, values(src)[kept], ROUNDINGS[rounding], saturates)
            cast = lutcast.cast(given, dst, src=src, rounding=rounding, overflow=overflow)
            got = lutcast.cast(cast, "float64", src=dst)
            is_same = np.array_equal(got, expected, equal_nan=True)
            if not is_same or np.any(np.signbit(got) != np.signbit(expected), where=expected == 0):
                wrong.append((src, overflow))
    assert wrong == []


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_float8_e8m0fnu(rounding):
    for src in ("float16", "bfloat16"):
        x = values(src)
        inside = (x >= 2.0**-127) & np.isfinite(x)
        mode = {"ties_to_even": "ties_to_away"}.get(rounding, rounding)  # both neighbours are odd
        expected = gfloat.round_ndarray(format_info_ocp_e8m0, x[inside], ROUNDINGS[mode], True)
        cast = lutcast.cast(codes(src)[inside], "float8_e8m0fnu", src=src, rounding=rounding)
        assert np.array_equal(lutcast.cast(cast, "float64"), expected)
