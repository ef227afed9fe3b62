"""Files that appear whole or not at all."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import WeightsError

_PREFIX, _SUFFIX = ".lutcast-", ".tmp"


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write a file beside `path` and rename it to `path` when the block ends without error.

    The file is on the disk before it has the name, and the name before this returns.

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
    temporary = path.with_name(f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}")
    try:
        with temporary.open("xb") as stream:
            with suppress(OSError):  # some file systems have no locks
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
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


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_orphans(folder: Path) -> None:
    """Remove what processes that were killed have left of `replacing` in a folder."""
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(OSError), path.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails where the writer is alive
            path.unlink()
