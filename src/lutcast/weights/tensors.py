"""What every container says about a tensor, and the tensor itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

import lutcast

from ..formats import Format

# Large enough that a call costs nothing beside its work, small enough to stay out of the way.
PIECE_BYTES = 16 << 20
# Eight elements of any format fill whole bytes, so packed pieces may be joined.
PIECE_ELEMENTS_STEP = 8
_MAX_ELEMENTS = (2**63 - 1) // 16  # bytes of the widest elements fit an index


@dataclass(frozen=True)
class Entry:
    """How one tensor lies in a container.

    Attributes
    ----------
    name : str
    shape : tuple of int
        Logical shape, also of a packed tensor.
    format : Format or None
        None for what is not a number format: strings, dates, records.
    dtype : numpy.dtype
        Element type in the file; uint8 for a packed tensor.
    is_packed : bool
        Whether several codes share a byte.
    is_fortran : bool
        Whether the first index varies fastest in the file.
    """

    name: str
    shape: tuple[int, ...]
    format: Format | None
    dtype: np.dtype[Any]
    is_packed: bool = False
    is_fortran: bool = False

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        if self.is_packed and self.format is not None:
            return -(-self.elements * self.format.bits // 8)
        return self.elements * self.dtype.itemsize

    @property
    def order(self) -> Literal["C", "F"]:
        """NumPy's letter for the memory order."""
        return "F" if self.is_fortran else "C"


@dataclass(frozen=True)
class Tensor:
    """A tensor in an open file: its entry and a function that fetches it.

    Attributes
    ----------
    entry : Entry
    load : callable
        Returns the array as it is stored: of the logical shape, or 1-D uint8 where packed.
    fixed : str
        Why a conversion within one kind of container copies the tensor; empty where it need not.
    """

    entry: Entry
    load: Callable[[], NDArray[Any]]
    fixed: str = ""

    def values(self, order: Literal["C", "F"] = "C") -> NDArray[Any]:
        """Return the elements as a 1-D array, one element per item, the last or first index fastest."""
        entry, stored = self.entry, self.load()
        if entry.is_packed:
            assert entry.format is not None
            stored = lutcast.unpack(stored, entry.format.name, entry.shape)
        return stored.reshape(-1, order=order)


@dataclass(frozen=True)
class Contents:
    """Everything in an open weight file, in the order of the file."""

    tensors: tuple[Tensor, ...]
    metadata: Mapping[str, str] | None = None


# Gives the bytes of one tensor, in order, a piece at a time.
Pieces: TypeAlias = Callable[[Entry], Iterable[NDArray[Any]]]


def is_too_large(shape: Iterable[int]) -> bool:
    """Whether NumPy cannot multiply out a shape, be it that of an empty array."""
    return math.prod(size for size in shape if size) > _MAX_ELEMENTS


def map_tensor(file: BinaryIO | Path, offset: int, entry: Entry) -> NDArray[Any]:
    """Return a tensor, as it is stored, as a read-only view of a file."""
    if not entry.nbytes:  # nothing cannot be mapped
        return np.empty(0 if entry.is_packed else entry.shape, entry.dtype)
    # A map of its own: the memory of one tensor goes when its last view goes.
    data = np.memmap(file, np.uint8, "r", offset, (entry.nbytes,)).view(np.ndarray)
    return data if entry.is_packed else data.view(entry.dtype).reshape(entry.shape)


def split(flat: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Cut a 1-D array into views of about `PIECE_BYTES`."""
    step = PIECE_BYTES // max(flat.itemsize, 1)
    step = max(step - step % PIECE_ELEMENTS_STEP, PIECE_ELEMENTS_STEP)
    for start in range(0, flat.size, step):
        yield flat[start : start + step]


def write_pieces(stream: BinaryIO, pieces: Iterable[NDArray[Any]]) -> None:
    """Write arrays one after another, as they lie in memory."""
    for piece in pieces:
        if piece.nbytes:
            # ml_dtypes arrays export no buffer; their bytes do.
            stream.write(np.ascontiguousarray(piece).view(np.uint8).data)
