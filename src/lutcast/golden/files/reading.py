"""Read codes back from goldens, and from what a device dumped."""

from __future__ import annotations

import os
from pathlib import Path

from ...arrays import Array
from ...formats import Format
from ...names import get_format
from .errors import GoldenFileError
from .kinds import Kind, kind_of
from .options import Options

__all__ = ["GoldenFileError", "read_codes", "read_vectors"]


def read_codes(
    path: str | os.PathLike[str], fmt: object, *, format: str | None = None, options: Options | None = None
) -> Array:
    """Read the codes of results.

    Parameters
    ----------
    path : path-like
    fmt : format
        What the codes mean.
    format : str, optional
        The kind of file; by default the extension says it.
    options : Options, optional
        How the file is laid out.

    Returns
    -------
    ndarray of unsigned integers

    Raises
    ------
    GoldenFileError
        The file is damaged; the message names the line or the offset.
    ValueError
        No such kind, or one that is not read.
    """
    return _read(path, format, None, get_format(fmt, "fmt"), options)[1]


def read_vectors(
    path: str | os.PathLike[str], src: object, dst: object, *, format: str | None = None, options: Options | None = None
) -> tuple[Array | None, Array]:
    """Read inputs, where the file has them, and results; raises as `read_codes`."""
    return _read(path, format, get_format(src, "src"), get_format(dst, "dst"), options)


def _read(
    path: str | os.PathLike[str], format: str | None, src: Format | None, dst: Format, options: Options | None
) -> tuple[Array | None, Array]:
    kind: Kind = kind_of(Path(path), format)
    if kind.read is None:
        raise ValueError(f"{path}: {kind.name} files are written for compilers, not read back")
    try:
        return kind.read(Path(path).read_bytes(), src, dst, options or Options())
    except GoldenFileError as error:
        raise GoldenFileError(f"{path}: {error}") from None
