"""Strings to numbers and back: correctly rounded, shortest, and without a loss."""

import time
from bisect import bisect_left
from fractions import Fraction
from math import inf, isfinite

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lutcast
import lutcast.onnx
from lutcast.onnx.number_to_string import shortest

cast = lutcast.onnx.cast
NARROW = [
    "float16", "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn",
]  # fmt: skip


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def all_values(name):
    """Return every value of a narrow format, as its dtype and as float64."""
    dtype = dtype_of(name)
    bits = getattr(ml_dtypes.finfo(dtype), "bits", 16)
    values = np.arange(1 << bits, dtype=f"u{dtype.itemsize}").view(dtype)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return values, values.astype(np.float64)


def neighbours_of(name):
    """Return the finite magnitudes of a format in order, exact; then what would come next."""
    _, values = all_values(name)
    finite = sorted({Fraction(v) for v in values.tolist() if isfinite(v) and v >= 0})
    return [*finite, 2 * finite[-1] - finite[-2]]


def nearest(text, name, magnitudes):
    """Round the number of a text to a format, ties to even, overflow to infinity; by search."""
    exact = abs(Fraction(text))
    upper = bisect_left(magnitudes, exact)
    if upper == len(magnitudes):
        return inf
    if magnitudes[upper] == exact:
        chosen = upper
    else:
        below, above = exact - magnitudes[upper - 1], magnitudes[upper] - exact
        # The code of the n-th magnitude is n, so its last bit is that of the significand.
        chosen = upper - (below < above or (below == above and upper % 2 == 1))
    return inf if chosen == len(magnitudes) - 1 else float(magnitudes[chosen])


@pytest.mark.parametrize("name", NARROW)
def test_round_trip_of_every_code(name):
    x, values = all_values(name)
    texts = cast(x, "STRING")
    back = cast(texts, name, saturate=0)
    nan = np.isnan(values)
    assert np.array_equal(np.isnan(back.astype(np.float64)), nan)
    assert back[~nan].tobytes() == x[~nan].tobytes()
    assert set(texts[nan].tolist()) <= {"NaN"}


def test_round_trip_of_e8m0():
    x = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu)
    texts = cast(x, "STRING")
    assert cast(texts, "FLOAT8E8M0", round_mode="nearest").tobytes() == x.tobytes()
    assert texts[[0, 126, 127, 180, 181, 255]].tolist() == [
        repr(2.0**-127), "0.5", "1", "9007199254740992", repr(2.0**54), "NaN",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["bool", "int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", "uint16"])
def test_round_trip_of_every_integer(name):
    fmt = lutcast.get_format(name)
    values = list(range(fmt.min_integer, fmt.max_integer + 1))
    x = lutcast.cast(np.array(values, np.int64), name)
    texts = cast(x, "STRING")
    assert texts.tolist() == [str(value) for value in values]
    assert cast(texts, name).tobytes() == x.tobytes()


@given(st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_round_trip_of_float32(values):
    x = np.array(values, np.float32)
    back = cast(cast(x, "STRING"), "FLOAT")
    nan = np.isnan(x)
    assert np.array_equal(np.isnan(back), nan)
    assert back[~nan].tobytes() == x[~nan].tobytes()


@given(st.lists(st.floats(), min_size=1, max_size=20))
def test_round_trip_of_float64(values):
    x = np.array(values)
    texts = cast(x, "STRING")
    nan = np.isnan(x)
    assert cast(texts, "DOUBLE")[~nan].tobytes() == x[~nan].tobytes()
    for value, text in zip(values, texts, strict=True):
        if isfinite(value) and not value.is_integer():
            assert text == repr(value)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.lists(st.integers(0, 2**64 - 1), min_size=1))
def test_round_trip_of_wide_integers(signed, unsigned):
    for values, dtype in ((signed, np.int64), (unsigned, np.uint64)):
        texts = cast(np.array(values, dtype), "STRING")
        assert texts.tolist() == list(map(str, values))
        assert cast(texts, dtype).tolist() == values


@pytest.mark.parametrize("name", NARROW)
def test_fewest_digits(name):
    """No shorter decimal rounds to the value, by search over all decimals of one digit less."""
    magnitudes = neighbours_of(name)
    x, values = all_values(name)
    chosen = np.array([i for i, v in enumerate(values.tolist()) if isfinite(v) and v > 0 and not v.is_integer()])
    step = 97 if len(chosen) > 1000 else 1
    for index in [*chosen[:40], *chosen[::step], *chosen[-40:]]:
        text, value = cast(x[index], "STRING").item(), values[index]
        assert nearest(text, name, magnitudes) == value
        digits = len(text.split("e")[0].replace(".", "").lstrip("0"))
        if digits > 1:
            exponent = int(f"{value:e}".split("e")[1]) - digits + 2
            unit = Fraction(10) ** exponent
            for k in (value // unit, value // unit + 1):
                assert nearest(k * unit, name, magnitudes) != value


def test_digits_of_float32_equal_the_general_search(rng):
    codes = rng.integers(0, 0x7F800000, 3000)
    powers = np.arange(1, 255) << 23  # their lower neighbour is half as far
    codes = np.concatenate((codes, powers, powers - 1, powers + 1, np.arange(1, 60), 1 << np.arange(23)))
    x = codes.astype(np.uint32).view(np.float32)
    float32 = lutcast.get_format("float32")
    for code, value, text in zip(codes.tolist(), x.tolist(), cast(x, "STRING"), strict=True):
        plain = value.is_integer() and value < 1e16
        assert text == (str(int(value)) if plain else shortest(code, float32))


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (1.0, np.float32, "1"), (-3.0, np.float32, "-3"), (65504, np.float16, "65504"), (0.1, np.float32, "0.1"),
        (0.1, np.float64, "0.1"), (0.1, np.float16, "0.1"), (0.1, ml_dtypes.bfloat16, "0.1"),
        (1e16, np.float64, "1e+16"), (9999999999999998.0, np.float64, "9999999999999998"),
        (123456792, np.float32, "123456792"), (1e-5, np.float64, "1e-05"), (1e-4, np.float64, "0.0001"),
        (3.4028234663852886e38, np.float32, "3.4028235e+38"), (1e-45, np.float32, "1e-45"),
        (-0.0, np.float16, "-0"), (np.inf, np.float32, "INF"), (-np.inf, np.float32, "-INF"),
        (np.nan, np.float16, "NaN"), (-np.nan, np.float64, "NaN"), (True, np.bool, "1"), (False, np.bool, "0"),
        (2**63, np.uint64, "9223372036854775808"), (0.3125, ml_dtypes.float8_e4m3fn, "0.3"),
        (448, ml_dtypes.float8_e4m3fn, "448"), (0.5, ml_dtypes.float4_e2m1fn, "0.5"),
        (3.3895313892515355e38, ml_dtypes.bfloat16, "3.39e+38"), (-7, ml_dtypes.int4, "-7"),
    ],
)  # fmt: skip
def test_number_to_string(value, dtype, text):
    assert cast(np.array([value]).astype(dtype), "STRING").tolist() == [text]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2", "u8"])
def test_byte_order_and_strides(dtype):
    x = (np.arange(1, 13).reshape(3, 4) * (1 if dtype[0] in "iu" else 0.3)).astype(dtype)
    expected = cast(x, "STRING")
    for other in (x.astype(f">{dtype}"), np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2]):
        assert np.array_equal(cast(other, "STRING"), expected)


TIES = "0" * 40 + "1"


@pytest.mark.parametrize(
    ("text", "to", "code"),
    [
        ("1.00048828125000000000000000000000001", "FLOAT16", 0x3C01),
        ("1.00048828125", "FLOAT16", 0x3C00),
        ("1.00048828124999999999999999999999999", "FLOAT16", 0x3C00),
        ("1.00146484375", "FLOAT16", 0x3C02),
        ("1.00146484374999999999999999999999999", "FLOAT16", 0x3C01),
        ("1.000000059604644775390625000000000000000000001", "FLOAT", 0x3F800001),
        ("1.000000059604644775390625", "FLOAT", 0x3F800000),
        ("-1.000000059604644775390625" + TIES, "FLOAT", 0xBF800001),
        ("1.00390625" + TIES, "BFLOAT16", 0x3F81),
        ("1.00390625", "BFLOAT16", 0x3F80),
        ("65519.99999999999999999999", "FLOAT16", 0x7BFF),
        ("65520", "FLOAT16", 0x7C00),
        ("1e400", "FLOAT", 0x7F800000),
        ("-1e400", "FLOAT16", 0xFC00),
        ("0.9999999999999999999999999999", "FLOAT8E8M0", 127),
        ("1.0000000000000000000000000001", "FLOAT8E8M0", 128),
        ("2.9802322387695312e-08", "FLOAT16", 0),
        ("2.9802322387695313e-08", "FLOAT16", 1),
        ("2.98023223876953125e-08", "FLOAT16", 0),
        ("464." + TIES, "FLOAT8E4M3FN", 0x7E),
        ("1e999999999999999999999999", "FLOAT8E4M3FN", 0x7E),
        ("-1e-999999999999999999999999", "FLOAT16", 0x8000),
        ("0e999999999999999999999999", "FLOAT", 0),
        ("1" + "0" * 5000 + "e-5000", "FLOAT16", 0x3C00),
    ],
)
def test_one_rounding(text, to, code):
    result = cast([text], to)
    assert result.view(f"u{result.itemsize}").tolist() == [code]


NEIGHBOURS = {name: neighbours_of(name) for name in NARROW}


@given(st.data())
def test_decimals_near_ties_round_as_a_search_says(data):
    name = data.draw(st.sampled_from(NARROW))
    magnitudes = NEIGHBOURS[name]
    index = data.draw(st.integers(1, len(magnitudes) - 1))
    where = data.draw(st.sampled_from([Fraction(1, 2), Fraction(0), Fraction(1)]))
    exact = magnitudes[index - 1] * (1 - where) + magnitudes[index] * where
    exact += Fraction(data.draw(st.sampled_from([-1, 0, 1])), 10 ** data.draw(st.integers(20, 60)))
    exact = abs(exact)
    digits = 200
    text = f"{exact.numerator * 10**digits // exact.denominator}e-{digits}"
    assert Fraction(text) == exact
    got = cast([text], name, saturate=0).astype(np.float64)[0]
    expected = nearest(text, name, magnitudes)
    if isfinite(expected):
        assert got == expected
    else:
        largest = float(magnitudes[-2])
        assert got == largest if name.startswith(("float4", "float6")) else not isfinite(got)


@given(st.floats(0, 3e38, allow_subnormal=True), st.integers(-3, 3), st.integers(17, 40))
def test_float32_from_decimals_near_its_midpoints(value, shift, digits):
    low = np.float32(value)
    if not low < np.finfo(np.float32).max:
        return
    high = np.nextafter(low, np.float32(np.inf))
    middle = (Fraction(float(low)) + Fraction(float(high))) / 2
    exact = middle + Fraction(shift) * middle / 10**digits
    text = f"{exact.numerator * 10**200 // exact.denominator}e-200"
    got = cast([text], "FLOAT")[0]
    side = Fraction(text) - middle
    even = low if low.view(np.uint32) % 2 == 0 else high
    assert got == (low if side < 0 else high if side > 0 else even)


@pytest.mark.parametrize("text", ["INF", "+inf", "Infinity", "+INFINITY", " inf\n"])
def test_infinity_in_any_case(text):
    assert cast([text], "FLOAT").tolist() == [inf]
    assert cast([text], "FLOAT8E4M3FN").tolist() == [448]
    assert np.isnan(float(cast([text], "FLOAT8E4M3FN", saturate=0)[0]))


def test_other_spellings():
    assert cast(["-INF", "-infinity"], "FLOAT16").tolist() == [-inf, -inf]
    assert np.isnan(cast(["NaN", "nan", "NAN"], "FLOAT16")).all()
    assert cast([" 1 ", "\t2.5e1\n", "+3", ".5", "5.", "1E2", "007"], "DOUBLE").tolist() == [1, 25, 3, 0.5, 5, 100, 7]
    assert cast(["NaN", "1e9"], "FLOAT4E2M1").astype(float).tolist() == [0, 6]


@pytest.mark.parametrize(
    "text", ["1_000", "0x10", "5abc", "", " ", "١٢", "1e", "e5", ".", "--1", "1 2", "in", "1,5", "½"]
)
@pytest.mark.parametrize("to", ["FLOAT", "INT32", "BOOL", "FLOAT8E8M0"])
def test_what_is_no_number(text, to):
    with pytest.raises(ValueError, match=r"^x\[1\]: .* is not a number$") as error:
        cast(["1", text], to)
    assert repr(text) in str(error.value)


def test_errors_name_the_place():
    with pytest.raises(ValueError, match=r"^x\[1, 0\]: 'five' is not a number$"):
        cast([["1", "2"], ["five", "4"]], "FLOAT")
    with pytest.raises(ValueError, match=r"^x: 'five' is not a number$"):
        cast("five", "FLOAT")


@pytest.mark.parametrize(
    ("text", "to", "value"),
    [
        ("100.5", "INT8", 100), ("-128.99", "INT8", -128), ("-0.9", "UINT8", 0), ("1e2", "INT32", 100),
        ("18446744073709551615.9", "UINT64", 2**64 - 1), ("9223372036854775807", "INT64", 2**63 - 1),
        ("-9223372036854775808", "INT64", -(2**63)), ("99.99999999999999999999999", "INT8", 99), ("7", "INT4", 7),
        ("1e-999999999", "INT8", 0), ("0e999999999999", "INT8", 0), ("1" + "0" * 5000 + "e-5000", "INT8", 1),
    ],
)  # fmt: skip
def test_string_to_integer(text, to, value):
    assert int(cast([text], to)[0]) == value


@pytest.mark.parametrize(
    ("text", "to", "limits"),
    [
        ("128", "INT8", "int8, -128 to 127"), ("-129", "INT8", "int8, -128 to 127"), ("-1", "UINT8", "uint8, 0 to 255"),
        ("8", "INT4", "int4, -8 to 7"), ("INF", "INT32", "int32"), ("nan", "INT32", "int32"),
        ("18446744073709551616", "UINT64", "uint64"), ("1e999999999999", "INT64", "int64"),
        ("1e400", "UINT64", "uint64"),
    ],
)  # fmt: skip
def test_string_out_of_range(text, to, limits):
    with pytest.raises(ValueError, match=rf"^x\[0\]: '{text}' is out of range for {limits}"):
        cast([text], to)


def test_string_to_bool():
    texts = ["true", "FALSE", "True", "0", "0.0", "-0", "1e-400", "2", "NaN", "1e400", " false "]
    expected = [True, False, True, False, False, False, True, True, True, True, False]
    assert cast(texts, "BOOL").tolist() == expected


def test_string_to_string_is_a_copy():
    x = np.array([["a", "1"]], object)
    result = cast(x, "STRING")
    assert result is not x
    assert result.tolist() == x.tolist()
    assert result.dtype == object


@pytest.mark.parametrize("kind", ["U", "S", "O", "T"])
def test_kinds_of_string_arrays(kind):
    x = np.array(["1.5", "-2"], np.dtypes.StringDType() if kind == "T" else kind)
    assert cast(x, "FLOAT").tolist() == [1.5, -2]


@pytest.mark.parametrize("to", ["FLOAT", "FLOAT16", "INT32"])
def test_a_million_strings_take_seconds(to, rng):
    x = (rng.standard_normal(1_000_000) * 1000).astype(np.float32)
    start = time.perf_counter()
    texts = cast(x, "STRING")
    cast(texts, to)
    assert time.perf_counter() - start < 30  # 3 to 5 on a quiet machine
