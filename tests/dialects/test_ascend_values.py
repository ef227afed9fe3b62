"""Overflow, infinity and NaN in all states of the control registers, against rules written out here."""

import itertools
import threading
from fractions import Fraction
from math import ceil, floor, isinf, isnan, trunc

import ml_dtypes
import numpy as np
import pytest

import lutcast
from lutcast import ascend
from lutcast.ascend.types import TYPES

STATES = [ascend.Control(*bits) for bits in itertools.product([True, False], repeat=3)]
ROWS = ascend.supported("950")
FLOATS = ["half", "float", "bfloat16_t", "double"]
TO_INTEGER = [row for row in ROWS if TYPES[row.dst].kind == "int" and not row.needs_deq_scale]
TO_FLOAT = [
    row for row in ROWS if row.dst in ("half", "bfloat16_t", "fp8_e4m3fn_t", "fp8_e5m2_t") and row.src in FLOATS
]
VALUES = [
    0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, 7.5, 8.0, -8.5, -9.0, 127.0, 127.5, 128.0, 129.0, -128.0, -128.5, -129.0,
    255.0, 255.5, 256.0, 257.0, -1.0, 300.0, 32767.0, 32768.0, -32769.0, 65504.0, 65536.0, 2.0**31,
    2.0**31 + 256, -(2.0**31), 2.0**32 + 1024, 2.0**63, 2.0**64, -(2.0**63), 1e20, -1e20, np.inf, -np.inf, np.nan,
]  # fmt: skip


def nearest_even(value):
    return round(value)


def nearest_away(value):
    return floor(abs(value) + Fraction(1, 2)) * (1 if value >= 0 else -1)


ROUNDERS = {
    "CAST_RINT": nearest_even, "CAST_NONE": nearest_even, "CAST_FLOOR": floor, "CAST_CEIL": ceil,
    "CAST_ROUND": nearest_away, "CAST_TRUNC": trunc,
}  # fmt: skip


def dtype_of(type_name):
    name = TYPES[type_name].name
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def inputs(type_name):
    """Return the values that a type holds, as its dtype."""
    fmt = TYPES[type_name]
    if fmt.kind == "int":
        low, high = fmt.min_integer, fmt.max_integer
        numbers = [
            n
            for n in (0, 1, -1, 7, 8, -8, -9, 127, 128, 255, 256, 257, 300, 32767, 32768, 65535, 65536, 2**31)
            if low <= n <= high
        ]
        return np.array([*numbers, low, high, low + 1, high - 1], np.int64).astype(dtype_of(type_name))
    with np.errstate(over="ignore"):
        return np.array(VALUES).astype(dtype_of(type_name))


def to_integer(value, dst, rounder, saturates, from_int16):
    """Return what a number becomes as an integer, by the rules of the document."""
    fmt = TYPES[dst]
    low, high = fmt.min_integer, fmt.max_integer
    if value != value:
        return 0
    if isinstance(value, float) and isinf(value):
        return high if value > 0 else low
    number = rounder(Fraction(value))
    if low <= number <= high:
        return number
    if saturates or from_int16:
        return high if number > high else low
    number %= 1 << fmt.bits
    return number - (1 << fmt.bits) if number > high else number


@pytest.mark.parametrize("control", STATES, ids=str)
@pytest.mark.parametrize("row", TO_INTEGER, ids=lambda row: f"{row.src}-{row.dst}")
def test_into_integers(row, control):
    x = inputs(row.src)
    is_float = TYPES[row.src].kind == "float"
    numbers = x.astype(np.float64 if is_float else np.int64).tolist()
    for mode in row.round_modes:
        got = ascend.cast(x, row.dst, mode, control=control).astype(np.int64).tolist()
        never_wraps = (row.src, row.dst) == ("int16_t", "uint32_t")
        expected = [to_integer(n, row.dst, ROUNDERS[mode.name], control.saturate_int, never_wraps) for n in numbers]
        assert got == expected


@pytest.mark.parametrize("control", STATES, ids=str)
@pytest.mark.parametrize("row", TO_FLOAT, ids=lambda row: f"{row.src}-{row.dst}")
def test_specials_into_floats(row, control):
    x = np.array([np.inf, -np.inf, np.nan, -np.nan]).astype(dtype_of(row.src))
    largest = float(ml_dtypes.finfo(dtype_of(row.dst)).max)
    is_float8 = row.dst.startswith("fp8")
    for mode in row.round_modes:
        got = ascend.cast(x, row.dst, mode, control=control).astype(np.float64).tolist()
        if control.saturate_float:
            assert got[:2] == [largest, -largest]
            assert all(isnan(v) if is_float8 and control.keep_nan else v == 0 for v in got[2:])
        else:
            assert all(isnan(v) for v in got[:2]) if row.dst == "fp8_e4m3fn_t" else got[:2] == [np.inf, -np.inf]
            assert all(isnan(v) for v in got[2:])


@pytest.mark.parametrize("control", STATES, ids=str)
@pytest.mark.parametrize("row", [r for r in TO_FLOAT if r.src in ("float", "double")], ids=lambda r: f"{r.src}-{r.dst}")
def test_finite_overflow_into_floats(row, control):
    largest = float(ml_dtypes.finfo(dtype_of(row.dst)).max)
    huge = 3.4e38 if row.dst != "bfloat16_t" else 3.4028e38
    x = np.array([huge, -huge]).astype(dtype_of(row.src))
    inward = {
        "CAST_TRUNC": (True, True),
        "CAST_FLOOR": (True, False),
        "CAST_CEIL": (False, True),
        "CAST_ODD": (True, True),
    }
    for mode in row.round_modes:
        got = ascend.cast(x, row.dst, mode, control=control).astype(np.float64).tolist()
        for value, sign, stays in zip(got, (1, -1), inward.get(mode.name, (False, False)), strict=True):
            if control.saturate_float or stays:
                assert value == sign * largest
            else:
                assert isnan(value) if row.dst == "fp8_e4m3fn_t" else value == sign * np.inf


@pytest.mark.parametrize("control", STATES, ids=str)
@pytest.mark.parametrize("dst", ["fp4x2_e2m1_t", "fp4x2_e1m2_t"])
def test_float4_clamps_in_every_state(dst, control):
    x = np.array([np.inf, -np.inf, np.nan, 100, -100, -0.01, 0.0]).astype(ml_dtypes.bfloat16)
    got = ascend.cast(x, dst, "CAST_RINT", control=control).view(np.uint8).tolist()
    assert got == [7, 15, 0, 7, 15, 8, 0]


@pytest.mark.parametrize("control", STATES, ids=str)
@pytest.mark.parametrize(
    ("src", "dst"), [("half", "float"), ("bfloat16_t", "float"), ("double", "float"), ("float", "float")]
)
def test_infinity_and_nan_pass_into_float(src, dst, control):
    x = np.array([np.inf, -np.inf, np.nan]).astype(dtype_of(src))
    mode = ascend.supported("950", src, dst)[0]
    got = ascend.cast(x, dst, mode, control=control)
    assert got[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(got[2])


def test_double_to_float_is_the_ieee_conversion(rng):
    x = np.concatenate((rng.integers(0, 2**64, 5000, np.uint64).view(np.float64), [1e300, -1e300, 1e-50, 2.0**-150]))
    x = x[~np.isnan(x)]
    with np.errstate(all="ignore"):
        assert ascend.cast(x, "float", "CAST_RINT").tobytes() == x.astype(np.float32).tobytes()
    assert ascend.cast(np.array([1e300]), "float", "CAST_TRUNC").tolist() == [np.finfo(np.float32).max]


def test_subnormals_are_kept():
    tiny = np.array([2.0**-149, -(2.0**-140)], np.float32)
    assert ascend.cast(tiny, "bfloat16_t", "CAST_CEIL").view(np.uint16).tolist() == [1, 0x8000]
    assert ascend.cast(np.array([2.0**-24], np.float16), "float", "CAST_NONE").tolist() == [2.0**-24]


@pytest.mark.parametrize("mode", ["CAST_RINT", "CAST_FLOOR", "CAST_CEIL", "CAST_ROUND", "CAST_TRUNC"])
def test_float_to_float_rounds_to_an_integer(mode):
    x = np.array([0.5, -0.5, 1.5, -1.5, 2.5, 1e30, -0.0, 0.3, -0.3], np.float32)
    expected = [float(ROUNDERS[mode](Fraction(v))) for v in x.tolist()]
    got = ascend.cast(x, "float", mode)
    assert got.tolist() == expected
    assert np.signbit(got).tolist() == np.signbit(x).tolist()
    pair = (x[:-1].reshape(4, 2) @ np.array([1, 1j], np.complex64)).astype(np.complex64)
    assert ascend.cast(pair, "complex64", mode).view(np.float32).tolist() == expected[:-1]


def test_complex():
    x = np.array([1e6 + 1j, np.nan - np.inf * 1j], np.complex64)
    narrow = ascend.cast(x, "complex32", "CAST_RINT")
    assert narrow.view(np.float16).tolist()[:2] == [65504.0, 1.0]
    assert ascend.cast(narrow, "complex64", "CAST_NONE").tolist()[0] == 65504 + 1j
    off = ascend.cast(x, "complex32", "CAST_RINT", control=ascend.Control(saturate_float=False)).view(np.float16)
    assert off.tolist()[0] == np.inf
    for product in ("910", "310P", "A2", "A3", "310B"):
        with pytest.raises(lutcast.UnsupportedCast, match=f"^product {product} has no Cast from complex64"):
            ascend.cast(x, "complex64", "CAST_RINT", product=product)


# --------------------------------------------------------------------------- int32_t to half


def test_deq_scale():
    x = np.array([123457, 2051, 2**31 - 1, -(2**31)], np.int32)
    assert ascend.cast(x, "half", "CAST_NONE", deq_scale=0.1)[0] == 12344
    assert ascend.cast(x, "half", "CAST_NONE", deq_scale=1).tolist() == [65504.0, 2052.0, 65504.0, -65504.0]
    off = ascend.Control(saturate_float=False)
    assert ascend.cast(x, "half", "CAST_NONE", deq_scale=1, control=off).tolist() == [np.inf, 2052.0, np.inf, -np.inf]


@pytest.mark.parametrize("product", ["310P", "A2", "A3", "950"])
@pytest.mark.parametrize("mode", ascend.RoundMode)
def test_deq_scale_ignores_the_mode(product, mode, rng):
    x = rng.integers(-(2**31), 2**31, 1000).astype(np.int32)
    scale = np.float16(0.0123)
    steps = x.astype(np.float32) * np.float32(2**-17) * np.float32(scale) * np.float32(2**17)
    expected = np.clip(steps, -65504, 65504).astype(np.float16)
    got = ascend.cast(x, "half", mode, product=product, deq_scale=0.0123)
    assert got.tobytes() == expected.tobytes()


def test_scale_of_the_context():
    x = np.array([2051], np.int32)
    with pytest.raises(
        ValueError, match=r"^deq_scale: int32_t to half needs a scale; give deq_scale= or call set_deq_scale$"
    ):
        ascend.cast(x, "half", "CAST_NONE")
    ascend.set_deq_scale(2.0)
    try:
        assert ascend.cast(x, "half", "CAST_NONE").tolist() == [4104.0]
        assert ascend.cast(x, "half", "CAST_NONE", deq_scale=1).tolist() == [2052.0]
        errors = []

        def other_thread():
            try:
                ascend.cast(x, "half", "CAST_NONE")
            except ValueError as error:
                errors.append(error)

        thread = threading.Thread(target=other_thread)
        thread.start()
        thread.join()
        assert len(errors) == 1  # the scale belongs to the context that set it
    finally:
        ascend.set_deq_scale(None)
    with pytest.raises(ValueError, match=r"^deq_scale: 'much' given, a number is needed$"):
        ascend.set_deq_scale("much")


def test_310b_needs_no_scale():
    assert ascend.cast(np.array([2051, 2**20], np.int32), "half", "CAST_NONE", product="310B").tolist() == [
        2052.0,
        65504.0,
    ]


# --------------------------------------------------------------------------- arguments


@pytest.mark.parametrize("mode", [1, "CAST_RINT", "RINT", ascend.RoundMode.CAST_RINT])
def test_ways_to_name_a_mode(mode):
    assert ascend.cast(np.array([2.5], np.float32), "int32_t", mode).tolist() == [2]


@pytest.mark.parametrize("mode", [8, -1, "CAST_SIDEWAYS", None, 1.0, True])
def test_no_such_mode(mode):
    with pytest.raises(ValueError, match=r"^round_mode: .* is not one of CAST_NONE, CAST_RINT, "):
        ascend.cast(np.array([2.5], np.float32), "int32_t", mode)


@pytest.mark.parametrize("product", ["910", "310P", "310B"])
@pytest.mark.parametrize("control", [state for state in STATES if state != ascend.Control()], ids=str)
def test_products_that_always_saturate(product, control):
    with pytest.raises(
        ValueError, match=rf"^control: product {product} saturates always; only Control\(\) is possible$"
    ):
        ascend.cast(np.array([2.5], np.float32), "int32_t", "CAST_RINT", product=product, control=control)


@pytest.mark.parametrize("product", ["A2", "A3"])
def test_keep_nan_is_for_950(product):
    with pytest.raises(ValueError, match=rf"^control: keep_nan exists on product 950 only, not on {product}$"):
        ascend.cast(
            np.array([1], np.float32), "half", "CAST_RINT", product=product, control=ascend.Control(keep_nan=True)
        )
    with pytest.raises(ValueError, match=r"^control: None given, a Control is needed$"):
        ascend.cast(np.array([1], np.float32), "half", "CAST_RINT", product=product, control=None)


def test_values_are_not_packed_and_may_be_odd():
    x = np.array([[1.5], [-2.5], [9.0]], np.float16)
    got = ascend.cast(x, "int4b_t", "CAST_RINT")
    assert got.shape == (3, 1)
    assert got.astype(int).ravel().tolist() == [2, -2, 7]
    assert ascend.cast(got.view(np.uint8), "half", "CAST_NONE", src_type="int4b_t").ravel().tolist() == [2.0, -2.0, 7.0]
    codes = ascend.cast(np.array([1.75, -0.25]).astype(ml_dtypes.bfloat16), "fp4x2_e1m2_t", "CAST_RINT")
    assert codes.tolist() == [7, 9]
    assert ascend.cast(codes, "bfloat16_t", "CAST_NONE", src_type="fp4x2_e1m2_t").astype(float).tolist() == [
        1.75,
        -0.25,
    ]


def test_types_by_other_names():
    x = np.array([1.5], np.float32)
    assert ascend.cast(x, "float16", "CAST_RINT").tolist() == ascend.cast(x, np.float16, "CAST_RINT").tolist() == [1.5]
    with pytest.raises(TypeError, match=r"^dst_type: 'float8_e3m4' is no type of Cast; those are half, float"):
        ascend.cast(x, "float8_e3m4", "CAST_RINT")
    with pytest.raises(TypeError, match=r"^src: <Format bool> is no type of Cast"):
        ascend.cast(np.array([True]), "half", "CAST_NONE")
