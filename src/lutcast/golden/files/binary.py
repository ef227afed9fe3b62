"""Codes as bytes: ``.npy`` and ``.bin``."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np

from ...arrays import Array
from ...formats import Format
from ...names import array_dtype
from ...packing import pack, unpack
from ...weights.errors import WeightsError
from ...weights.numpy_header import make_entry, read_entry, write_header
from ..vectors import Vectors
from .errors import GoldenFileError
from .options import Options


def write_npy(vectors: Vectors, options: Options) -> Iterator[bytes]:
    """Yield an array of the results; of unsigned codes where NumPy does not know the format."""
    stream = io.BytesIO()
    entry = make_entry("", vectors.outputs.shape, vectors.dst)
    write_header(stream, entry)
    yield stream.getvalue()
    yield vectors.outputs.view(entry.dtype).tobytes()


def read_npy(data: bytes, src: Format | None, dst: Format, options: Options) -> tuple[None, Array]:
    """Read an array of values, or of codes."""
    stream = io.BytesIO(data)
    try:
        entry = read_entry(stream, "")
    except WeightsError as error:
        raise GoldenFileError(str(error)) from None
    dtype = entry.dtype.newbyteorder("=")
    if dtype != array_dtype(dst) and not (dtype.kind == "u" and dtype.itemsize == dst.itemsize):
        raise GoldenFileError(f"an array of {dtype}; {array_dtype(dst)} or codes in uint{8 * dst.itemsize} are needed")
    rest = data[stream.tell() :]
    if len(rest) != entry.nbytes:
        raise GoldenFileError(
            f"shape {entry.shape} takes {entry.nbytes} bytes, the file has {len(rest)} from offset {stream.tell()}"
        )
    array = np.frombuffer(rest, entry.dtype).astype(dtype).view(f"u{dst.itemsize}")
    return None, _checked(array, dst)


def write_bin(vectors: Vectors, options: Options) -> Iterator[bytes]:
    """Yield the codes of the results and nothing else."""
    yield to_bytes(vectors.outputs, vectors.dst, options)


def to_bytes(codes: Array, fmt: Format, options: Options) -> bytes:
    """Return codes as bytes."""
    if options.packed and fmt.bits < 8 and fmt.kind != "bool":
        return pack(codes, fmt).tobytes()
    order = "<" if options.endian == "little" else ">"
    return codes.astype(f"{order}u{fmt.itemsize}").tobytes()


def read_bin(data: bytes, src: Format | None, dst: Format, options: Options) -> tuple[None, Array]:
    """Read codes, one in each element or packed."""
    if options.packed and dst.bits < 8 and dst.kind != "bool":
        elements = len(data) * 8 // dst.bits
        size = -(-elements * dst.bits // 8)
        return None, unpack(np.frombuffer(data[:size], np.uint8), dst, (elements,)).view(np.uint8)
    if len(data) % dst.itemsize:
        raise GoldenFileError(f"{len(data)} bytes are no whole number of elements of {dst.itemsize}")
    order = "<" if options.endian == "little" else ">"
    codes = np.frombuffer(data, f"{order}u{dst.itemsize}").astype(f"u{dst.itemsize}")
    return None, _checked(codes, dst)


def _checked(codes: Array, fmt: Format) -> Array:
    if fmt.bits >= 8:
        return codes
    too_large = np.flatnonzero(codes > fmt.mask)
    if too_large.size:
        index = int(too_large[0])
        raise GoldenFileError(f"element {index} is {codes[index]:#x}, beyond the {fmt.bits} bits of {fmt.name}")
    return codes
