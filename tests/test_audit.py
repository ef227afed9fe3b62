"""`audit` by hand, and against sums of exact fractions."""

import dataclasses
import math
import tracemalloc
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import lutcast
from lutcast import exact
from lutcast.audit import Auditor
from lutcast.names import array_dtype
from lutcast.policy import Overflow, Rounding, resolve


def audit(x, dtype, **options):
    return dataclasses.asdict(lutcast.audit(x, dtype, **options))


def expect(**fields):
    """Return the fields of an audit, zero where not given."""
    counts = dict.fromkeys(lutcast.Audit.__dataclass_fields__, 0)
    return counts | {"snr_db": math.inf} | fields


def value_of(code, fmt):
    """Return an exact value, or a float that is infinite or NaN."""
    number = exact.decode(code, fmt)
    sign = -1 if number.negative else 1
    if number.kind != "finite":
        return math.nan if number.kind == "nan" else sign * math.inf
    return sign * number.significand * Fraction(2) ** number.exponent


def is_beyond(code, src, dst, policy):
    """Whether a finite value is beyond the range of a destination once rounded."""
    number = exact.decode(code, src)
    if number.kind != "finite" or dst.kind == "bool":
        return False
    if policy.rounding is Rounding.HYBRID:
        return exact.cast_code(code, src, dst, policy._replace(overflow=Overflow.IEEE)) & 0x7F == dst.infinity_code
    rounded = exact.round_to_grid(number, dst, policy.rounding)
    if dst.kind == "int":
        value = exact.in_units(rounded, 0) * (-1 if rounded.negative else 1)
        return not dst.min_integer <= value <= dst.max_integer
    return exact.is_beyond_max(rounded, dst)


def reference(codes, src, dst, policy):
    """Return an audit, added up in fractions."""
    total = expect(elements=len(codes))
    largest, signal, noise = Fraction(0), Fraction(0), Fraction(0)
    for code in codes:
        before = value_of(code, src)
        after = value_of(exact.cast_code(code, src, dst, policy), dst)
        was_nan, is_finite, stays_finite = before != before, isinstance(before, Fraction), isinstance(after, Fraction)
        beyond = is_beyond(code, src, dst, policy)
        total["nan_in"] += was_nan
        total["nan_out"] += after != after
        total["inexact"] += not was_nan and (before != after or beyond)
        clamps = stays_finite and policy.overflow != "wrap"
        total["saturated"] += (beyond and clamps) or (not was_nan and not is_finite and stays_finite)
        total["overflowed"] += beyond and not clamps
        total["flushed_to_zero"] += is_finite and before != 0 and after == 0
        if is_finite and stays_finite:
            largest = max(largest, abs(after - before))
            signal += before**2
            noise += (after - before) ** 2
    total["max_abs_error"] = float(largest)
    if noise:
        ratio = signal / noise
        log = math.log2(ratio.numerator) - math.log2(ratio.denominator) if ratio else -math.inf
        total["snr_db"] = 10 * log * math.log10(2)
    return total


def random_codes(fmt, n=1500):
    """Return codes near 1, near the ends, and anywhere."""
    rng = np.random.default_rng(fmt.bits)
    spread = [int.from_bytes(rng.bytes(8)) >> (64 - fmt.bits) for _ in range(n)]
    if fmt.kind == "int":
        ends = [fmt.max_integer, fmt.min_integer & fmt.mask, fmt.max_integer - 1, 0, 1, fmt.mask]
        return spread + ends + [int(code) & fmt.mask for code in rng.integers(-500, 500, n)]
    values = rng.standard_normal(n) * 2.0 ** rng.integers(-20, 20, n)
    near = lutcast.cast(values, fmt).view(f"u{fmt.itemsize}").astype(object).tolist()
    ends = [0, fmt.sign_bit, fmt.max_code, fmt.max_code | fmt.sign_bit, 1]
    return spread + near + ends + [c for c in (fmt.infinity_code, fmt.nan_code) if c is not None]


CASES = [
    ("float32", "float8_e4m3fn", {}),
    ("float32", "float8_e4m3fn", {"overflow": "ieee"}),
    ("float32", "float8_e5m2", {"overflow": "ieee", "rounding": "toward_zero"}),
    ("float32", "float16", {"rounding": "ceil"}),
    ("float32", "bfloat16", {"overflow": "saturate"}),
    ("float32", "float4_e2m1fn", {"rounding": "round"}),
    ("float32", "float8_e8m0fnu", {}),
    ("float32", "int8", {"overflow": "wrap"}),
    ("float32", "hifloat8", {"rounding": "hybrid"}),
    ("float16", "hifloat8", {"rounding": "hybrid", "overflow": "ieee"}),
    ("float64", "float32", {}),
    ("float64", "float8_e3m4", {"rounding": "odd"}),
    ("float64", "int64", {}),
    ("float64", "uint64", {"rounding": "rint"}),
    ("float64", "int32", {"overflow": "wrap", "rounding": "floor"}),
    ("float16", "float8_e4m3fnuz", {"rounding": "away_from_zero"}),
    ("bfloat16", "float16", {"nan": "zero"}),
    ("float8_e5m2", "int4", {}),
    ("hifloat8", "float4_e1m2fn", {}),
    ("int64", "float64", {}),
    ("int64", "float32", {"rounding": "floor"}),
    ("int64", "float8_e5m2", {"overflow": "ieee"}),
    ("uint64", "bfloat16", {"rounding": "trunc"}),
    ("uint64", "float64", {"rounding": "odd"}),
    ("uint64", "int64", {}),
    ("uint64", "int64", {"overflow": "wrap"}),
    ("int64", "uint64", {}),
    ("int64", "uint16", {"overflow": "wrap"}),
    ("int32", "float16", {}),
    ("int16", "int4", {}),
    ("int4", "uint2", {"overflow": "wrap"}),
    ("float32", "bool", {}),
    ("bool", "float8_e4m3fn", {}),
    ("float32", "float32", {"nan": "zero"}),
]


@pytest.mark.parametrize(
    ("source", "destination", "options"), CASES, ids=[f"{s}-{d}-{i}" for i, (s, d, _) in enumerate(CASES)]
)
def test_counts_and_sums_of_exact_fractions(source, destination, options):
    src, dst = lutcast.get_format(source), lutcast.get_format(destination)
    codes = random_codes(src) if src.kind != "bool" else [0, 1, 1]
    x = np.array(codes, f"u{src.itemsize}")
    options_of = {"rounding": None, "overflow": None, "nan": "keep"} | options
    expected = reference(codes, src, dst, resolve(src, dst, *options_of.values()))
    for array in (x, x.astype(x.dtype.newbyteorder(">")), x.view(array_dtype(src)), np.repeat(x, 2)[::-2]):
        result = audit(array, dst, src=src, **options)
        for field in ("max_abs_error", "snr_db"):
            assert result[field] == pytest.approx(expected[field], rel=1e-12), field
        assert result | {"max_abs_error": 0, "snr_db": 0} == expected | {"max_abs_error": 0, "snr_db": 0}


@pytest.mark.parametrize(
    ("x", "dtype", "options", "fields"),
    [
        ([], "float16", {}, {}),
        ([0.0, -0.0, 1.0], "float8_e4m3fn", {}, {}),
        ([3.0, 4.25], "int8", {}, {"inexact": 1, "max_abs_error": 0.25, "snr": 27.0625 / 0.0625}),
        ([np.nan, np.nan], "float16", {}, {"nan_in": 2, "nan_out": 2}),
        ([np.nan, np.nan], "int8", {}, {"nan_in": 2}),
        ([np.inf, -np.inf], "float16", {}, {}),
        ([np.inf, -np.inf], "float8_e4m3fn", {}, {"inexact": 2, "saturated": 2}),
        ([np.inf], "float8_e4m3fn", {"overflow": "ieee"}, {"inexact": 1, "nan_out": 1}),
        ([np.inf], "int8", {"overflow": "wrap"}, {"inexact": 1, "saturated": 1}),
        ([464.0], "float8_e4m3fn", {}, {"inexact": 1, "max_abs_error": 16.0, "snr": 29**2}),
        ([480.0], "float8_e4m3fn", {}, {"inexact": 1, "saturated": 1, "max_abs_error": 32.0, "snr": 15**2}),
        ([1e6], "float16", {}, {"inexact": 1, "overflowed": 1}),
        ([1e-9], "float16", {}, {"inexact": 1, "flushed_to_zero": 1, "max_abs_error": 1e-9, "snr": 1}),
        ([512], "uint8", {"overflow": "wrap"},
         {"inexact": 1, "overflowed": 1, "flushed_to_zero": 1, "max_abs_error": 512.0, "snr": 1}),
        ([0.0, 0.5], "bool", {}, {"inexact": 1, "max_abs_error": 0.5, "snr": 1}),
        ([0.0], "float8_e8m0fnu", {}, {"inexact": 1, "max_abs_error": 2.0**-127, "snr": 0}),
        ([2**63 + 1], "float64", {}, {"inexact": 1, "max_abs_error": 1.0, "snr": 2**126}),
        ([2**63], "int64", {}, {"inexact": 1, "saturated": 1, "max_abs_error": 1.0, "snr": 2**126}),
        ([2.0**63], "int64", {}, {"inexact": 1, "saturated": 1, "max_abs_error": 1.0, "snr": 2**126}),
        ([2.0**64], "uint64", {}, {"inexact": 1, "saturated": 1, "max_abs_error": 1.0, "snr": 2**128}),
        ([-1], "uint64", {}, {"inexact": 1, "saturated": 1, "flushed_to_zero": 1, "max_abs_error": 1.0, "snr": 1}),
        ([1 + 0.1j, 2], "float16", {}, {}),
        ([1 + 3j, 2], "complex64", {}, {"elements": 4}),
    ],
    ids=str,
)  # fmt: skip
def test_by_hand(x, dtype, options, fields):
    result = audit(x, dtype, **options)
    expected = expect(elements=len(x)) | fields
    snr = expected.pop("snr", math.inf)
    expected["snr_db"] = pytest.approx(10 * math.log10(snr) if snr else -math.inf, abs=1e-9)
    assert result == expected


@pytest.mark.parametrize(
    ("largest", "dst"), [(1e308, "float32"), (1.7e308, "int8"), (1e-308, "float8_e5m2"), (5e-324, "float64")]
)
def test_extremes_of_float64(largest, dst):
    x = np.array([largest, -largest, largest / 3 * 2])
    result = lutcast.audit(x, dst, overflow="saturate")
    fmt = lutcast.get_format(dst)
    codes = x.view(np.uint64).tolist()
    source = lutcast.get_format("float64")
    expected = reference(codes, source, fmt, resolve(source, fmt, None, "saturate", "keep"))
    assert result.max_abs_error == pytest.approx(expected["max_abs_error"], rel=1e-12)
    assert result.snr_db == pytest.approx(expected["snr_db"], abs=1e-9)


def test_complex_parts_are_audited_singly():
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(999) + 1j * rng.standard_normal(999)).astype(np.complex64)
    parts = lutcast.audit(x.view(np.float32), "float16")
    assert lutcast.audit(x, "complex32") == parts
    assert lutcast.audit(x.astype(">c8")[::-1][::-1], "complex32") == parts
    assert lutcast.audit(x, "float16") == lutcast.audit(x.real.copy(), "float16")
    assert lutcast.audit(x.real.copy(), "complex32") == lutcast.audit(x.real.copy(), "float16")
    with pytest.raises(lutcast.UnsupportedCast, match=r"complex64 to bool"):
        lutcast.audit(x, "bool")


@pytest.mark.parametrize(
    "view",
    [lambda a: a.T, lambda a: a[::-2, 3:], lambda a: a.reshape(10, -1, 50), lambda a: np.broadcast_to(a[:1], a.shape)],
    ids=["transposed", "strided", "3-D", "broadcast"],
)
def test_blocks_add_up(view):
    rng = np.random.default_rng(1)
    x = view((rng.standard_normal((600, 500)) * 10.0 ** rng.integers(-9, 6, (600, 500))).astype(np.float32))
    result = lutcast.audit(x, "float8_e4m3fn")
    y = lutcast.cast(x, "float8_e4m3fn").astype(np.float64)
    wide = x.astype(np.float64)
    assert result.elements == x.size
    assert result.inexact == np.count_nonzero(y != wide)
    assert result.saturated == np.count_nonzero(np.abs(wide) > 464)
    assert result.flushed_to_zero == np.count_nonzero((y == 0) & (wide != 0))
    assert result.max_abs_error == np.abs(y - wide).max()
    assert result.snr_db == pytest.approx(10 * np.log10((wide**2).sum() / ((y - wide) ** 2).sum()), abs=1e-9)


@pytest.mark.parametrize("shape", [(3_000_000,), (3, 1_000_000), (1, 1, 3_000_000), (3_000_000, 1)])
@pytest.mark.parametrize("src", ["float32", "int64"])
def test_no_array_as_large_as_the_source(shape, src):
    x = np.ones(shape, src)
    lutcast.audit(x[:1, :1] if x.ndim > 1 else x[:1], "float16")
    tracemalloc.start()
    try:
        result = lutcast.audit(x, "float16")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.elements == 3_000_000
    assert peak < 8 << 20


def test_codes_and_records():
    codes = np.array([0, 1, 0x38, 0x7F], np.uint8)
    result = lutcast.audit(codes, "int8", src="float8_e4m3fn")
    assert result == lutcast.audit(codes.view(ml_dtypes.float8_e4m3fn), "int8")
    assert (result.elements, result.nan_in, result.flushed_to_zero) == (4, 1, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.elements = 5
    assert lutcast.audit(np.float32(1.5), "int8").elements == 1
    assert [type(value) for value in dataclasses.astuple(result)] == [int] * 7 + [float] * 2


def test_pieces_are_audited_like_the_whole():
    x = np.random.default_rng(3).normal(size=3 << 13).astype(np.float32)
    dst = lutcast.get_format("float8_e4m3fn")
    auditor = Auditor(
        lutcast.get_format("float32"), dst, resolve(lutcast.get_format("float32"), dst, None, None, "keep")
    )
    for piece in np.split(x, 3):
        auditor.add(piece)
    assert auditor.result() == lutcast.audit(x, dst)


def test_a_tiny_error_beside_a_64_bit_integer_is_seen():
    just_above = np.array([-1.9999999999999998, 2.0, 4503599627370495.5])
    assert lutcast.audit(just_above, "int64", rounding="ties_to_even").inexact == 2
    assert lutcast.audit(np.array([2**53 + 1, 2**62 + 1, 5]), "float64").inexact == 2
