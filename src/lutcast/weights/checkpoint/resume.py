"""Where a conversion begins: anew, or where an earlier run was stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import WeightsError
from ..report import FileReport
from .journal import Journal
from .plan import Plan
from .shard_job import ShardJob, ShardPlan, ShardResult
from .source import INDEX_SUFFIX, SUFFIX
from .sums import NAME as SUMS
from .sums import file_sha256, read_sums


def begin(plan: Plan, journal: Journal, *, overwrite: bool, resume: bool) -> list[str]:
    """Make the journal that of this plan; return notes.

    Raises
    ------
    WeightsError
        The conversion that is there was made from something else.
    """
    folder, head = plan.destination, plan.head()
    difference = _difference(journal.head, head) if resume and journal.head else None
    if difference and not overwrite:
        raise WeightsError(f"{folder}: cannot resume: {difference}; overwrite it, or choose another name")
    notes = []
    if resume and journal.head and not difference:
        notes = _drop_damaged(folder, journal)
    else:
        journal.start({**head, "old": sorted(_old_shards(folder, journal))})
    # From now on nothing says that the folder is a whole checkpoint.
    for path in (folder / SUMS, *folder.glob(f"*{INDEX_SUFFIX}")):
        path.unlink(missing_ok=True)
    return notes


def remove_old(plan: Plan, journal: Journal) -> None:
    """Remove weights of a checkpoint that was overwritten."""
    assert journal.head is not None
    for name in {*journal.head["old"]} - plan.file_sizes.keys():
        (plan.destination / name).unlink(missing_ok=True)


def finished_files(plan: Plan) -> dict[str, ShardResult] | None:
    """Return the shards of a folder that is the complete result of a plan, else None."""
    sums = read_sums(plan.destination)
    others = [path.as_posix() for path in plan.checkpoint.others]
    if not plan.file_sizes.keys() | {*others} | ({plan.index_name} if plan.index_name else set()) <= sums.keys():
        return None
    results = {}
    for job, shard in zip(plan.jobs, plan.shards, strict=True):
        result = finished_file(job, shard)
        if result is None or result.file.sha256 != sums[result.file.name]:
            return None
        results[result.file.name] = result
    return results


def finished_file(job: ShardJob, shard: ShardPlan) -> ShardResult | None:
    """Return what a file is that an earlier run of a job has written, else None."""
    path, size = Path(job.path), len(shard.header) + shard.data_bytes
    if not path.is_file() or path.stat().st_size != size:
        return None
    with path.open("rb") as stream:
        if stream.read(len(shard.header)) != shard.header:
            return None
    return ShardResult(FileReport(path.name, size, file_sha256(path)), ())


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """Say in what a journal differs from a plan."""
    if before.get("source") != now["source"]:
        return "the source has changed"
    old = before.get("options", {})
    for name, value in now["options"].items():
        if old.get(name) != value:
            return f"{name} was {old.get(name)!r} and is {value!r} now"
    if before.get("library") != now["library"]:
        return f"it was begun by lutcast {before.get('library')}, this is {now['library']}"
    return None if before.get("layout") == now["layout"] else "the division into shards has changed"


def _drop_damaged(folder: Path, journal: Journal) -> list[str]:
    notes = []
    for name, result in list(journal.results.items()):
        path = folder / name
        if not path.is_file() or file_sha256(path) != result.file.sha256:
            del journal.results[name]
            notes.append(f"{name}: missing or damaged since it was written; made again")
    return notes


def _old_shards(folder: Path, journal: Journal) -> Iterator[str]:
    """Yield the names of the weights that belong to the checkpoint in a folder; other files are not ours."""
    head = journal.head or {}
    for name in {*_indexed(folder), *read_sums(folder), *head.get("old", ()), *head.get("files", ())}:
        if name.endswith(SUFFIX) and Path(name).name == name and (folder / name).is_file():
            yield name


def _indexed(folder: Path) -> Iterator[str]:
    for path in folder.glob(f"*{INDEX_SUFFIX}"):
        try:
            yield from map(str, json.loads(path.read_text("utf-8"))["weight_map"].values())
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # a damaged index names nothing
