"""``SHA256SUMS``: the hash of each file, as ``sha256sum --check`` reads it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from ..report import FileReport

NAME = "SHA256SUMS"


def format_sums(files: Iterable[FileReport]) -> bytes:
    """Return the text of the file, sorted by name."""
    return "".join(f"{file.sha256}  {file.name}\n" for file in sorted(files, key=lambda file: file.name)).encode()


def read_sums(folder: Path) -> dict[str, str]:
    """Return what a folder claims the hashes of its files to be, by name; empty where it claims nothing."""
    path = folder / NAME
    lines = path.read_text("utf-8", "replace").splitlines() if path.is_file() else []
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def file_sha256(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
