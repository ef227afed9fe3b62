"""Tables at run time: read-only, loaded once, whoever comes first; all of them against the definition."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import lutcast
from lutcast import get_format, tables
from lutcast.formats import formats
from lutcast.policy import Overflow, Policy, Rounding

SMALL = [f for f in formats() if f.bits <= 8]
SIXTEEN = [f for f in formats() if f.bits == 16]
EVEN = Policy(Rounding.TIES_TO_EVEN, Overflow.SATURATE)
INT4, UINT2, BOOL, INT8, E4M3FN, FLOAT16, FLOAT64 = map(
    get_format, ("int4", "uint2", "bool", "int8", "float8_e4m3fn", "float16", "float64")
)


def disagreements(prove, codes, src):
    """Return what differs from the definition, to every destination, under every policy."""
    prove.remember_decoded_codes()
    destinations = [dst for dst in prove.REAL if dst is not src]
    counts = [count for dst in destinations for count in prove.check_codes(codes, src, dst)]
    assert len(counts) >= 2 * 7 * len(destinations)
    return [count for count in counts if count.mismatches]


@pytest.mark.parametrize("src", SMALL, ids=lambda f: f.name)
def test_all_codes_of_small_sources(prove, src):
    codes = np.arange(1 << src.bits, dtype=np.uint8)
    assert disagreements(prove, codes, src) == []


@pytest.mark.parametrize("src", SIXTEEN, ids=lambda f: f.name)
def test_sample_of_codes_of_16_bit_sources(prove, src, rng):
    codes = rng.choice(1 << 16, 300, replace=False).astype(np.uint16)
    assert disagreements(prove, codes, src) == []


def test_read_only_and_cached():
    table = tables.codes(FLOAT16, E4M3FN, EVEN)
    assert table is tables.codes(FLOAT16, E4M3FN, EVEN)
    with pytest.raises(ValueError, match="read-only"):
        table[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        lutcast.table("float16", "float8_e4m3fn")[0] = 1
    assert tables.codes(FLOAT16, E4M3FN, EVEN._replace(nan="zero")) is not table
    assert table[0x7E00] == 0x7F


def test_sub_byte_tables_repeat_and_bool_is_non_zero():
    # Whatever the high bits of a byte hold, its entry is that of the low bits.
    for src in (INT4, UINT2):
        table = tables.codes(src, INT8, EVEN)
        assert table.shape == (256,)
        assert np.array_equal(table, np.tile(table[: 1 << src.bits], 256 >> src.bits))
    assert tables.codes(INT4, INT4, EVEN).tolist() == list(range(16)) * 16
    assert tables.codes(BOOL, INT8, EVEN).tolist() == [0] + [1] * 255


def test_dtypes_and_sizes():
    assert tables.codes(INT8, FLOAT64, EVEN).dtype == np.uint64
    assert tables.codes(FLOAT16, E4M3FN, EVEN).shape == (1 << 16,)
    assert lutcast.table("int4", "int8").tolist() == [*range(8), *range(-8, 0)]
    assert lutcast.table("hifloat8", "hifloat8").dtype == np.uint8
    with pytest.raises(ValueError, match=r"^src: float32 has 32 bits; tables exist for 16 bits or fewer$"):
        lutcast.table("float32", "int8")


def test_nan_zero_changes_nothing_else():
    kept, zero = (lutcast.table("float16", "float8_e5m2", nan=nan).view(np.uint8) for nan in ("keep", "zero"))
    is_nan = np.isnan(np.arange(1 << 16, dtype=np.uint16).view(np.float16))
    assert np.array_equal(kept[~is_nan], zero[~is_nan])
    assert set(zero[is_nan]) == {0}


def test_loaded_counts_tables():
    tables.codes(INT8, E4M3FN, EVEN)
    count, size = tables.loaded()
    assert count >= 1
    assert size >= 256


def test_threads_get_the_same_table(monkeypatch):
    monkeypatch.setattr(tables, "_tables", {})
    policies = [Policy(rounding, Overflow.SATURATE) for rounding in list(Rounding)[:7]]
    barrier, found = threading.Barrier(8), []

    def load():
        barrier.wait()
        found.append([tables.codes(FLOAT16, E4M3FN, policy) for policy in policies])

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    for together in zip(*found, strict=True):
        assert len({id(table) for table in together}) == 1
    assert tables.loaded()[0] == len(policies)
