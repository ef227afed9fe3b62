"""Every table into an integer, a bool or a wider float, all codes, against NumPy in float64.

All values of a narrow format are exact in float64, and so is what is done to them here.
"""

from __future__ import annotations

import numpy as np
import pytest
from oracle import ROUNDINGS
from witnesses import INTEGERS, NARROW, codes, dtype, values

import lutcast


def is_odd(x):
    return np.isfinite(x) & (np.fmod(x, 2, where=np.isfinite(x), out=np.zeros_like(x)) != 0)


ROUNDS = {
    "ties_to_even": np.rint,
    "ties_to_away": lambda x: np.trunc(x + np.copysign(0.5, x)),
    "toward_zero": np.trunc,
    "toward_negative": np.floor,
    "toward_positive": np.ceil,
    "to_odd": lambda x: np.where(is_odd(np.floor(x)), np.floor(x), np.ceil(x)),
    "away_from_zero": lambda x: np.copysign(np.ceil(np.abs(x)), x),
}


@pytest.mark.parametrize("dst", [f.name for f in INTEGERS])
def test_tables_into_integers(dst):
    fmt = lutcast.get_format(dst)
    low, high, size = fmt.min_integer, fmt.max_integer, 2.0**fmt.bits
    wrong = []
    for src in [f.name for f in NARROW if f.name != dst]:
        x = values(src)
        for rounding in ROUNDINGS:
            whole = ROUNDS[rounding](x)
            saturated = np.clip(np.nan_to_num(whole), low, high)
            wrapped = np.where(np.isfinite(x), np.mod(np.where(np.isfinite(x), whole, 0), size), saturated)
            for overflow, expected in (("saturate", saturated), ("wrap", wrapped)):
                table = lutcast.table(src, dst, rounding=rounding, overflow=overflow)
                if not np.array_equal(table.view(f"u{table.itemsize}"), expected.astype(np.int64) & fmt.mask):
                    wrong.append((src, rounding, overflow))
    assert wrong == []


@pytest.mark.parametrize("src", [f.name for f in NARROW])
def test_tables_into_bool(src):
    assert np.array_equal(lutcast.table(src, "bool"), values(src) != 0)


@pytest.mark.parametrize("src", ["float16", "bfloat16", "float8_e5m2", "float8_e4m3fn", "int16", "uint8"])
@pytest.mark.parametrize("dst", ["float32", "float64"])
def test_widening_is_astype(src, dst):
    given = codes(src).view(dtype(src))
    got = lutcast.cast(given, dst)
    with np.errstate(invalid="ignore"):
        expected = given.astype(dst)
    assert got.dtype == dst
    assert np.array_equal(got, expected, equal_nan=True)
    assert np.array_equal(np.signbit(got), np.signbit(expected))


@pytest.mark.parametrize("fmt", ["float16", "bfloat16"])
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_round_to_integral(fmt, rounding):
    got = lutcast.round_to_integral(codes(fmt).view(dtype(fmt)), rounding=rounding)
    got = got.astype(np.float32).astype(np.float64)
    expected = ROUNDS[rounding](values(fmt))
    assert np.array_equal(got, expected, equal_nan=True)
    assert np.array_equal(np.signbit(got), np.signbit(values(fmt)))
