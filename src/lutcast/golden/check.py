"""Check a suite: its hashes, and every vector computed anew."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .suites import MANIFEST, Progress, encoded, entry_of, goldens_of


@dataclass(frozen=True)
class CheckReport:
    """What a check found.

    Attributes
    ----------
    files : int
        Files that the manifest lists.
    problems : tuple of str
        One for each file that is missing, changed, or not what this version computes.
    """

    files: int
    problems: tuple[str, ...]


def check(folder: str | os.PathLike[str], *, progress: Progress | None = None) -> CheckReport:
    """Check a suite against its manifest and against what this version computes.

    Parameters
    ----------
    folder : path-like
    progress : callable, optional

    Returns
    -------
    CheckReport

    Raises
    ------
    ValueError
        The folder has no manifest, or a damaged one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lutcast.golden import check, presets, write_suite
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     suite = pathlib.Path(folder, "suite")
    ...     manifest = write_suite(presets.ocp()[:3], suite, name="ocp")
    ...     check(suite).problems
    ()
    """
    root = Path(folder)
    manifest = read_manifest(root)
    entries = manifest["files"] if isinstance(manifest.get("files"), list) else []
    problems: list[str] = []
    total, done = sum(entry.get("vectors", 0) for entry in entries if isinstance(entry, dict)), 0
    for golden, entry in zip(goldens_of(manifest), entries, strict=True):
        if progress:
            progress(golden.path, done, total)
        problems += _check_file(root, golden, entry)
        done += entry["vectors"]
    listed = {Path(entry["file"]) for entry in entries} | {Path(MANIFEST)}
    present = {path.relative_to(root) for path in root.rglob("*") if path.is_file()}
    problems += [f"{path}: is not in the manifest" for path in sorted(present - listed)]
    return CheckReport(len(entries), tuple(problems))


def read_manifest(root: Path) -> dict[str, Any]:
    """Read the manifest of a folder; ValueError where there is none that can be read."""
    path = root / MANIFEST
    if not path.is_file():
        raise ValueError(f"{root}: there is no {MANIFEST}: no suite, or one that was not finished")
    try:
        manifest = json.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: no valid JSON: {error}") from None
    if not isinstance(manifest, dict):
        raise ValueError(f"{path}: an object is needed")
    return manifest


def _check_file(root: Path, golden: Any, entry: dict[str, Any]) -> list[str]:
    path = root / golden.path
    if not path.resolve().is_relative_to(root.resolve()):
        return [f"{golden.path}: lies outside of the folder"]
    if not path.is_file():
        return [f"{golden.path}: is missing"]
    data = path.read_bytes()
    if (len(data), hashlib.sha256(data).hexdigest()) != (entry["bytes"], entry["sha256"]):
        return [f"{golden.path}: the file is not the one of the manifest: {len(data)} bytes, another hash"]
    made = golden.vectors()
    expected = b"".join(encoded(golden, made))
    if expected != data:
        place = next(
            (i for i, (a, b) in enumerate(zip(data, expected, strict=False)) if a != b), min(len(data), len(expected))
        )
        return [f"{golden.path}: differs from what this version computes, from byte {place} on"]
    if entry_of(golden, made, len(data), entry["sha256"]) != entry:
        return [f"{golden.path}: the manifest says something else of it than this version"]
    return []
