"""Explanations, against numbers worked out by hand and against Python's own fractions."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lutcast
from lutcast.golden import explain, vectors
from lutcast.golden.explain import code_of
from lutcast.golden.fields import fields_of
from lutcast.golden.plot import plot_errors

REAL = [fmt for fmt in lutcast.formats() if fmt.part is None]


def outcomes(e):
    return {(o.rounding, o.overflow): (o.code, o.value, o.why) for o in e.outcomes}


def test_tie():
    e = explain("1.0625", "float32", "float8_e4m3fn")
    assert (e.code, e.value) == ("3f880000", "1.0625")
    assert (e.below.value, e.below.code, e.below.distance) == (1, "38", Fraction(1, 16))
    assert (e.above.value, e.above.code, e.place) == (Fraction(9, 8), "39", Fraction(1, 2))
    found = outcomes(e)
    assert found["ties_to_even", "saturate"] == ("38", "1.0", "a tie: to the neighbour whose last bit is 0")
    assert found["ties_to_away", "ieee"] == ("39", "1.125", "a tie: to the neighbour of larger magnitude")
    assert found["toward_negative", "ieee"] == ("38", "1.0", "the neighbour below")


def test_beyond_the_range():
    e = explain("464.1", "float64", "float8_e4m3fn")
    assert (e.below.code, e.above.code, e.above.value) == ("7e", None, 480)
    found = outcomes(e)
    text = "the nearer neighbour, beyond the largest finite value: "
    assert found["ties_to_even", "saturate"] == ("7e", "448.0", text + "clamped")
    assert found["ties_to_even", "ieee"] == ("7f", "nan", text + "NaN, as float8_e4m3fn has no infinity")
    assert found["toward_zero", "ieee"] == ("7e", "448.0", "the neighbour toward zero")
    e = outcomes(explain("inf", "float32", "float8_e5m2"))
    assert e["toward_zero", "ieee"] == ("7c", "inf", "infinity: infinity")
    assert e["toward_zero", "saturate"] == ("7b", "57344.0", "infinity: clamped")
    e = outcomes(explain("1e6", "float32", "float8_e5m2"))
    assert e["toward_zero", "ieee"][2].endswith("the largest finite value, as the direction of rounding says")
    assert outcomes(explain("300", "int32", "int8"))["toward_zero", "wrap"] == (
        "2c",
        "44",
        "exact, beyond the largest finite value: modulo 2**8",
    )


@pytest.mark.parametrize(
    ("value", "src", "dst", "why"),
    [
        ("nan", "float32", "int8", "int8 has no NaN"),
        ("nan", "float32", "float16", "NaN stays NaN"),
        ("0.25", "float32", "bool", "zero is false, all else is true"),
        ("-1", "float32", "float8_e8m0fnu", "float8_e8m0fnu has neither zero nor negative values"),
        ("7", "int8", "int8", "the same format: the bits are copied"),
        ("1e9", "float32", "float4_e2m1fn", None),
    ],
)
def test_no_neighbours(value, src, dst, why):
    e = explain(value, src, dst)
    if why:
        assert {o.why for o in e.outcomes} == {why}
    else:
        assert any("clamped, as float4_e2m1fn has neither infinity nor NaN" in o.why for o in e.outcomes)
    assert (e.below is None) == (why not in (None, "the same format: the bits are copied"))


@pytest.mark.parametrize("dst", [fmt.name for fmt in REAL])
@pytest.mark.parametrize("src", ["float16", "int8", "hifloat8"])
def test_outcomes_are_casts(src, dst):
    for code in (0, 1, 0x21, 0x5A, 0x7F, 0x80, 0xFF):
        e = explain(hex(code), src, dst)
        for o in e.outcomes:
            x = np.array([code], f"u{lutcast.get_format(src).itemsize}")
            y = lutcast.cast(x, dst, src=src, rounding=o.rounding, overflow=o.overflow)
            assert int(y.view(f"u{y.itemsize}")[0]) == int(o.code, 16)


@given(st.floats(allow_nan=False), st.sampled_from(["float16", "bfloat16", "float32"]))
def test_neighbours_enclose(value, dst):
    e = explain(repr(value), "float64", dst)
    if math.isinf(value):
        assert e.below is e.above is None
        return
    assert e.below.value <= Fraction(value) <= e.above.value
    assert e.below.distance == Fraction(value) - e.below.value
    assert e.place is None or 0 < e.place < 1


@given(st.floats(allow_nan=False, width=32))
def test_numbers_are_read_once(value):
    assert code_of(repr(value), lutcast.get_format("float32")) == int(np.float32(value).view(np.uint32))
    assert code_of(repr(float(value)), lutcast.get_format("float64")) == int(np.float64(value).view(np.uint64))


@pytest.mark.parametrize(
    ("text", "fmt", "code"),
    [
        ("1.00048828125000000000000000000000001", "float16", 0x3C01),  # beyond a tie by less than float64 sees
        ("1.00048828125", "float16", 0x3C00),
        ("1e-400", "float64", 0),
        ("-1e-400", "float32", 0x80000000),
        ("-inf", "float8_e5m2", 0xFC),
        ("nan", "float8_e4m3fn", 0x7F),
        ("-128", "int8", 0x80),
        ("0x7F", "uint8", 0x7F),
        ("2", "float8_e8m0fnu", 128),
    ],
)
def test_code_of(text, fmt, code):
    assert code_of(text, lutcast.get_format(fmt)) == code


@pytest.mark.parametrize(
    ("text", "fmt", "message"),
    [
        ("one", "float32", "value: 'one' is neither a number nor a code such as 0x7f"),
        ("1.5", "int8", "value: '1.5' is neither an integer nor a code"),
        ("200", "int8", "value: 200 is beyond int8, -128 to 127"),
        ("0x100", "int8", "value: 0x100 is beyond the 8 bits of int8"),
        ("500", "float8_e4m3fn", "value: 500 is beyond float8_e4m3fn, whose largest finite value is 448.0"),
        ("1e999", "float64", "value: 1e999 is beyond float64"),
    ],
)
def test_bad_values(text, fmt, message):
    with pytest.raises(ValueError, match=message):
        code_of(text, lutcast.get_format(fmt))


def test_complex_is_refused():
    with pytest.raises(lutcast.UnsupportedCast, match="dst: complex64 is complex; its parts are cast as float32"):
        explain("1", "float32", "complex64")


@pytest.mark.parametrize("fmt", REAL, ids=lambda fmt: fmt.name)
def test_fields_are_the_code(fmt):
    for code in range(0, 1 << fmt.bits, max((1 << fmt.bits) // 300, 1)):
        assert int("".join(field.bits for field in fields_of(code, fmt)), 2) == code


def test_fields_by_hand():
    hifloat8 = lutcast.get_format("hifloat8")
    assert [f.bits for f in fields_of(0x6E, hifloat8)] == ["0", "11", "0111", "0"]
    assert [f.meaning for f in fields_of(0x6E, hifloat8)] == ["+", "4 bits of exponent", "2**15", "1.0"]
    assert [f.bits for f in fields_of(0x01, hifloat8)] == ["0", "0000", "001"]
    assert [f.meaning for f in fields_of(0x8001, lutcast.get_format("float16"))] == ["-", "2**-14", "0.0000000001"]
    assert [f.meaning for f in fields_of(0x00, lutcast.get_format("float8_e8m0fnu"))] == ["2**-127"]


@pytest.mark.parametrize("dst", ["float8_e4m3fn", "float32", "int16", "float64", "float8_e8m0fnu"])
def test_plot_of_every_range(dst, tmp_path):
    golden = vectors("float64", dst)
    plot_errors(tmp_path / "errors.png", golden.outputs ^ np.array(1, golden.outputs.dtype), golden)
    assert (tmp_path / "errors.png").stat().st_size > 5000


def test_plot(tmp_path):
    golden = vectors("float64", "float8_e4m3fn", overflow="ieee")
    with np.errstate(over="ignore", invalid="ignore"):
        got = golden.inputs.view(np.float64).astype(np.float32).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    for name in ("one.png", "two.png", "one.svg"):
        plot_errors(tmp_path / name, got, golden)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    assert (tmp_path / "one.png").read_bytes()[:4] == b"\x89PNG"
