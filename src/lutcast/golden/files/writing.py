"""Write vectors to a file, or as a kernel test project expects them."""

from __future__ import annotations

import os
from pathlib import Path

from ...weights.atomic import replacing
from ..vectors import Vectors
from .binary import to_bytes
from .kinds import kind_of
from .options import Options


def write(
    path: str | os.PathLike[str], vectors: Vectors, *, format: str | None = None, options: Options | None = None
) -> None:
    """Write vectors to a file, which appears whole or not at all.

    Parameters
    ----------
    path : path-like
    vectors : Vectors
    format : str, optional
        The kind of file (see `KINDS`); by default the extension says it.
    options : Options, optional

    Raises
    ------
    ValueError
        No such kind.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lutcast.golden import files, vectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "decode.hex")
    ...     files.write(path, vectors("float4_e2m1fn", "float16"))
    ...     path.read_text().split()[:4]
    ['0000', '3800', '3c00', '3e00']
    """
    kind = kind_of(Path(path), format)
    with replacing(path) as stream:
        for piece in kind.write(vectors, options or Options()):
            stream.write(piece)


def write_ascendc(folder: str | os.PathLike[str], vectors: Vectors) -> None:
    """Write ``input/input_x.bin`` and ``output/golden.bin``, 4-bit codes two to a byte.

    Parameters
    ----------
    folder : path-like
        Made if need be, with both folders in it.
    vectors : Vectors
    """
    options = Options(packed=True)
    for name, codes, fmt in (
        ("input/input_x.bin", vectors.inputs, vectors.src),
        ("output/golden.bin", vectors.outputs, vectors.dst),
    ):
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as stream:
            stream.write(to_bytes(codes, fmt, options))
