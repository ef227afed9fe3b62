"""Safetensors files: memory-mapped reading and streamed writing.

Our own, because the package's NumPy route reads no float8, and its writer needs every tensor in
memory and reorders them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from .errors import SafetensorsError
from .safetensors_header import MAX_HEADER_BYTES, build_header, parse_header
from .tensors import Contents, Entry, Pieces, Tensor, map_tensor, write_pieces

_LENGTH_BYTES = 8


@contextmanager
def open_safetensors(path: str | os.PathLike[str]) -> Iterator[Contents]:
    """Open a safetensors file; its tensors are read-only views of the mapped file.

    Parameters
    ----------
    path : path-like

    Yields
    ------
    Contents
        Tensors in the order of their data, to be loaded while the file is open. Those of
        sub-byte formats load as 1-D uint8 arrays of packed codes. Loaded views stay valid.

    Raises
    ------
    SafetensorsError
        The file breaks a rule of the container; the message names file and tensor.
    OSError
        The file cannot be opened.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from lutcast.weights import convert, open_safetensors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, small = pathlib.Path(folder, "w.npy"), pathlib.Path(folder, "w.safetensors")
    ...     np.save(source, np.float32([0.1, 0.2]))
    ...     report = convert(source, small, "float8_e4m3fn")
    ...     with open_safetensors(small) as contents:
    ...         for tensor in contents.tensors:
    ...             print(tensor.entry.name, tensor.entry.format.name, tensor.load())
    w float8_e4m3fn [0.101562 0.203125]
    """
    path = Path(path)
    with path.open("rb") as stream:
        header = read_header(stream, path)
        tensors = (Tensor(entry, partial(map_tensor, stream, begin, entry)) for entry, begin in header.tensors)
        yield Contents(tuple(tensors), header.metadata)


@dataclass(frozen=True)
class Header:
    """What stands before the data of a file.

    Attributes
    ----------
    raw : bytes
        Everything before the data.
    tensors : tuple of (Entry, int)
        With the place of the first byte, in the order of the data.
    metadata : mapping or None
    file_bytes : int
    """

    raw: bytes
    tensors: tuple[tuple[Entry, int], ...]
    metadata: Mapping[str, str] | None
    file_bytes: int


def read_header(stream: BinaryIO, path: Path) -> Header:
    """Read and check the header of an open file; errors name it by `path`.

    Raises
    ------
    SafetensorsError
        The file breaks a rule of the container.
    """
    try:
        _require_little_endian()
        text, size = _read_header(stream)
        start = _LENGTH_BYTES + len(text)
        entries, metadata = parse_header(text, size - start)
    except SafetensorsError as error:
        raise SafetensorsError(f"{path}: {error}") from None
    raw = len(text).to_bytes(_LENGTH_BYTES, "little") + text
    return Header(raw, tuple((entry, start + begin) for entry, (begin, _) in entries), metadata, size)


def write_safetensors(
    stream: BinaryIO,
    entries: Sequence[Entry],
    pieces: Pieces,
    metadata: Mapping[str, str] | None,
) -> None:
    """Write a safetensors file in one pass, the tensors in the order of `entries`."""
    stream.write(file_header(entries, metadata))
    for entry in entries:
        write_pieces(stream, pieces(entry))


def file_header(entries: Sequence[Entry], metadata: Mapping[str, str] | None) -> bytes:
    """Return everything that stands before the data of a file."""
    _require_little_endian()
    text = build_header(entries, metadata)
    return len(text).to_bytes(_LENGTH_BYTES, "little") + text


def _read_header(stream: BinaryIO) -> tuple[bytes, int]:
    size = os.fstat(stream.fileno()).st_size
    prefix = stream.read(_LENGTH_BYTES)
    if len(prefix) < _LENGTH_BYTES:
        raise SafetensorsError(f"the file has {len(prefix)} bytes, too few for the length of a header")
    length = int.from_bytes(prefix, "little")
    if length > MAX_HEADER_BYTES:
        raise SafetensorsError(f"the header claims {length} bytes; at most {MAX_HEADER_BYTES} are allowed")
    header = stream.read(length)
    if len(header) < length:
        raise SafetensorsError(f"the file is truncated: {len(header)} of {length} header bytes")
    return header, size


def _require_little_endian() -> None:
    if sys.byteorder != "little":
        raise SafetensorsError("safetensors files are supported on little-endian machines only")
