"""Safetensors files: memory-mapped reading and streamed writing.

Our own, because the package's NumPy route reads no float8, and its writer needs every tensor in
memory and reorders them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
        try:
            _require_little_endian()
            header, size = _read_header(stream)
            start = _LENGTH_BYTES + len(header)
            entries, metadata = parse_header(header, size - start)
        except SafetensorsError as error:
            raise SafetensorsError(f"{path}: {error}") from None
        tensors = (Tensor(entry, partial(map_tensor, stream, start + begin, entry)) for entry, (begin, _) in entries)
        yield Contents(tuple(tensors), metadata)


def write_safetensors(
    stream: BinaryIO,
    entries: Sequence[Entry],
    pieces: Pieces,
    metadata: Mapping[str, str] | None,
) -> None:
    """Write a safetensors file in one pass, the tensors in the order of `entries`."""
    _require_little_endian()
    header = build_header(entries, metadata)
    stream.write(len(header).to_bytes(_LENGTH_BYTES, "little") + header)
    for entry in entries:
        write_pieces(stream, pieces(entry))


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
