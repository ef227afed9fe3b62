"""The header of a .npy array, and how NumPy's files hold our formats."""

from __future__ import annotations

import io
import re
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from lutcast import get_format

from ..arrays import holds_codes
from ..formats import Format
from ..names import dtype_of
from .errors import WeightsError
from .tensors import Entry

# How many bytes the length takes, and what reads it and the header.
_READERS = {(1, 0): (2, npy.read_array_header_1_0), (2, 0): (4, npy.read_array_header_2_0)}
_MAX_HEADER_BYTES = 1 << 16
# A header is a Python literal, so it may end in a comment: there we record what codes mean.
_RECORD = b" # lutcast.format="
_ALIGNMENT = 64
_MAX_DIMENSIONS = 64


def read_entry(stream: BinaryIO, name: str) -> Entry:
    """Read a .npy header and leave the stream at the first byte of the array.

    Raises
    ------
    WeightsError
        The header is damaged, or describes Python objects: these are pickles, never loaded.
    """
    try:
        version = npy.read_magic(stream)
        length_bytes, read = _READERS[version]
        length = stream.read(length_bytes)
        text = stream.read(min(int.from_bytes(length, "little"), _MAX_HEADER_BYTES))
        shape, is_fortran, dtype = read(io.BytesIO(length + text))
    except KeyError:
        raise WeightsError(f".npy version {version[0]}.{version[1]} is not supported") from None
    except OSError:
        raise
    except Exception as error:
        raise WeightsError(f"not a .npy array: {error}") from None
    if dtype.hasobject:
        raise WeightsError("the array holds Python objects, that is a pickle, which is never loaded")
    if len(shape) > _MAX_DIMENSIONS or any(size < 0 for size in shape):
        raise WeightsError(f"not a .npy array: impossible shape {shape}")
    return Entry(name, shape, _meaning(text, dtype), dtype, is_fortran=is_fortran)


def write_header(stream: BinaryIO, entry: Entry) -> None:
    """Write the .npy header of an entry, with a record of its format where the dtype does not say it."""
    fields = {
        "descr": npy.dtype_to_descr(entry.dtype),
        "fortran_order": entry.is_fortran,
        "shape": entry.shape,
    }
    if entry.format is None or _format_of(entry.dtype) is entry.format:
        npy.write_array_header_1_0(stream, fields)
        return
    plain = io.BytesIO()
    npy.write_array_header_1_0(plain, fields)
    begin = npy.MAGIC_LEN + 2
    text = plain.getvalue()[begin:].rstrip() + _RECORD + entry.format.name.encode()
    text += b" " * (-(begin + len(text) + 1) % _ALIGNMENT) + b"\n"
    stream.write(npy.magic(1, 0) + len(text).to_bytes(2, "little") + text)


def make_entry(name: str, shape: tuple[int, ...], fmt: Format | None) -> Entry:
    """Say how NumPy's files hold a tensor of a format: unsigned codes if NumPy lacks it."""
    if "\0" in name:
        raise WeightsError(f"tensor {name!r}: a .npz name cannot hold a zero byte")
    assert fmt is not None  # only NumPy's own files hold other things, and they are copied
    return Entry(name, shape, fmt, stored_dtype(fmt))


def stored_dtype(fmt: Format) -> np.dtype[Any]:
    """Return the dtype under which NumPy's files hold a format."""
    dtype = dtype_of(fmt)
    # Files of ml_dtypes arrays read back as raw void bytes, or not at all.
    if dtype is not None and dtype.isbuiltin == 1:
        return dtype
    return np.dtype(f"u{fmt.itemsize}")


def _meaning(header: bytes, dtype: np.dtype[Any]) -> Format | None:
    record = re.search(re.escape(_RECORD) + rb"(\w+) *\n$", header)
    if record is None:
        return _format_of(dtype)
    try:
        fmt = get_format(record[1].decode("ascii", "replace"), "lutcast.format")
    except TypeError as error:
        raise WeightsError(f"not a .npy array: {error}") from None
    if not holds_codes(dtype, fmt):
        raise WeightsError(f"not a .npy array: {dtype} cannot hold the codes of {fmt.name}")
    return fmt


def _format_of(dtype: np.dtype[Any]) -> Format | None:
    try:
        return get_format(dtype)
    except TypeError:
        return None
