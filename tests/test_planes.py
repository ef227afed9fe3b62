"""Tables in planes give what the tables give."""

import numpy as np
import pytest

import lutcast
from lutcast import get_format
from lutcast._kernels import LOOPS, Plan
from lutcast.plan import NOTHING
from lutcast.planes import LAYOUT, planes

CODES = np.random.default_rng(0).integers(0, 256, 1003, np.uint8)


def look_up(table, record):
    """Run the loops that take a table and its planes: from bytes, and from packed codes of 4 bits."""
    bits = 8 * table.itemsize
    plan = Plan([(LOOPS[f"lookup_8_{bits}"], 1, NOTHING, table, record)], 1, table.itemsize, LOOPS[f"lookup_4_{bits}"])
    whole, halves = np.zeros(len(CODES), table.dtype), np.zeros(2 * len(CODES), table.dtype)
    plan.run(CODES, whole, 0, len(whole))
    plan.run(CODES, halves, 0, len(halves), 4)
    return whole, halves


def check(table):
    record = planes(table)
    assert record is not None
    assert record.dtype is LAYOUT
    whole, halves = look_up(table, record)
    assert np.array_equal(whole, table[CODES])
    assert np.array_equal(halves, table[np.stack([CODES & 15, CODES >> 4], axis=1).ravel()])
    return record


@pytest.mark.parametrize("width", [2, 4, 8])
def test_two_bytes_of_each_word(width):
    pairs = np.random.default_rng(width).integers(0, 1 << 16, 256).astype(f"u{width}")
    record = check(pairs << np.array(8 * width - 16, pairs.dtype))
    assert not record["is_integer"]


@pytest.mark.parametrize("most", [False, True])
@pytest.mark.parametrize(("width", "bits"), [(4, 8), (8, 5)])
def test_integers_of_few_bits(width, bits, most):
    """Their floats have no more fraction bits than two bytes hold."""
    rng = np.random.default_rng(width)
    signed = np.dtype(f"i{width}")
    limits = np.iinfo(signed)
    values = rng.integers(-(1 << bits) + 1, 1 << bits, 256).astype(signed)
    values <<= rng.integers(0, 8 * width - bits, 256).astype(signed)
    values[:6] = [0, 1, -1, limits.min, limits.min // 2, 3]
    if most:
        values[[6, 77]] = limits.max
    record = check(values.view(f"u{width}"))
    assert record["is_integer"]
    assert bool(record["has_most"]) is most


@pytest.mark.parametrize("width", [4, 8])
def test_other_words_stay_a_table(width):
    table = np.random.default_rng(width).integers(0, 1 << 32, 256).astype(f"u{width}")
    assert planes(table) is None
    whole, halves = look_up(table, None)
    assert np.array_equal(whole, table[CODES])
    assert np.array_equal(halves, table[np.stack([CODES & 15, CODES >> 4], axis=1).ravel()])


def test_floats_of_few_bits_are_cut():
    for src in ("float8_e4m3fn", "float8_e5m2", "hifloat8", "float6_e3m2fn", "float4_e2m1fn", "int4"):
        for dst in ("float32", "float64", "bfloat16", "float16", "int32", "int64", "int16"):
            if get_format(src).kind == "float" or get_format(dst).kind == "float":
                table = lutcast.table(src, dst)
                table = np.resize(table.view(f"u{table.itemsize}"), 256)
                assert planes(table) is not None, (src, dst)
