"""NumPy's .npy and .npz files: reading without pickles, streamed reproducible writing."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from .errors import WeightsError
from .numpy_header import read_entry, write_header
from .tensors import Contents, Entry, Pieces, Tensor, write_pieces

_SUFFIX = ".npy"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can say
_UNIX = 3
_READ_BYTES = 1 << 20  # zipfile makes a copy of each
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)


@contextmanager
def open_npy(path: str | os.PathLike[str]) -> Iterator[Contents]:
    """Open a .npy file: one tensor, named after the file, a view of the mapped file."""
    path = Path(path)
    try:
        with path.open("rb") as stream:
            entry = read_entry(stream, path.stem)
            offset, size = stream.tell(), os.fstat(stream.fileno()).st_size
        _check_size(entry, size - offset)
    except WeightsError as error:
        raise WeightsError(f"{path}: {error}") from None
    data = np.memmap(path, np.uint8, "r").view(np.ndarray)[offset:]
    yield Contents((Tensor(entry, partial(_shaped, data, entry)),))


def check_npy(path: Path, contents: Contents, entries: Sequence[Entry]) -> None:
    """Refuse what is not one tensor."""
    if len(entries) != 1:
        raise WeightsError(f".npy holds one tensor, the source has {len(entries)}")


def write_npy(stream: BinaryIO, entries: Sequence[Entry], pieces: Pieces, metadata: Mapping[str, str] | None) -> None:
    """Write a .npy file of one tensor."""
    (entry,) = entries
    write_header(stream, entry)
    write_pieces(stream, pieces(entry))


@contextmanager
def open_npz(path: str | os.PathLike[str]) -> Iterator[Contents]:
    """Open a .npz file; each tensor is read, and its checksum compared, when it is loaded."""
    path = Path(path)
    with _zip_errors(path):
        archive = zipfile.ZipFile(path)
    with archive:
        with _zip_errors(path):
            tensors = tuple(_member(archive, path, info) for info in archive.infolist())
            _check_unique(tensors)
        yield Contents(tensors)


def write_npz(stream: BinaryIO, entries: Sequence[Entry], pieces: Pieces, metadata: Mapping[str, str] | None) -> None:
    """Write an uncompressed .npz file, the same bytes for the same tensors on every machine."""
    with zipfile.ZipFile(stream, "w") as archive:
        for entry in entries:
            info = zipfile.ZipInfo(entry.name + _SUFFIX, _EPOCH)
            info.create_system, info.external_attr = _UNIX, 0o600 << 16
            with archive.open(info, "w", force_zip64=True) as member:
                write_header(cast("BinaryIO", member), entry)
                write_pieces(cast("BinaryIO", member), pieces(entry))


def _member(archive: zipfile.ZipFile, path: Path, info: zipfile.ZipInfo) -> Tensor:
    if not info.filename.endswith(_SUFFIX):
        raise WeightsError(f"{info.filename!r} is not a .npy array")
    name = info.filename.removesuffix(_SUFFIX)
    with archive.open(info) as member, _naming_tensor(name):
        entry = read_entry(cast("BinaryIO", member), name)
        # Before anything is allocated: the header may claim any size.
        _check_size(entry, info.file_size - member.tell())
    return Tensor(entry, partial(_load_member, archive, path, info))


def _load_member(archive: zipfile.ZipFile, path: Path, info: zipfile.ZipInfo) -> NDArray[Any]:
    name = info.filename.removesuffix(_SUFFIX)
    with _zip_errors(path), archive.open(info) as member, _naming_tensor(name):
        entry = read_entry(cast("BinaryIO", member), name)
        data = np.empty(entry.nbytes, np.uint8)
        for start in range(0, data.size, _READ_BYTES):
            piece = data[start : start + _READ_BYTES]
            if cast(io.BufferedIOBase, member).readinto(piece.data) != piece.size:
                raise WeightsError("the array is truncated")
        member.read()  # zipfile compares the checksum at the end of the member
    return _shaped(data, entry)


def _shaped(data: NDArray[np.uint8], entry: Entry) -> NDArray[Any]:
    return np.ndarray(entry.shape, entry.dtype, data, order=entry.order)


def _check_size(entry: Entry, available: int) -> None:
    if entry.nbytes != available:
        raise WeightsError(
            f"shape {entry.shape} of {entry.dtype} takes {entry.nbytes} bytes, the file holds {available}"
        )


def _check_unique(tensors: Sequence[Tensor]) -> None:
    names = Counter(tensor.entry.name for tensor in tensors)
    for name, count in names.items():
        if count > 1:
            raise WeightsError(f"tensor {name!r} is there {count} times")


@contextmanager
def _zip_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except WeightsError as error:
        raise WeightsError(f"{path}: {error}") from None
    except _ZIP_ERRORS as error:
        raise WeightsError(f"{path}: damaged or unsupported zip: {error}") from None


@contextmanager
def _naming_tensor(name: str) -> Iterator[None]:
    try:
        yield
    except WeightsError as error:
        raise WeightsError(f"tensor {name!r}: {error}") from None
