"""Suites: many goldens in one folder, under a manifest that says what each one means."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import tables
from .._version import __version__
from ..formats import Format
from ..policy import resolve
from ..weights.atomic import replacing
from .files import Options, kind_of
from .vectors import Vectors, count, vectors

MANIFEST = "manifest.json"
VERSION = 1

#: Called with the file at hand, vectors done and vectors in all.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Golden:
    """One file of a suite: what is in it and how it is written."""

    path: str
    src: Format
    dst: Format
    rounding: str
    overflow: str
    nan: str = "keep"
    level: int = 1
    format: str = "bin"
    options: Options = field(default_factory=Options)

    def vectors(self) -> Vectors:
        """Compute the vectors."""
        return vectors(
            self.src, self.dst, rounding=self.rounding, overflow=self.overflow, nan=self.nan, level=self.level
        )

    def count(self) -> int:
        """Return how many vectors there are."""
        return count(self.src, self.dst, self.level)


def golden_of(
    src: Format,
    dst: Format,
    rounding: object,
    overflow: object,
    nan: str = "keep",
    *,
    level: int = 1,
    format: str = "bin",
) -> Golden:
    """Return the golden of a cast under its usual name."""
    policy = resolve(src, dst, rounding, overflow, nan)
    parts = [policy.rounding, policy.overflow] + ["nan_zero"] * (policy.nan == "zero")
    extension = kind_of(Path(), format).extension
    path = f"{src.name}/{dst.name}/{'-'.join(parts)}{extension}"
    return Golden(path, src, dst, str(policy.rounding), str(policy.overflow), policy.nan, level, format)


def write_suite(
    goldens: Sequence[Golden], folder: str | os.PathLike[str], *, name: str, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the files of a suite and their manifest.

    The same suite is the same bytes on every machine. The manifest comes last: a folder without one
    is not finished.

    Parameters
    ----------
    goldens : sequence of Golden
    folder : path-like
        Made if need be; it must be empty.
    name : str
        Name of the suite.
    progress : callable, optional

    Returns
    -------
    dict
        The manifest.

    Raises
    ------
    ValueError
        The folder is not empty.
    """
    root = Path(folder)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise ValueError(f"{root}: exists and is no empty folder")
    root.mkdir(parents=True, exist_ok=True)
    total, done = sum(golden.count() for golden in goldens), 0
    entries = []
    for golden in goldens:
        if progress:
            progress(golden.path, done, total)
        made = golden.vectors()
        entries.append(_write(golden, made, root))
        done += len(made)
    if progress:
        progress(MANIFEST, done, total)
    manifest = {
        "suite": name,
        "version": VERSION,
        "lutcast": __version__,
        "tables": hashlib.sha256(tables.store().data).hexdigest(),
        "files": entries,
    }
    with replacing(root / MANIFEST) as stream:
        stream.write((json.dumps(manifest, indent=1) + "\n").encode())
    return manifest


def _write(golden: Golden, made: Vectors, root: Path) -> dict[str, Any]:
    path = root / golden.path
    path.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with replacing(path) as stream:
        for piece in encoded(golden, made):
            stream.write(piece)
            digest.update(piece)
            size += len(piece)
    return entry_of(golden, made, size, digest.hexdigest())


def encoded(golden: Golden, made: Vectors) -> Iterable[bytes]:
    """Return the bytes of a golden, in pieces."""
    return kind_of(Path(golden.path), golden.format).write(made, golden.options)


def entry_of(golden: Golden, made: Vectors, size: int, digest: str) -> dict[str, Any]:
    """Return what the manifest says of a file."""
    options = golden.options
    return {
        "file": golden.path,
        "source": golden.src.name,
        "destination": golden.dst.name,
        "rounding": golden.rounding,
        "overflow": golden.overflow,
        "nan": golden.nan,
        "level": golden.level,
        "inputs": "every code, ascending" if made.is_complete else "directed, ascending",
        "generator": made.generator,
        "seed": made.seed,
        "format": golden.format,
        "endian": options.endian,
        "packed": options.packed,
        "words_per_line": options.words_per_line,
        "addresses": options.addresses,
        "name": options.name,
        "vectors": len(made),
        "bytes": size,
        "sha256": digest,
    }


def goldens_of(manifest: dict[str, Any]) -> Iterator[Golden]:
    """Yield the goldens that a manifest lists.

    Raises
    ------
    ValueError
        It is no manifest of this version, or names what does not exist.
    """
    from ..names import get_format

    if manifest.get("version") != VERSION or not isinstance(manifest.get("files"), list):
        raise ValueError(f"manifest: version {manifest.get('version')!r} given, {VERSION} is needed")
    for entry in manifest["files"]:
        try:
            options = Options(
                entry["endian"], entry["packed"], entry["words_per_line"], entry["addresses"], entry["name"]
            )
            yield Golden(
                entry["file"],
                get_format(entry["source"], "source"),
                get_format(entry["destination"], "destination"),
                entry["rounding"],
                entry["overflow"],
                entry["nan"],
                entry["level"],
                entry["format"],
                options,
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"manifest: a file without {error}") from None
