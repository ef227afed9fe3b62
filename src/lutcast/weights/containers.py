"""The kinds of weight files, by the extension of their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..formats import Format
from . import numpy_header, onnx_tensors, safetensors_header
from .atomic import replacing
from .errors import WeightsError
from .numpy_files import check_npy, open_npy, open_npz, write_npy, write_npz
from .onnx_model import open_onnx
from .onnx_rewrite import check_onnx, write_onnx
from .safetensors_file import open_safetensors, write_safetensors
from .tensors import Contents, Entry, Pieces


def _check_nothing(path: Path, contents: Contents, entries: Sequence[Entry]) -> None:
    pass


@dataclass(frozen=True)
class Container:
    """One kind of weight file.

    Attributes
    ----------
    extension : str
    open : callable
        Context manager of the `Contents` of a file.
    write : callable
        Writes a file at a path: what is in `Contents`, but tensors as entries and pieces say.
    make_entry : callable
        Says how a tensor of a name, shape and format lies in the file, or raises WeightsError.
        Containers that share it hold tensors alike.
    has_metadata : bool
    check : callable
        Raises WeightsError where `write` cannot write such contents with such entries.
    """

    extension: str
    open: Callable[[Path], AbstractContextManager[Contents]]
    write: Callable[[Path, Contents, Sequence[Entry], Pieces], None]
    make_entry: Callable[[str, tuple[int, ...], Format | None], Entry]
    has_metadata: bool = False
    check: Callable[[Path, Contents, Sequence[Entry]], None] = _check_nothing


def _in_one_pass(
    write: Callable[[BinaryIO, Sequence[Entry], Pieces, Mapping[str, str] | None], None],
) -> Callable[[Path, Contents, Sequence[Entry], Pieces], None]:
    def write_file(path: Path, contents: Contents, entries: Sequence[Entry], pieces: Pieces) -> None:
        with replacing(path) as stream:
            write(stream, entries, pieces, contents.metadata)

    return write_file


CONTAINERS: Mapping[str, Container] = {
    container.extension: container
    for container in (
        Container(
            ".safetensors",
            open_safetensors,
            _in_one_pass(write_safetensors),
            safetensors_header.make_entry,
            has_metadata=True,
        ),
        Container(".npy", open_npy, _in_one_pass(write_npy), numpy_header.make_entry, check=check_npy),
        Container(".npz", open_npz, _in_one_pass(write_npz), numpy_header.make_entry),
        Container(".onnx", open_onnx, write_onnx, onnx_tensors.make_entry, has_metadata=True, check=check_onnx),
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
