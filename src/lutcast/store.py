"""The file format of the table store: written by the generator, read by `lutcast.tables`.

Layout, all integers little-endian:

    magic     8 bytes
    sizes     uint64[3]: tables, bytes of the index once inflated, bytes of the whole file
    index     zlib: uint16[source, destination, rounding, overflow], the number of a table + 1
    tables    zlib each: first element, then differences to the one before, modulo the width
    hashes    SHA-256 of each table as it is in memory
    directory uint64[tables + 3]: where the index, each table, the hashes and itself begin

A table of bools, bytes, 16-bit or float32 codes has 2**bits(source) elements. Identical tables
are stored once.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from .formats import ALL, FLOAT32, Format
from .policy import Overflow, Policy, Rounding, has_hybrid, overflows

MAGIC = b"lutcast1"
HEADER = struct.Struct("<8s3Q")
SOURCES = tuple(f for f in ALL if f.is_narrow)
DESTINATIONS = (*SOURCES, FLOAT32)
ROUNDINGS = tuple(Rounding)
OVERFLOWS = tuple(Overflow)
SHAPE = (len(SOURCES), len(DESTINATIONS), len(ROUNDINGS), len(OVERFLOWS))


Table = np.ndarray[Any, np.dtype[np.unsignedinteger]]


def code_dtype(dst: Format) -> np.dtype[np.unsignedinteger]:
    """Return the unsigned dtype that holds codes of a format, little-endian."""
    return np.dtype(f"<u{dst.itemsize}")


def slot(src: Format, dst: Format, policy: Policy) -> tuple[int, int, int, int]:
    """Return the place of a table in the index."""
    return (
        SOURCES.index(src),
        DESTINATIONS.index(dst),
        ROUNDINGS.index(policy.rounding),
        OVERFLOWS.index(policy.overflow),
    )


def policies(src: Format, dst: Format) -> list[Policy]:
    """Return the policies of a pair that can differ; in a stored table NaN is kept."""
    if dst.kind == "bool" or not dst.is_narrow:
        roundings = [Rounding.TIES_TO_EVEN]
    else:
        roundings = [r for r in ROUNDINGS if r is not Rounding.HYBRID or has_hybrid(src, dst)]
    return [Policy(rounding, overflow) for rounding in roundings for overflow in sorted(overflows(dst))]


def sha256(table: Table) -> bytes:
    """Return the hash of a table."""
    import hashlib  # here, as importing lutcast should cost little

    return hashlib.sha256(table.data).digest()


class Writer:
    """Collects tables, each distinct one once, and lays out the file."""

    def __init__(self) -> None:
        self.index = np.zeros(SHAPE, dtype="<u2")
        self.numbers: dict[bytes, int] = {}
        self.blobs: list[bytes] = []

    def add(self, src: Format, dst: Format, policy: Policy, table: Table) -> str:
        """Add one table and return its SHA-256."""
        digest = sha256(table)
        if digest not in self.numbers:
            self.numbers[digest] = len(self.blobs)
            self.blobs.append(zlib.compress(np.diff(table, prepend=table.dtype.type(0)).tobytes(), 9))
        self.index[slot(src, dst, policy)] = self.numbers[digest] + 1
        return digest.hex()

    def tobytes(self) -> bytes:
        """Return the whole file."""
        raw = self.index.tobytes()
        parts = [zlib.compress(raw, 9), *self.blobs, b"".join(self.numbers)]
        directory = HEADER.size + np.cumsum([0, *(len(part) for part in parts)], dtype="<u8")
        size = int(directory[-1]) + directory.nbytes
        return b"".join([HEADER.pack(MAGIC, len(self.blobs), len(raw), size), *parts, directory.tobytes()])


class Reader:
    """Hands out tables of a store file held in memory or mapped.

    Raises
    ------
    ValueError
        The file is not a store, or a table does not have the hash that it was stored with.
    """

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = memoryview(data)
        if len(self.data) < HEADER.size:
            raise ValueError("the table store is truncated")
        magic, self.count, index_bytes, size = HEADER.unpack_from(self.data)
        if magic != MAGIC:
            raise ValueError(f"the table store begins with {magic!r}, not with {MAGIC!r}")
        if len(self.data) < size:
            raise ValueError("the table store is truncated")
        self.directory = np.frombuffer(self.data[size - 8 * (self.count + 3) : size], dtype="<u8")
        index = zlib.decompress(self.data[HEADER.size : int(self.directory[1])], bufsize=index_bytes)
        self.index = np.frombuffer(index, dtype="<u2").reshape(SHAPE)

    def number(self, src: Format, dst: Format, policy: Policy) -> int:
        """Return the number of a table; KeyError where the store has none of that name."""
        if dst.kind == "bool" or not dst.is_narrow:
            policy = policy._replace(rounding=Rounding.TIES_TO_EVEN)
        number = int(self.index[slot(src, dst, policy)])
        if not number:
            raise KeyError(f"no table from {src.name} to {dst.name} under {policy}")
        return number - 1

    def table(self, number: int, dst: Format) -> Table:
        """Inflate one table and check it."""
        start, stop = (int(offset) for offset in self.directory[number + 1 : number + 3])
        dtype = code_dtype(dst)
        try:
            differences = np.frombuffer(zlib.decompress(self.data[start:stop]), dtype=dtype)
        except zlib.error as error:
            raise ValueError(f"table {number} of the store to {dst.name} cannot be inflated: {error}") from None
        table = np.cumsum(differences, dtype=dtype)
        hashes = int(self.directory[self.count + 1])
        if sha256(table) != self.data[hashes + 32 * number : hashes + 32 * (number + 1)]:
            raise ValueError(f"table {number} of the store to {dst.name} does not have its hash")
        return table
