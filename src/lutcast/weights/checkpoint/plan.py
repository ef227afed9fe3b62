"""The whole of a conversion, decided before anything is written."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lutcast

from ..errors import WeightsError
from .actions import DROP, Action, decide, make_outputs, new_config
from .options import Options
from .selection import reason_to_keep, unmatched
from .shard_file import ShardFile
from .shard_job import OWN_KEYS, Part, ShardJob, ShardPlan, own_metadata, plan_shard
from .source import INDEX_SUFFIX, SUFFIX, Checkpoint
from .ties import keep_ties


@dataclass(frozen=True)
class Plan:
    """What will be written.

    Attributes
    ----------
    checkpoint : Checkpoint
    destination : Path
    is_folder : bool
        Whether the destination is a folder.
    options : Options
    source : str
        Identity of the source.
    jobs : tuple of ShardJob
    shards : tuple of ShardPlan
        One for each job.
    index_name : str or None
        Name of the index, where there is to be one.
    notes : tuple of str
    config : bytes or None
        The text of ``config.json`` where it is not the one of the source.
    """

    checkpoint: Checkpoint
    destination: Path
    is_folder: bool
    options: Options
    source: str
    jobs: tuple[ShardJob, ...]
    shards: tuple[ShardPlan, ...]
    index_name: str | None
    notes: tuple[str, ...]
    config: bytes | None = None

    @property
    def file_sizes(self) -> dict[str, int]:
        """Size of each shard, by its name."""
        return {
            Path(job.path).name: len(shard.header) + shard.data_bytes
            for job, shard in zip(self.jobs, self.shards, strict=True)
        }

    def head(self) -> dict[str, Any]:
        """Return what the journal says of the conversion: equal where the bytes would be."""
        layout = hashlib.sha256()
        for job, shard in zip(self.jobs, self.shards, strict=True):
            layout.update(json.dumps([Path(job.path).name, len(shard.header)]).encode() + shard.header)
        return {
            "library": lutcast.__version__,
            "source": self.source,
            "options": self.options.as_dict(),
            "layout": layout.hexdigest(),
            "files": [*self.file_sizes],
        }


def make_plan(
    checkpoint: Checkpoint,
    destination: Path,
    options: Options,
    *,
    threads: int = 1,
    is_audited: bool = True,
    max_shard_size: int | None = None,
) -> Plan:
    """Decide which tensors are converted and which file each goes to, and check that all of it can be.

    Raises
    ------
    WeightsError
        A destination that does not fit the source, or a tensor that safetensors cannot hold.
    lutcast.UnsupportedCast, ValueError
        There is no such cast.
    """
    is_folder = destination.is_dir() or destination.suffix.lower() != SUFFIX
    if max_shard_size is not None and (max_shard_size < 1 or not is_folder):
        problem = "takes a number of bytes above 0" if is_folder else f"{destination} is one file"
        raise WeightsError(f"max_shard_size: {max_shard_size} given; {problem}")
    tensors = {name: stored for shard in checkpoint.shards for name, stored in shard.tensors.items()}
    reasons = keep_ties(tensors, {name: reason_to_keep(name, t.format, options) for name, t in tensors.items()})
    actions, reasons, scaling_notes = decide(checkpoint, reasons, options)
    source = checkpoint.identity()
    own = own_metadata(options, source, lutcast.__version__)
    jobs, shards = [], []
    try:
        for name, parts in _layout(checkpoint, destination, options, actions, is_folder, max_shard_size):
            sources = {part.source for part in parts}
            metadata = joined_metadata(s for s in checkpoint.shards if str(s.path.absolute()) in sources)
            path = str((destination / name if is_folder else destination).absolute())
            jobs.append(ShardJob(path, parts, options, {**metadata, **own}, threads, is_audited))
            shards.append(plan_shard(jobs[-1]))
    except WeightsError as error:
        raise WeightsError(f"{destination}: {error}") from None
    has_index = is_folder and (len(jobs) > 1 or (checkpoint.index is not None and max_shard_size is None))
    counts = Counter(reason for reason in reasons.values() if reason)
    notes = [f"{count} tensors copied: {reason}" for reason, count in counts.items()]
    notes += [*scaling_notes, *unmatched(tensors, options)]
    notes += [f"{path} not copied: weights that are no part of the checkpoint" for path in checkpoint.skipped]
    return Plan(
        checkpoint,
        destination,
        is_folder,
        options,
        source,
        tuple(jobs),
        tuple(shards),
        checkpoint.base + INDEX_SUFFIX if has_index else None,
        tuple(notes),
        new_config(checkpoint, actions, options) if is_folder else None,
    )


def _layout(
    checkpoint: Checkpoint,
    destination: Path,
    options: Options,
    actions: Mapping[str, Action],
    is_folder: bool,
    max_shard_size: int | None,
) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """Yield the name of each shard of the destination and where its tensors come from."""

    def part(shard: ShardFile, names: list[str]) -> Part:
        chosen = tuple((name, actions[name]) for name in names if actions[name] is not DROP)
        return Part(str(shard.path.absolute()), chosen)

    if not is_folder:
        yield destination.name, tuple(part(shard, [*shard.tensors]) for shard in checkpoint.shards)
        return
    if max_shard_size is None:
        for shard in checkpoint.shards:
            yield shard.path.name, (part(shard, [*shard.tensors]),)
        return
    groups = _fill(checkpoint, options, actions, max_shard_size)
    for number, group in enumerate(groups, 1):
        name = f"{checkpoint.base}-{number:05d}-of-{len(groups):05d}{SUFFIX}"
        parts = tuple(part(shard, group[shard.path.name]) for shard in checkpoint.shards if shard.path.name in group)
        yield (name if len(groups) > 1 else checkpoint.base + SUFFIX), parts


def _fill(
    checkpoint: Checkpoint, options: Options, actions: Mapping[str, Action], limit: int
) -> list[dict[str, list[str]]]:
    """Divide the tensors, in their order, into groups of at most `limit` bytes or one tensor."""
    paths = {str(shard.path.absolute()): shard for shard in checkpoint.shards}
    groups: list[dict[str, list[str]]] = [{}]
    filled = 0
    for shard in checkpoint.shards:
        for name, stored in shard.tensors.items():
            outputs = make_outputs(stored, actions[name], options, lambda path, scales: paths[path].tensors[scales])
            size = sum(output.entry.nbytes for output in outputs)
            if filled + size > limit and groups[-1]:
                groups.append({})
                filled = 0
            groups[-1].setdefault(shard.path.name, []).append(name)
            filled += size
    return groups


def joined_metadata(shards: Iterable[ShardFile]) -> dict[str, str]:
    """Join the metadata of files whose tensors go to one file, without what we wrote ourselves.

    Raises
    ------
    WeightsError
        They contradict each other.
    """
    joined: dict[str, str] = {}
    for shard in shards:
        for key, value in (shard.metadata or {}).items():
            if not key.startswith(OWN_KEYS) and joined.setdefault(key, value) != value:
                raise WeightsError(f"metadata {key!r} differs between files whose tensors go to one")
    return joined
