"""The journal of a conversion: which shards are finished, so that a killed run can go on."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ..atomic import sync_folder
from ..errors import WeightsError
from ..measures import Measures
from ..report import FileReport, TensorReport
from .shard_job import ShardResult

NAME = ".lutcast-journal.jsonl"


class Journal:
    """An open journal: JSON lines, appended only; after one that says of what, one for each finished shard."""

    def __init__(self, stream: BinaryIO, lines: list[dict[str, Any]]) -> None:
        self._stream = stream
        self.head: Mapping[str, Any] | None = None
        self.results: dict[str, ShardResult] = {}
        for line in lines:
            if "file" in line:
                result = _result(line)
                self.results[result.file.name] = result
            else:
                self.head, self.results = line, {}

    def start(self, head: Mapping[str, Any]) -> None:
        """Begin anew."""
        self.head, self.results = head, {}
        self._append(head)

    def add(self, result: ShardResult) -> None:
        """Note a finished shard, on the disk when this returns."""
        self.results[result.file.name] = result
        self._append(dataclasses.asdict(result))

    def _append(self, line: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(line).encode() + b"\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())


@contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """Open the journal of a destination, for one process at a time.

    A last line that was cut off is dropped.

    Raises
    ------
    WeightsError
        Another process has it open.
    """
    path = folder / NAME
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b") as stream:
        try:
            # Not flock: children would hold it on when this process is killed.
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WeightsError(f"{folder}: another conversion is writing here") from None
        whole, _, torn = stream.read().rpartition(b"\n")
        if torn:
            stream.truncate(stream.tell() - len(torn))
        stream.seek(0, os.SEEK_END)
        try:
            journal = Journal(stream, [json.loads(line) for line in whole.splitlines()])
        except (ValueError, KeyError, TypeError) as error:
            raise WeightsError(f"{path}: not a journal: {error}") from None
        yield journal


def has_journal(folder: Path) -> bool:
    """Whether a folder holds a conversion that is not complete."""
    return (folder / NAME).exists()


def remove_journal(folder: Path) -> None:
    """Remove the journal of a conversion that is complete."""
    (folder / NAME).unlink()
    sync_folder(folder)


def _result(line: Mapping[str, Any]) -> ShardResult:
    tensors = (
        TensorReport(**{**t, "shape": tuple(t["shape"]), "audit": Measures(**t["audit"]) if t["audit"] else None})
        for t in line["tensors"]
    )
    return ShardResult(FileReport(**line["file"]), tuple(tensors))
