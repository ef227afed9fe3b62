"""What a checkpoint consists of: shards, an index, and the files beside them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import WeightsError
from .shard_file import ShardFile, identify, read_shard
from .sums import NAME as SUMS

SUFFIX = ".safetensors"
INDEX_SUFFIX = ".safetensors.index.json"
_SHARD_NAME = re.compile(r"(?P<base>.+)-\d+-of-\d+\.safetensors")
_HARD_TO_LIST = {"\n", "\r", "\\"}
# Weights in other containers: old ones beside new ones would be a trap.
_OTHER_WEIGHTS = (SUFFIX, ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".onnx", ".h5", ".msgpack", ".index.json")


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint on the disk.

    Attributes
    ----------
    path : Path
    is_folder : bool
    shards : tuple of ShardFile
        In the order of their names.
    index : mapping or None
        The document of the index, where there is one.
    others : tuple of Path
        Files to copy, relative to the folder.
    skipped : tuple of Path
        Files that stay behind: weights that are no part of the checkpoint.
    """

    path: Path
    is_folder: bool
    shards: tuple[ShardFile, ...]
    index: Mapping[str, Any] | None = None
    others: tuple[Path, ...] = ()
    skipped: tuple[Path, ...] = ()

    @property
    def base(self) -> str:
        """Name of the shards without number and extension."""
        name = self.shards[0].path.name
        numbered = _SHARD_NAME.fullmatch(name)
        return numbered["base"] if numbered else name.removesuffix(SUFFIX)

    def identity(self) -> str:
        """Return a hash of the sizes, headers and samples of the shards, whatever their names."""
        digests = sorted(identify(shard) for shard in self.shards)
        return hashlib.sha256(" ".join(digests).encode()).hexdigest()


def read_checkpoint(path: Path) -> Checkpoint:
    """Read what a safetensors file or a folder of them consists of.

    Raises
    ------
    WeightsError
        There is no checkpoint, or index and shards contradict each other.
    OSError
        A file cannot be read.
    """
    if not path.is_dir():
        if path.suffix.lower() != SUFFIX:
            raise WeightsError(f"{path}: a checkpoint is a folder or a file that ends in {SUFFIX}")
        return Checkpoint(path, False, (read_shard(path),))
    index = _read_index(path)
    names = _shard_names(path, index)
    shards = tuple(read_shard(path / name) for name in names)
    _check_tensors(path, shards, index)
    others, skipped = _other_files(path, {*names})
    return Checkpoint(path, True, shards, index, others, skipped)


def _read_index(folder: Path) -> Mapping[str, Any] | None:
    found = sorted(folder.glob(f"*{INDEX_SUFFIX}"))
    if not found:
        return None
    if len(found) > 1:
        raise WeightsError(f"{folder}: several indices: {', '.join(path.name for path in found)}")
    try:
        index = json.loads(found[0].read_text("utf-8"))
        files = index["weight_map"]
        is_valid = isinstance(files, dict) and all(isinstance(name, str) for name in files.values())
    except (ValueError, KeyError, TypeError):
        is_valid = False
    if not is_valid or not isinstance(index.get("metadata", {}), dict):
        raise WeightsError(f"{found[0]}: not an index: no object with a weight_map from tensors to files")
    assert isinstance(index, dict)
    return index


def _shard_names(folder: Path, index: Mapping[str, Any] | None) -> list[str]:
    if index is None:
        names = sorted(path.name for path in folder.glob(f"*{SUFFIX}"))
        if len(names) == 1:
            return names
        what = "no file" if not names else f"{len(names)} files and no index"
        raise WeightsError(f"{folder}: {what} {SUFFIX}; a checkpoint is one such file, or several with an index")
    names = sorted(set(index["weight_map"].values()))
    for name in names:
        if "/" in name or "\\" in name or not name.endswith(SUFFIX):
            raise WeightsError(f"{folder}: the index names {name!r}, which is no {SUFFIX} file of this folder")
    if not names:
        raise WeightsError(f"{folder}: the index names no file")
    return names


def _check_tensors(folder: Path, shards: tuple[ShardFile, ...], index: Mapping[str, Any] | None) -> None:
    where: dict[str, str] = {}
    for shard in shards:
        for name in shard.tensors:
            if name in where:
                raise WeightsError(f"{folder}: tensor {name!r} is in {where[name]} and in {shard.path.name}")
            where[name] = shard.path.name
    expected = where if index is None else index["weight_map"]
    for name in sorted(where.keys() | expected.keys()):
        if where.get(name) != expected.get(name):
            raise WeightsError(
                f"{folder}: tensor {name!r}: the index says {expected.get(name, 'nothing')}, "
                f"the files say {where.get(name, 'nothing')}"
            )


def _other_files(folder: Path, shards: set[str]) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    others: list[Path] = []
    skipped: list[Path] = []
    for path in sorted(_walk(folder)):
        if path.name == str(path) and (path.name in shards or path.name.endswith((SUMS, INDEX_SUFFIX))):
            continue  # we make our own
        if _HARD_TO_LIST & {*str(path)}:
            raise WeightsError(f"{folder}: the file name {str(path)!r} holds a line break or a backslash")
        (skipped if path.name.endswith(_OTHER_WEIGHTS) else others).append(path)
    return tuple(others), tuple(skipped)


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, relative to it; not what is hidden, nor folders that are links."""
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(root, name)
            if not name.startswith(".") and path.is_file():
                yield path.relative_to(folder)
