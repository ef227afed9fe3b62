"""HiFloat8 by a second implementation, written from the vendor's description; nothing of lutcast in it."""

from __future__ import annotations

import csv
from bisect import bisect_right
from fractions import Fraction
from pathlib import Path

import en_dtypes
import numpy as np
import pytest

from lutcast import ascend

DATA = Path(__file__).parents[1] / "data"
NAN, INFINITY, LARGEST = 0x80, 0x6F, 0x6E
FIELDS = {0b01: (2, 3), 0b10: (3, 2), 0b11: (4, 1)}  # by two leading bits: exponent and mantissa bits


def magnitude_of(code):
    """Return the value of the low seven bits of a finite code."""
    if code < 8:
        return Fraction(2) ** (code - 23) if code else Fraction(0)
    if code < 16:
        return 1 + Fraction(code & 7, 8)
    if code < 32:
        exponent, mantissa, bits = (-1 if code & 8 else 1), code & 7, 3
    else:
        width, bits = FIELDS[code >> 5]
        field, mantissa = code >> bits & (1 << width) - 1, code & (1 << bits) - 1
        exponent = 1 << width - 1 | field & (1 << width - 1) - 1
        exponent = -exponent if field >> width - 1 else exponent
    return (1 + Fraction(mantissa, 1 << bits)) * Fraction(2) ** exponent


FINITE = sorted((magnitude_of(code), code) for code in range(128) if code != INFINITY)
VALUES = [value for value, _ in FINITE]
CODES = [code for _, code in FINITE]


def exponent_of(magnitude):
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= magnitude else exponent - 1


def code_above(index):
    return CODES[index] if index < len(CODES) else INFINITY


def round_away(magnitude):
    """CAST_ROUND of a magnitude: the nearest, a tie upward."""
    if magnitude >= 40960:
        return INFINITY
    lower = bisect_right(VALUES, magnitude) - 1
    above = VALUES[lower + 1] if lower + 1 < len(VALUES) else Fraction(49152)
    if lower == 0:
        return 1 if magnitude >= Fraction(2) ** -23 else 0
    return code_above(lower + (magnitude - VALUES[lower] >= above - magnitude))


def hybrid(magnitude, head, threshold):
    """CAST_HYBRID of a magnitude, given what is compared; as CAST_ROUND where it is not used."""
    exponent = exponent_of(magnitude) if magnitude else 0
    if magnitude >= 40960 or magnitude < Fraction(2) ** -23 or abs(exponent) < 4:
        return round_away(magnitude)
    lower = bisect_right(VALUES, magnitude) - 1
    return code_above(lower + (head >= threshold))


def half_head(code, magnitude):
    """F and T from half: two bits of the normalised mantissa, against the last stored bit and a 1."""
    exponent = exponent_of(magnitude)
    m = int(magnitude / Fraction(2) ** exponent * 1024) & 1023
    size = abs(exponent)
    if exponent == -23:
        head = 2 | m >> 9
    elif exponent < -15:
        head = m >> 8 & 3
    else:
        head = m >> 6 & 3 if size < 8 else m >> 7 & 3
    return head, (code & 1) << 1 | 1


def float_head(code, magnitude):
    """F and T from float: fourteen bits of the mantissa against its low fourteen."""
    exponent = exponent_of(magnitude)
    m = code & 0x7FFFFF
    size = abs(exponent)
    if exponent == -23:
        head = 1 << 13 | m >> 10
    elif exponent < -15:
        head = m >> 9
    else:
        head = m >> 7 & 0x3FFF if size < 8 else m >> 8 & 0x3FFF
    return head, m & 0x3FFF


def convert(code, value, is_hybrid, saturates, heads):
    if value != value:
        return 0 if saturates else NAN
    sign = 0x80 if np.signbit(value) else 0
    if abs(value) == np.inf:
        result = INFINITY
    else:
        magnitude = abs(Fraction(float(value)))
        used = is_hybrid and magnitude >= Fraction(2) ** -23
        result = hybrid(magnitude, *heads(code, magnitude)) if used else round_away(magnitude)
    if result == INFINITY and saturates:
        result = LARGEST
    return sign | result if result else 0


@pytest.mark.parametrize("saturates", [True, False])
@pytest.mark.parametrize("mode", ["CAST_ROUND", "CAST_HYBRID"])
def test_every_half(mode, saturates):
    codes = np.arange(1 << 16, dtype=np.uint16)
    got = ascend.cast(codes.view(np.float16), "hifloat8_t", mode, control=ascend.Control(saturate_float=saturates))
    is_hybrid = mode == "CAST_HYBRID"
    expected = [
        convert(code, value, is_hybrid, saturates, half_head)
        for code, value in zip(codes.tolist(), codes.view(np.float16).tolist(), strict=True)
    ]
    assert got.tolist() == expected


@pytest.mark.parametrize("saturates", [True, False])
@pytest.mark.parametrize("mode", ["CAST_ROUND", "CAST_HYBRID"])
def test_floats(mode, saturates, rng):
    exponents = rng.integers(127 - 26, 127 + 18, 12000).astype(np.uint32)
    codes = rng.integers(0, 2, 12000, np.uint32) << 31 | exponents << 23 | rng.integers(0, 1 << 23, 12000, np.uint32)
    borders = np.array([float(v) for v in VALUES[1:]] + [40960.0, 49152.0, 2.0**-24], np.float32).view(np.uint32)
    specials = np.array([0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 1, 0x7F7FFFFF], np.uint32)
    codes = np.concatenate((codes, borders, borders - 1, borders + 1, borders | 0x80000000, specials))
    got = ascend.cast(codes.view(np.float32), "hifloat8_t", mode, control=ascend.Control(saturate_float=saturates))
    is_hybrid = mode == "CAST_HYBRID"
    expected = [
        convert(code, value, is_hybrid, saturates, float_head)
        for code, value in zip(codes.tolist(), codes.view(np.float32), strict=True)
    ]
    assert got.tolist() == expected


def test_round_equals_en_dtypes():
    codes = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(all="ignore"):
        expected = codes.view(np.float16).astype(en_dtypes.hifloat8).view(np.uint8)
    got = ascend.cast(codes.view(np.float16), "hifloat8_t", "CAST_ROUND", control=ascend.Control(saturate_float=False))
    assert np.array_equal(got, expected)


def test_decoding():
    rows = list(csv.DictReader((DATA / "hifloat8_decode.tsv").read_text().splitlines(), delimiter="\t"))
    codes = np.arange(256, dtype=np.uint8)
    off = ascend.Control(saturate_float=False)
    for dst in ("float", "half"):
        got = ascend.cast(codes, dst, "CAST_NONE", src_type="hifloat8_t", control=off).astype(np.float64)
        for code, value in enumerate(got.tolist()):
            if code in (NAN, INFINITY, INFINITY | 0x80):
                assert not np.isfinite(value)
                continue
            assert abs(Fraction(value)) == magnitude_of(code & 0x7F)
            assert (value < 0) == (code > 0x80)
    assert len(rows) == 256


@pytest.mark.parametrize("saturates", [True, False])
def test_vectors(saturates):
    rows = list(csv.DictReader((DATA / "hifloat8_vectors.tsv").read_text().splitlines(), delimiter="\t"))
    control = ascend.Control(saturate_float=saturates)
    suffix = "saturate_nan_zero" if saturates else "ieee"
    assert len(rows) > 50
    for row in rows:
        src = {"float32": np.uint32, "float16": np.uint16}[row["src"]]
        x = np.array([int(row["src_bits_hex"], 16)], src).view(row["src"])
        for mode in ("round", "hybrid"):
            got = ascend.cast(x, "hifloat8_t", f"CAST_{mode.upper()}", control=control)
            assert got.tolist() == [int(row[f"{mode}_{suffix}"], 16)], row
