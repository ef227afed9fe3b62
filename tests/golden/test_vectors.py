"""Vectors: their results, their flags by fractions, and which inputs there are."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import lutcast
from lutcast import exact
from lutcast.golden import Flags, count, vectors
from lutcast.names import array_dtype
from lutcast.policy import Overflow, Rounding

PAIRS = [
    ("float16", "float8_e4m3fn"), ("bfloat16", "float8_e5m2"), ("float8_e5m2", "int4"), ("float16", "hifloat8"),
    ("int16", "float8_e4m3fn"), ("float32", "float8_e4m3fn"), ("float32", "int8"), ("float64", "float8_e5m2"),
    ("int64", "float32"), ("float32", "float8_e8m0fnu"), ("float64", "int64"), ("int32", "uint8"), ("float32", "bool"),
    ("uint64", "int64"), ("float16", "bfloat16"),
]  # fmt: skip


def value(code, fmt):
    """Return a value as a fraction; None for NaN, a float for an infinity."""
    number = exact.decode(code, fmt)
    sign = -1 if number.negative else 1
    if number.kind == "finite":
        return sign * number.significand * Fraction(2) ** number.exponent
    return None if number.kind == "nan" else sign * float("inf")


def beyond(code, src, dst, policy):
    """Whether a finite value, once rounded, is beyond the largest finite one."""
    number = exact.decode(code, src)
    if number.kind != "finite" or dst.kind == "bool":
        return False
    if policy.rounding is Rounding.HYBRID:
        return exact.cast_code(code, src, dst, policy._replace(overflow=Overflow.IEEE)) & 0x7F == 0x6F
    rounded = exact.round_to_grid(number, dst, policy.rounding)
    magnitude = rounded.significand * Fraction(2) ** rounded.exponent
    if dst.kind == "int":
        return magnitude > (-dst.min_integer if rounded.negative else dst.max_integer)
    return magnitude > abs(value(dst.max_code, dst))


def expected_flags(code, src, dst, policy):
    before, after = value(code, src), value(exact.cast_code(code, src, dst, policy), dst)
    flags = 0
    out = beyond(code, src, dst, policy)
    if before is not None and (after is None or before != after):
        flags |= Flags.INEXACT
    if dst.kind == "float" and isinstance(before, Fraction) and 0 < abs(before) < Fraction(2) ** dst.min_exponent:
        flags |= Flags.UNDERFLOW if flags else 0
    if out:
        flags |= Flags.OVERFLOW
    clamps = isinstance(after, Fraction) and dst.kind != "bool"
    if clamps and ((out and policy.overflow != "wrap") or isinstance(before, float)):
        flags |= Flags.SATURATED
    is_signalling = before is None and src.nan == "ieee" and not code & src.quiet_bit
    into_integer = dst.kind == "int" and not isinstance(before, Fraction)
    negative = not dst.has_zero and before is not None and before < 0
    return flags | (Flags.INVALID if is_signalling or into_integer or negative else 0)


@pytest.mark.parametrize(("src", "dst"), PAIRS)
def test_flags_by_fractions(src, dst, rng):
    source, destination = lutcast.get_format(src), lutcast.get_format(dst)
    roundings = ["ties_to_even", "toward_negative", "to_odd"]
    for rounding in roundings + ["hybrid"] * ((src, dst) == ("float16", "hifloat8")):
        for overflow in ("saturate", "ieee", "wrap"):
            try:
                v = vectors(src, dst, rounding=rounding, overflow=overflow)
            except ValueError:
                continue
            some = np.unique(np.concatenate((rng.choice(len(v), min(len(v), 500)), np.arange(40), np.arange(-40, 0))))
            for index in some.tolist():
                code = int(v.inputs[index])
                assert v.outputs[index] == exact.cast_code(code, source, destination, v.policy)
                assert v.flags[index] == expected_flags(code, source, destination, v.policy), hex(code)


@pytest.mark.parametrize("src", ["bool", "int2", "float4_e2m1fn", "float8_e5m2", "bfloat16", "int16"])
def test_narrow_sources_are_complete(src):
    fmt = lutcast.get_format(src)
    v = vectors(src, "float16")
    assert v.is_complete
    assert v.inputs.tolist() == list(range(1 << fmt.bits))
    table = lutcast.table(src, "float16")
    assert v.outputs.tobytes() == table.tobytes()
    assert count(src, "float16") == count(src, "float16", 2) == len(v)


@pytest.mark.parametrize("src", ["float32", "float64"])
@pytest.mark.parametrize(
    "dst", ["float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "hifloat8", "float8_e8m0fnu", "int8", "uint4"]
)
def test_every_value_and_midpoint_and_their_neighbours(src, dst):
    fmt = lutcast.get_format(dst)
    inputs = set(vectors(src, dst).inputs.tolist())
    values = sorted({v for v in (value(code, fmt) for code in range(1 << fmt.bits)) if isinstance(v, Fraction)})
    points = [*values, *((a + b) / 2 for a, b in pairwise(values))]
    for point in points:
        x = np.array([float(point)], src)
        assert Fraction(float(x[0])) == point
        for near in (x, np.nextafter(x, np.array(np.inf, src)), np.nextafter(x, np.array(-np.inf, src))):
            assert int(near.view(f"u{near.itemsize}")[0]) in inputs or near[0] == 0


@pytest.mark.parametrize("src", ["float32", "float64"])
def test_special_inputs_of_floats(src):
    fmt = lutcast.get_format(src)
    inputs = set(vectors(src, "float8_e4m3fn").inputs.tolist())
    infinity, quiet, top = fmt.exponent_mask, fmt.quiet_bit, fmt.magnitude_mask
    smallest_normal = 1 << fmt.fraction_bits
    for magnitude in (
        0,
        1,
        smallest_normal - 1,
        smallest_normal,
        infinity - 1,
        infinity,
        infinity | 1,
        infinity | quiet,
        top,
    ):
        assert {magnitude, magnitude | fmt.sign_bit} <= inputs


@pytest.mark.parametrize("src", ["int32", "uint32", "int64", "uint64"])
def test_special_inputs_of_integers(src):
    fmt = lutcast.get_format(src)
    inputs = {int(n) for n in vectors(src, "float16").inputs.view(array_dtype(fmt))}
    for exponent in range(fmt.bits):
        for n in (2**exponent - 1, 2**exponent, 2**exponent + 1, -(2**exponent)):
            assert n in inputs or not fmt.min_integer <= n <= fmt.max_integer
    assert {0, fmt.min_integer, fmt.max_integer} <= inputs


def test_inputs_ascend_and_their_number_is_known():
    for src, dst in PAIRS:
        for level in (1, 2):
            v = vectors(src, dst, level=level)
            assert np.all(np.diff(v.inputs.astype(object)) > 0)
            assert count(src, dst, level) == len(v)
    assert 1500 < count("float32", "float8_e4m3fn") < 1700


def test_level_2_adds_the_same_random_bits_every_time():
    first, again = vectors("float32", "int8", level=2), vectors("float32", "int8", level=2)
    assert first.inputs.tobytes() == again.inputs.tobytes()
    assert (first.generator, first.seed) == ("PCG64", 754)
    assert set(vectors("float32", "int8").inputs.tolist()) < set(first.inputs.tolist())
    drawn = np.random.PCG64(754).random_raw(65536).astype(np.uint32)
    assert set(drawn.tolist()) <= set(first.inputs.tolist())
    assert vectors("float16", "int8", level=2).seed is None


def test_a_copy_has_no_flags():
    assert not vectors("float8_e5m2", "float8_e5m2").flags.any()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: vectors("complex64", "float16"),
            TypeError,
            r"^src: complex64 is complex; its parts are cast as float32$",
        ),
        (lambda: vectors("float16", "complex64"), TypeError, r"^dst: complex64 is complex"),
        (lambda: vectors("float16", "int8", level=3), ValueError, r"^level: 3 is not one of 1, 2$"),
        (lambda: count("float16", "int8", "1"), ValueError, r"^level: '1' is not one of 1, 2$"),
        (lambda: vectors("float16", "int8", overflow="ieee"), ValueError, r"^overflow: 'ieee' has no meaning"),
        (lambda: vectors("float17", "int8"), TypeError, r"^src: 'float17' is not a format"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
