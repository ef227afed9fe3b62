"""Dumps that are wrong in a known way, made without the library where that is possible."""

from __future__ import annotations

import en_dtypes
import ml_dtypes
import numpy as np
import pytest

import lutcast
from lutcast.golden import Flags, vectors, verify

SIGN, INFINITY = 0x8000, 0x7F80


def to_bfloat16(codes, how):
    """Round float32 codes to bfloat16 in integers, NaN as a quiet NaN."""
    wide = codes.astype(np.uint64)
    half = wide + {"even": 0x7FFF + (wide >> 16 & 1), "up": 0x8000, "down": 0x7FFF, "truncate": 0}[how]
    result = (half >> 16).astype(np.uint16)
    nan = codes & 0x7FFFFFFF > 0x7F800000
    return np.where(nan, (codes >> 16 | 0x40).astype(np.uint16), result)


@pytest.fixture(scope="module")
def bfloat16():
    return vectors("float32", "bfloat16")


@pytest.fixture(scope="module")
def float8():
    return vectors("float32", "float8_e4m3fn", overflow="ieee")


def fault(got, golden, **options):
    verdict = verify(got, golden, **options)
    assert verdict.mismatches > 0
    assert verdict.causes[0].contradicted == 0
    assert sum(verdict.kinds.values()) == sum(verdict.histogram.values()) == verdict.mismatches
    return verdict.causes[0].fault if verdict.causes[0].explained == verdict.mismatches else verdict


def test_right(bfloat16):
    verdict = verify(to_bfloat16(bfloat16.inputs, "even"), bfloat16)
    assert verdict.is_equal
    assert (verdict.mismatches, verdict.kinds, verdict.histogram, verdict.first, verdict.causes) == (0, {}, {}, (), ())


@pytest.mark.parametrize(
    ("how", "expected"),
    [("up", "rounding ties_to_away"), ("down", "ties toward zero"), ("truncate", "rounding toward_zero")],
)
def test_rounding(bfloat16, how, expected):
    assert fault(to_bfloat16(bfloat16.inputs, how), bfloat16) == expected


def test_sticky_bits(bfloat16):
    codes = bfloat16.inputs
    guard, lowest = codes >> 15 & 1, codes >> 16 & 1
    got = ((codes >> 16) + (guard & lowest)).astype(np.uint16)
    got = np.where(codes & 0x7FFFFFFF > 0x7F800000, bfloat16.outputs, got)
    got = np.where(bfloat16.flags & Flags.OVERFLOW, bfloat16.outputs, got)
    assert fault(got, bfloat16) == "sticky bits ignored: a half and more taken for a tie"


def test_flushed(bfloat16):
    right = bfloat16.outputs
    out = np.where(right & INFINITY == 0, right & SIGN, right)
    assert fault(out, bfloat16) == "subnormal results flushed to zero"
    magnitudes = np.abs(bfloat16.inputs.view(np.float32))
    tiny = (magnitudes < 2.0**-126) & (magnitudes > 0)
    assert fault(np.where(tiny, right & SIGN, right), bfloat16) == "subnormal inputs flushed to zero"
    assert fault(np.where(tiny, right & 0, right), bfloat16) == "subnormal inputs flushed to zero, without sign"


def test_carry(bfloat16):
    codes, right = bfloat16.inputs, bfloat16.outputs
    wide = codes & 0x7FFFFFFF
    fraction = ((wide & 0x7FFFFF) + 0x7FFF + (wide >> 16 & 1)) >> 16
    got = (codes >> 16 & 0xFF80 | fraction & 0x7F).astype(np.uint16)
    got = np.where((wide >= 0x7F800000) | (bfloat16.flags & Flags.OVERFLOW != 0), right, got)
    assert fault(got, bfloat16) == "carry into the exponent lost: half the value below powers of two"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda nan, sign: np.full_like(nan, 0x7FC0), None),
        (lambda nan, sign: sign | 0x7FC0, "NaN becomes NaN of its sign"),
        (lambda nan, sign: sign | INFINITY, "NaN becomes infinity of its sign"),
        (lambda nan, sign: np.full_like(nan, INFINITY), "NaN becomes infinity"),
        (lambda nan, sign: np.full_like(nan, 0x7F7F), "NaN becomes the largest finite value"),
        (lambda nan, sign: np.full_like(nan, SIGN), "NaN becomes -0"),
        (lambda nan, sign: np.zeros_like(nan), "NaN becomes 0"),
        (lambda nan, sign: nan & 0x7FFF, "sign of NaN lost"),
    ],
)
def test_nan(bfloat16, change, expected):
    right = bfloat16.outputs
    is_nan = right & 0x7FFF > INFINITY
    got = np.where(is_nan, change(right, right & SIGN), right)
    found = fault(got, bfloat16)
    assert found == (expected or "NaN becomes NaN without sign")
    kinds = verify(got, bfloat16).kinds
    assert set(kinds) == {"NaN"}
    if expected is None:
        assert verify(got, bfloat16, any_nan=True).is_equal


def test_signs_lost(bfloat16):
    right = bfloat16.outputs
    got = np.where(right == SIGN, 0, right).astype(np.uint16)
    verdict = verify(got, bfloat16)
    assert verdict.causes[0].fault == "sign of zero lost"
    assert (set(verdict.kinds), set(verdict.histogram)) == ({"sign of zero"}, {"0"})


def test_overflow(float8):
    inputs = float8.inputs.view(np.float32)
    right, sign = float8.outputs, float8.inputs >> 31 << 7
    early = (np.abs(inputs) > 448) & np.isfinite(inputs)
    late = (np.abs(inputs) < 480) & early
    assert fault(np.where(early, sign | 0x7F, right).astype(np.uint8), float8) == (
        "overflow decided before rounding: from the largest finite value on"
    )
    assert fault(np.where(late, sign | 0x7E, right).astype(np.uint8), float8) == (
        "overflow a step too late: clamped up to where the next value would be"
    )
    clamped = np.where(early | np.isinf(inputs), sign | 0x7E, right).astype(np.uint8)
    assert fault(clamped, float8) == "overflow saturate"


def test_bias(bfloat16):
    with np.errstate(over="ignore", invalid="ignore"):
        halves = (bfloat16.inputs.view(np.float32) / np.float64(2)).astype(np.float64)
    assert fault(lutcast.cast(halves, "bfloat16").view(np.uint16), bfloat16, any_nan=True) == (
        "exponent bias off by one: half the value"
    )


def test_another_format(float8):
    got = float8.inputs.view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        got = got.astype(ml_dtypes.float8_e4m3fnuz).view(np.uint8)
    assert fault(got, float8) == "the result is float8_e4m3fnuz"


def test_another_source():
    golden = vectors("float16", "int8")
    codes = np.arange(65536, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        values = np.trunc(codes.view(ml_dtypes.bfloat16).astype(np.float64))
    got = np.nan_to_num(values, nan=0.0).clip(-128, 127).astype(np.int8)
    assert fault(got, golden) == "the source is taken for bfloat16"


def test_orders(bfloat16):
    four = vectors("float16", "float4_e2m1fn")
    swapped = four.outputs.reshape(-1, 2)[:, ::-1].reshape(-1)
    assert fault(swapped, four) == "the 2 codes of each byte in reverse order"
    assert fault(bfloat16.outputs.byteswap(), bfloat16) == "bytes of each element swapped"
    late = np.concatenate([bfloat16.outputs[:1], bfloat16.outputs[:-1]])
    assert fault(late, bfloat16) == "results 1 vector late"
    byte = vectors("float16", "float8_e5m2")
    assert fault(byte.outputs >> 4 | byte.outputs << 4, byte) == "nibbles swapped"


def test_hybrid_for_round():
    golden = vectors("float16", "hifloat8", rounding="ties_to_away")
    hybrid = vectors("float16", "hifloat8", rounding="hybrid").outputs
    assert fault(hybrid, golden) == "rounding hybrid"


def test_e8m0_has_four_rules_in_use():
    golden = vectors("float32", "float8_e8m0fnu", rounding="ties_to_even")
    exponent = (golden.inputs >> 23 & 0xFF).astype(np.uint8)  # the floor, for positive normal values
    is_plain = (golden.inputs >> 31 == 0) & (exponent > 0) & (exponent < 255)
    got = np.where(is_plain, exponent, golden.outputs)
    assert "rounding toward_zero" in [cause.fault for cause in verify(got, golden).causes[:3]]


def test_double_rounding():
    golden = vectors("float64", "float8_e4m3fn", overflow="ieee")
    with np.errstate(over="ignore", invalid="ignore"):  # the way ml_dtypes went by itself before 0.7
        got = golden.inputs.view(np.float64).astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
    verdict = verify(got, golden, any_nan=True)
    assert verdict.mismatches > 200
    assert verdict.causes[0].fault == "through float32 first"
    assert (verdict.causes[0].explained, verdict.unexplained) == (verdict.mismatches, 0)
    assert verdict.histogram["-1"] == verdict.histogram["+1"]


def test_numpy_to_uint8():
    golden = vectors("float32", "uint8")
    with np.errstate(invalid="ignore"):
        got = golden.inputs.view(np.float32).astype(np.int64).astype(np.uint8)
    verdict = verify(got, golden)
    assert verdict.mismatches > 1000
    assert "then its low bits" in verdict.causes[0].fault
    assert verdict.unexplained == 0


def test_en_dtypes_hifloat8():
    golden = vectors("float32", "hifloat8", rounding="ties_to_even", overflow="ieee")
    with np.errstate(over="ignore", invalid="ignore"):
        got = golden.inputs.view(np.float32).astype(en_dtypes.hifloat8)
    verdict = verify(got, golden)
    assert verdict.mismatches > 0
    assert verdict.causes[0].fault == "rounding ties_to_away"


def test_two_faults_at_once(bfloat16):
    got = to_bfloat16(bfloat16.inputs, "truncate")
    got = np.where(got & 0x7FFF > INFINITY, INFINITY, got).astype(np.uint16)
    verdict = verify(got, bfloat16)
    assert [cause.fault for cause in verdict.causes[:2]] == ["rounding toward_zero", "NaN becomes infinity"]
    assert verdict.unexplained == 0


def test_noise_has_no_cause(bfloat16):
    rng = np.random.default_rng(0)
    got = rng.integers(0, 1 << 16, len(bfloat16), dtype=np.uint16)
    verdict = verify(got, bfloat16, first=3)
    assert verdict.unexplained > 0.99 * verdict.mismatches
    assert len(verdict.first) == 3


def test_mismatch_is_decoded(bfloat16):
    got = bfloat16.outputs.copy()
    index = int(np.flatnonzero(bfloat16.inputs == 0x3F808000)[0])
    got[index] += 2
    (mismatch,) = verify(got, bfloat16).first
    assert (mismatch.index, mismatch.input, mismatch.input_value) == (index, "3f808000", "1.00390625")
    assert (mismatch.expected, mismatch.got, mismatch.got_value) == ("3f80", "3f82", "1.015625")
    assert (mismatch.steps, mismatch.kind) == (2, "tie")
    assert verify(got, bfloat16).as_dict()["first"][0]["steps"] == 2


@pytest.mark.parametrize("dst", [f.name for f in lutcast.formats() if f.part is None])
def test_every_destination_is_verified(dst):
    golden = vectors("float16", dst)
    got = golden.outputs ^ np.array(1, golden.outputs.dtype)
    verdict = verify(got, golden)
    assert verdict.mismatches == sum(verdict.kinds.values()) == sum(verdict.histogram.values()) == 65536


@pytest.mark.parametrize(
    ("got", "message"),
    [
        (np.zeros(3, np.uint16), "got: 3 results given, the golden has 391692 vectors"),
        (np.zeros(3, np.uint32), "got: dtype uint32 given; results in bfloat16 or codes in uint16 are needed"),
    ],
)
def test_errors(bfloat16, got, message):
    with pytest.raises(ValueError, match=message):
        verify(got, bfloat16)
