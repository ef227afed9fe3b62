"""`cast`, `cast_like` and `table` against the definition, and what they refuse."""

import ml_dtypes
import numpy as np
import pytest

import lutcast
from lutcast import exact
from lutcast.formats import ALL
from lutcast.names import array_dtype
from lutcast.policy import COMMON_ROUNDINGS, overflows, resolve

NARROW = [f for f in ALL if f.bits <= 16]


def to_array(codes, fmt):
    """Return codes as an array of a format."""
    raw = b"".join(code.to_bytes(fmt.itemsize, "little") for code in codes)
    return np.frombuffer(raw, array_dtype(fmt))


def to_codes(array):
    """Return the bits of each element as an integer."""
    raw, size = array.tobytes(), array.itemsize
    return [int.from_bytes(raw[i : i + size], "little") for i in range(0, len(raw), size)]


def codes_of_interest(fmt):
    """Return codes at the borders of a format, and some in between."""
    if fmt.part:
        parts = codes_of_interest(fmt.part)
        return [low | high << fmt.part.bits for low, high in zip(parts, parts[::-1], strict=True)]
    if fmt.bits <= 6:
        return list(range(1 << fmt.bits))
    marks = [0, 1, fmt.max_integer, fmt.sign_bit] if fmt.kind == "int" else [0, 1, fmt.max_code, fmt.exponent_mask]
    marks += [code for code in (fmt.infinity_code, fmt.nan_code) if code is not None]
    near = [mark + step for mark in marks for step in (-1, 0, 1)]
    rng = np.random.default_rng(fmt.bits)
    spread = [int.from_bytes(rng.bytes(8)) >> shift for shift in range(0, 64, 2)]
    some = [*near, fmt.bias << fmt.fraction_bits, *spread]
    return [code & fmt.mask for code in some] + [(code ^ fmt.sign_bit) & fmt.mask for code in some]


@pytest.mark.parametrize("dst", ALL, ids=lambda f: f.name)
@pytest.mark.parametrize("src", ALL, ids=lambda f: f.name)
def test_every_pair_is_the_definition(src, dst):
    codes = codes_of_interest(src)
    x = to_array(codes, src)
    result = lutcast.cast(x, dst, src=src)
    assert result.dtype == array_dtype(dst)
    policy = resolve(src, dst, None, None, "keep")
    assert to_codes(result) == [exact.cast_code(code, src, dst, policy) for code in codes]


@pytest.mark.parametrize("dst", ALL, ids=lambda f: f.name)
def test_every_policy_is_the_definition(dst):
    for source in ("float32", "float64", "int64", "bfloat16", "complex64"):
        src = lutcast.get_format(source)
        codes = codes_of_interest(src)[::5]
        x = to_array(codes, src)
        for rounding in COMMON_ROUNDINGS:
            for overflow in overflows(dst):
                for nan in ("keep", "zero"):
                    policy = resolve(src, dst, rounding, overflow, nan)
                    result = lutcast.cast(x, dst, rounding=rounding, overflow=overflow, nan=nan)
                    assert to_codes(result) == [exact.cast_code(code, src, dst, policy) for code in codes], policy


@pytest.mark.parametrize("name", ["float16", "float32"])
def test_hybrid_is_the_definition(name):
    src, dst = lutcast.get_format(name), lutcast.get_format("hifloat8")
    codes = codes_of_interest(src)
    for overflow in ("saturate", "ieee"):
        policy = resolve(src, dst, "hybrid", overflow, "keep")
        result = lutcast.cast(to_array(codes, src), dst, rounding="CAST_HYBRID", overflow=overflow)
        assert to_codes(result) == [exact.cast_code(code, src, dst, policy) for code in codes]


def test_one_rounding_only():
    x = np.array([1 + 2**-8 + 2**-40], np.float64)
    assert lutcast.cast(x, "bfloat16").view(np.uint16)[0] == 0x3F81
    assert lutcast.cast(np.array([2**24 + 1 << 30]) + 1, "float32").item() == float(2**24 + 2 << 30)


@pytest.mark.parametrize("fmt", ALL, ids=lambda f: f.name)
def test_same_format_copies_bits_under_every_policy(fmt):
    x = to_array(codes_of_interest(fmt), fmt)
    for options in ({}, {"nan": "zero"}, {"rounding": "to_odd", "overflow": overflows(fmt)[-1]}):
        result = lutcast.cast(x, fmt, src=fmt, **options)
        assert result.tobytes() == x.tobytes()
        assert not np.shares_memory(result, x)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_payload_of_a_signalling_nan_survives_a_copy(dtype):
    fmt = lutcast.get_format(dtype)
    code = (fmt.part or fmt).infinity_code | 1
    x = to_array([code, code | 1 << (fmt.bits - 1)], fmt)
    assert lutcast.cast(x[::-1], dtype).tobytes() == x[::-1].tobytes()


def test_copy_false_returns_x_where_nothing_is_to_be_done():
    x = np.zeros((3, 4), np.float32)[:, ::2]
    assert lutcast.cast(x, "float32", copy=False) is x
    assert lutcast.cast(x, "float32", copy=False, nan="zero", rounding="floor") is x
    assert lutcast.cast(x, "float32") is not x
    codes = np.arange(8, dtype=np.uint8)
    assert lutcast.cast(codes, "hifloat8", src="hifloat8", copy=False) is codes


def test_copy_false_casts_where_something_is_to_be_done():
    x = np.array([1.0, 2.0], ">f4")
    assert lutcast.cast(x, "float32", copy=False).dtype == np.dtype("=f4")
    assert lutcast.cast(x, "float16", copy=False).tolist() == [1, 2]
    codes = np.array([0x38], np.uint8)
    assert lutcast.cast(codes, "float8_e4m3fn", src="float8_e4m3fn", copy=False).dtype == ml_dtypes.float8_e4m3fn
    out = np.empty(2, np.float32)
    y = np.ones(2, np.float32)
    assert lutcast.cast(y, "float32", copy=False, out=out) is out
    assert out.tolist() == [1, 1]


@pytest.mark.parametrize("target", [np.empty(0, np.int8), np.int8(0), [], 1.0, np.empty((2, 0), ml_dtypes.int4)])
def test_cast_like_takes_only_the_format_of_the_target(target):
    x = [1.5, 300.0]
    result = lutcast.cast_like(x, target, rounding="ceil")
    expected = lutcast.cast(x, np.asarray(target).dtype, rounding="ceil")
    assert result.dtype == expected.dtype
    assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("src", NARROW, ids=lambda f: f.name)
def test_table_lists_every_code(src):
    for name in ("float32", "bfloat16", "int8", "float8_e4m3fn", "bool"):
        dst = lutcast.get_format(name)
        table = lutcast.table(src, dst, nan="zero")
        assert table.shape == (1 << src.bits,)
        assert table.dtype == array_dtype(dst)
        assert not table.flags.writeable
        policy = resolve(src, dst, None, None, "zero")
        step = max(len(table) // 300, 1)
        codes = range(0, len(table), step)
        assert to_codes(table[::step]) == [exact.cast_code(code, src, dst, policy) for code in codes]
