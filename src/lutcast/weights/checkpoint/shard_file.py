"""The tensors of a safetensors file, piece by piece, and what their codes mean."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lutcast
from lutcast.arrays import holds_codes
from lutcast.formats import UINT8, Format

from .. import tensors
from ..errors import SafetensorsError
from ..safetensors_file import Header, read_header
from ..tensors import Entry, map_tensor

#: Key in the metadata: the format of a tensor that safetensors has no name for.
FORMAT_KEY = "lutcast.format."
_SAMPLE_BYTES = 512


@dataclass(frozen=True)
class Stored:
    """A tensor in a file.

    Attributes
    ----------
    path : Path
    offset : int
        Place of its first byte in the file.
    entry : Entry
        How the container describes it.
    format : Format
        What its codes mean; the metadata may say so.
    """

    path: Path
    offset: int
    entry: Entry
    format: Format

    def pieces(self) -> Iterator[NDArray[Any]]:
        """Yield the tensor as it is stored, 1-D, in pieces of whole bytes; each is a map of its own."""
        entry = self.entry
        assert entry.format is not None
        bits = entry.format.bits if entry.is_packed else 8 * entry.dtype.itemsize
        step = tensors.PIECE_ELEMENTS_STEP * max(tensors.PIECE_BYTES // bits, 1)
        for start in range(0, entry.elements, step):
            part = replace(entry, shape=(min(step, entry.elements - start),))
            yield map_tensor(self.path, self.offset + start * bits // 8, part)

    def part(self, start: int, elements: int) -> NDArray[Any]:
        """Return some elements, 1-D, of a tensor that is not packed."""
        part = replace(self.entry, shape=(elements,))
        return map_tensor(self.path, self.offset + start * self.entry.dtype.itemsize, part)

    def raw(self, start: int, size: int) -> NDArray[np.uint8]:
        """Return bytes of the tensor as it is stored."""
        entry = Entry(self.entry.name, (size,), UINT8, np.dtype(np.uint8))
        return map_tensor(self.path, self.offset + start, entry)

    def elements(self) -> Iterator[NDArray[Any]]:
        """Yield the elements, or their codes, an item each, in pieces."""
        for piece in self.pieces():
            if self.entry.is_packed:
                piece = lutcast.unpack(piece, self.format.name, (8 * piece.size // self.format.bits,))
            yield piece


@dataclass(frozen=True)
class ShardFile:
    """A safetensors file of a checkpoint, in the order of its data."""

    path: Path
    tensors: Mapping[str, Stored]
    metadata: Mapping[str, str] | None
    file_bytes: int
    header_digest: str


def read_shard(path: Path) -> ShardFile:
    """Read what a safetensors file says of its tensors.

    Raises
    ------
    SafetensorsError
        The file breaks a rule of the container, or a record of a format contradicts it.
    OSError
        The file cannot be read.
    """
    with path.open("rb") as stream:
        header = read_header(stream, path)
    found = {entry.name: Stored(path, offset, entry, _meaning(path, header, entry)) for entry, offset in header.tensors}
    digest = hashlib.sha256(header.raw).hexdigest()
    return ShardFile(path, found, header.metadata, header.file_bytes, digest)


def identify(shard: ShardFile) -> str:
    """Return a hash of a file's size, its header and a sample from each tensor."""
    digest = hashlib.sha256(f"{shard.file_bytes} {shard.header_digest}".encode())
    with shard.path.open("rb") as stream:
        for stored in shard.tensors.values():
            middle = stored.offset + max(stored.entry.nbytes - _SAMPLE_BYTES, 0) // 2
            digest.update(os.pread(stream.fileno(), min(stored.entry.nbytes, _SAMPLE_BYTES), middle))
    return digest.hexdigest()


def _meaning(path: Path, header: Header, entry: Entry) -> Format:
    assert entry.format is not None
    record = (header.metadata or {}).get(FORMAT_KEY + entry.name)
    if record is None:
        return entry.format
    try:
        fmt = lutcast.get_format(record, f"metadata {FORMAT_KEY}{entry.name}")
    except TypeError as error:
        raise SafetensorsError(f"{path}: {error}") from None
    if fmt is not entry.format and (entry.is_packed or not holds_codes(entry.dtype, fmt)):
        raise SafetensorsError(
            f"{path}: tensor {entry.name!r}: {entry.format.name} cannot hold the codes of {fmt.name}, "
            f"which {FORMAT_KEY}{entry.name} claims"
        )
    return fmt
