"""The files of a destination besides its shards: index, copies, checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..atomic import replacing
from ..report import FileReport
from .layouts import CONFIG
from .plan import Plan
from .sums import NAME as SUMS
from .sums import format_sums

_READ_BYTES = 1 << 20


def finish(plan: Plan, shards: Iterable[FileReport]) -> None:
    """Write what makes a folder of shards a checkpoint; the checksums come last."""
    written = list(shards)
    for path in plan.checkpoint.others:
        if path == Path(CONFIG) and plan.config is not None:
            written.append(_write(plan.destination / path, [plan.config]))
        else:
            written.append(_copy(plan.checkpoint.path / path, plan.destination, path))
    if plan.index_name:
        written.append(_write(plan.destination / plan.index_name, [_index(plan)]))
    _write(plan.destination / SUMS, [format_sums(written)])


def _index(plan: Plan) -> bytes:
    files = {
        output.entry.name: Path(job.path).name
        for job, shard in zip(plan.jobs, plan.shards, strict=True)
        for output in shard.outputs
    }
    old = dict(plan.checkpoint.index or {})
    total = sum(shard.data_bytes for shard in plan.shards)
    document = {**old, "metadata": {**old.get("metadata", {}), "total_size": total}, "weight_map": files}
    return json.dumps(document, indent=2, sort_keys=True).encode() + b"\n"


def _copy(source: Path, folder: Path, name: Path) -> FileReport:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    return _write(folder / name, _blocks(source), name.as_posix())


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while block := stream.read(_READ_BYTES):
            yield block


def _write(path: Path, blocks: Iterable[bytes], name: str = "") -> FileReport:
    digest, size = hashlib.sha256(), 0
    with replacing(path) as stream:
        for block in blocks:
            stream.write(block)
            digest.update(block)
            size += len(block)
    return FileReport(name or path.name, size, digest.hexdigest())
