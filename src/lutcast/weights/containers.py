"""The kinds of weight files, by the extension of their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..formats import Format
from . import numpy_header, safetensors_header
from .errors import WeightsError
from .numpy_files import open_npy, open_npz, write_npy, write_npz
from .safetensors_file import open_safetensors, write_safetensors
from .tensors import Contents, Entry, Pieces


@dataclass(frozen=True)
class Container:
    """One kind of weight file.

    Attributes
    ----------
    extension : str
    open : callable
        Context manager of the `Contents` of a file.
    write : callable
        Writes entries, their pieces and the metadata to a binary stream, in one pass.
    make_entry : callable
        Says how a tensor of a name, shape and format lies in the file, or raises WeightsError.
        Containers that share it hold tensors alike.
    has_metadata : bool
    is_single : bool
        Whether a file holds exactly one tensor.
    """

    extension: str
    open: Callable[[Path], AbstractContextManager[Contents]]
    write: Callable[[BinaryIO, Sequence[Entry], Pieces, Mapping[str, str] | None], None]
    make_entry: Callable[[str, tuple[int, ...], Format | None], Entry]
    has_metadata: bool = False
    is_single: bool = False


CONTAINERS: Mapping[str, Container] = {
    container.extension: container
    for container in (
        Container(
            ".safetensors", open_safetensors, write_safetensors, safetensors_header.make_entry, has_metadata=True
        ),
        Container(".npy", open_npy, write_npy, numpy_header.make_entry, is_single=True),
        Container(".npz", open_npz, write_npz, numpy_header.make_entry),
    )
}


def container_of(path: Path) -> Container:
    """Return the kind of a weight file.

    Raises
    ------
    WeightsError
        The extension belongs to no kind of weight file.
    """
    try:
        return CONTAINERS[path.suffix.lower()]
    except KeyError:
        raise WeightsError(f"{path}: the extension must be one of {', '.join(CONTAINERS)}") from None
