"""hifloat8 and float4_e1m2fn against en_dtypes, the vendor's package; the published tables of hifloat8."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from en_dtypes import float4_e1m2, hifloat8
from witnesses import codes, values

import lutcast
from lutcast import exact, get_format
from lutcast.policy import resolve

DATA = Path(__file__).parents[1] / "data"
HIFLOAT8 = get_format("hifloat8")
VECTOR_COLUMNS = ("ties_to_away/ieee/keep", "ties_to_away/saturate/zero", "hybrid/ieee/keep", "hybrid/saturate/zero")


def rows(name):
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:]]


@pytest.mark.parametrize("src", ["float16", "bfloat16", "float8_e5m2", "float8_e4m3fn", "int8"])
def test_to_hifloat8(src):
    expected = values(src).astype(np.float32).astype(hifloat8).view(np.uint8)
    got = lutcast.cast(codes(src), "hifloat8", src=src, rounding="ties_to_away", overflow="ieee")
    assert np.array_equal(got, expected)


def test_float32_to_hifloat8(rng):
    given = rng.integers(0, 1 << 32, 1 << 20, dtype=np.uint32)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = given.view(np.float32).astype(hifloat8).view(np.uint8)
    got = lutcast.cast(given, "hifloat8", src="float32", rounding="ties_to_away", overflow="ieee")
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("src", ["float16", "bfloat16", "float8_e5m2"])
def test_to_float4_e1m2fn(src):
    with_value = ~np.isnan(values(src))
    expected = values(src)[with_value].astype(np.float32).astype(float4_e1m2).view(np.uint8)
    got = lutcast.cast(codes(src)[with_value], "float4_e1m2fn", src=src)
    assert np.array_equal(got, expected)


def test_arrays_of_en_dtypes():
    given = np.array([1.75, -40960.0, np.nan], hifloat8)
    assert lutcast.cast(given, "float32").tolist()[:2] == [1.75, -np.inf]
    assert np.array_equal(lutcast.cast(given, "hifloat8").view(np.uint8), given.view(np.uint8))


def test_published_values():
    table = rows("hifloat8_decode.tsv")
    assert [int(code, 16) for code, _, _ in table] == list(range(256))
    got = lutcast.table("hifloat8", "float64")
    for code, value, fraction in table:
        code = int(code, 16)
        assert np.array_equal(got[code], float(value), equal_nan=True)
        if np.isfinite(float(value)):
            number = exact.decode(code, HIFLOAT8)
            magnitude = number.significand * Fraction(2) ** number.exponent
            assert (-magnitude if number.negative else magnitude) == Fraction(fraction)


@pytest.mark.parametrize("column", VECTOR_COLUMNS)
def test_published_vectors(column):
    at = 3 + VECTOR_COLUMNS.index(column)
    rounding, overflow, nan = column.split("/")
    for row in rows("hifloat8_vectors.tsv"):
        src, code, right = get_format(row[0]), int(row[1], 16), int(row[at], 16)
        policy = resolve(src, HIFLOAT8, rounding, overflow, nan)
        assert exact.cast_code(code, src, HIFLOAT8, policy) == right, row
        given = np.array([code], f"u{src.itemsize}")
        options = {"rounding": rounding, "overflow": overflow, "nan": nan}
        assert lutcast.cast(given, "hifloat8", src=src, **options).tolist() == [right], row
        if src.is_narrow:
            assert lutcast.table(src, "hifloat8", **options)[code] == right, row
