"""The file format of the table store: what is written is read, and damage is noticed."""

from __future__ import annotations

import hashlib
import re
import zlib

import numpy as np
import pytest

from lutcast import get_format, tables
from lutcast.policy import Overflow, Policy, Rounding
from lutcast.store import DESTINATIONS, HEADER, MAGIC, SOURCES, Reader, Writer, code_dtype, policies

INT4, UINT4, BOOL, FLOAT16, FLOAT32 = map(get_format, ("int4", "uint4", "bool", "float16", "float32"))
ZERO = Policy(Rounding.TOWARD_ZERO, Overflow.SATURATE)
FLOOR = Policy(Rounding.TOWARD_NEGATIVE, Overflow.WRAP)
EVEN = Policy(Rounding.TIES_TO_EVEN, Overflow.IEEE)
ONE = np.arange(16, dtype=np.uint8)
TWO = np.arange(16, dtype=np.uint16)[::-1].copy() * 4095


@pytest.fixture
def data():
    """Return the bytes of a store of two tables under three names."""
    writer = Writer()
    assert writer.add(INT4, UINT4, ZERO, ONE) == hashlib.sha256(ONE).hexdigest()
    writer.add(INT4, FLOAT16, EVEN, TWO)
    writer.add(INT4, UINT4, FLOOR, ONE.copy())
    return writer.tobytes()


def test_what_is_written_is_read(data):
    reader = Reader(data)
    for dst, policy, table in ((UINT4, ZERO, ONE), (UINT4, FLOOR, ONE), (FLOAT16, EVEN, TWO)):
        got = reader.table(reader.number(INT4, dst, policy), dst)
        assert got.dtype == code_dtype(dst)
        assert np.array_equal(got, table)
    assert np.array_equal(Reader(memoryview(data)).table(0, UINT4), ONE)


def test_identical_tables_are_stored_once(data):
    reader = Reader(data)
    assert reader.count == 2
    assert reader.number(INT4, UINT4, ZERO) == reader.number(INT4, UINT4, FLOOR) == 0


def test_missing_table(data):
    with pytest.raises(KeyError, match=r"no table from uint4 to int4 under toward_zero/saturate/keep"):
        Reader(data).number(UINT4, INT4, ZERO)


@pytest.mark.parametrize("size", [0, 1, HEADER.size - 1])
def test_truncated_header(data, size):
    with pytest.raises(ValueError, match="table store is truncated"):
        Reader(data[:size])


@pytest.mark.parametrize("size", [HEADER.size, HEADER.size + 8, -40, -9, -8, -1])
def test_truncated(data, size):
    with pytest.raises(ValueError, match="table store is truncated"):
        Reader(data[:size])


def test_wrong_magic(data):
    with pytest.raises(ValueError, match=re.escape(f"the table store begins with b'PK345678', not with {MAGIC!r}")):
        Reader(b"PK345678" + data[8:])


def test_a_damaged_table_is_noticed(data):
    reader = Reader(data)
    start, stop = (int(at) for at in reader.directory[2:4])
    harmless = 0  # zlib has a few bits that mean nothing
    for at in range(start, stop):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        try:
            assert np.array_equal(Reader(bytes(damaged)).table(1, FLOAT16), TWO)
            harmless += 1
        except ValueError as error:
            assert str(error).startswith("table 1 of the ")  # noqa: PT017
        assert np.array_equal(Reader(bytes(damaged)).table(0, UINT4), ONE)
    assert harmless <= 3


def test_a_wrong_table_does_not_have_its_hash(data):
    reader = Reader(data)
    start, stop = (int(at) for at in reader.directory[1:3])
    other = zlib.compress(np.diff(ONE[::-1], prepend=np.uint8(0)).tobytes(), 9)
    assert len(other) == stop - start
    with pytest.raises(ValueError, match=r"table 0 of the store to uint4 does not have its hash"):
        Reader(data[:start] + other + data[stop:]).table(0, UINT4)


def test_index_of_the_package_is_complete():
    reader, used = tables.store(), set()
    for src in SOURCES:
        for dst in DESTINATIONS:
            if src is not dst:
                used |= {reader.number(src, dst, policy) for policy in policies(src, dst)}
    assert used == set(range(reader.count))
    hashes = int(reader.directory[reader.count + 1])
    digests = {bytes(reader.data[hashes + 32 * n : hashes + 32 * (n + 1)]) for n in range(reader.count)}
    assert len(digests) == reader.count


def test_bool_and_float32_have_one_rounding():
    reader = tables.store()
    for dst in (BOOL, FLOAT32):
        rule = Overflow.SATURATE
        numbers = {reader.number(FLOAT16, dst, Policy(rounding, rule)) for rounding in Rounding}
        assert len(numbers) == 1
