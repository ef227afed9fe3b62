"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .errors import WeightsError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write a file beside `path` and rename it to `path` when the block ends without error.

    Raises
    ------
    WeightsError
        `path` exists and is not a regular file, or its directory does not exist.
    OSError
        The file cannot be written; a file that was at `path` is untouched.
    """
    path = Path(path)
    check_destination(path)
    # Not tempfile: its files are private (0600), ours take the user's umask.
    temporary = path.with_name(f".lutcast-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as stream:
            yield stream
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            error.filename, error.filename2 = str(path), None  # the name the user knows
        raise


def check_destination(path: Path) -> None:
    """Refuse a destination that cannot become a file."""
    if path.exists() and not path.is_file():
        raise WeightsError(f"{path}: exists and is not a regular file")
    if not path.parent.is_dir():
        raise WeightsError(f"{path}: the directory {path.parent} does not exist")
