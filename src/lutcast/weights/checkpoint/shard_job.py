"""One shard of the destination: a job in plain values, for any process on any machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

from numpy.typing import NDArray

from ..atomic import replacing
from ..errors import WeightsError
from ..report import FileReport, TensorReport
from ..safetensors_file import file_header, write_safetensors
from ..tensors import Entry
from .actions import Action, make_outputs
from .hashing import Hashing
from .options import Options
from .outputs import Output
from .shard_file import FORMAT_KEY, Stored, read_shard

#: Called with the name of the tensor at hand and the bytes of the source that are done.
Step = Callable[[str, int], None]
OWN_KEYS = "lutcast."
RECORD_KEY = "lutcast.conversion"


@dataclass(frozen=True)
class Part:
    """Tensors that a shard takes from one file of the source.

    Attributes
    ----------
    source : str
        Path of the file.
    tensors : tuple of (str, Action)
        Names, and what becomes of each.
    """

    source: str
    tensors: tuple[tuple[str, Action], ...]


@dataclass(frozen=True)
class ShardJob:
    """What makes one file of the destination.

    Attributes
    ----------
    path : str
        The file to write.
    parts : tuple of Part
    options : Options
    metadata : mapping of str to str
        Without the records of formats.
    threads : int
        Threads of each cast.
    is_audited : bool
    """

    path: str
    parts: tuple[Part, ...]
    options: Options
    metadata: Mapping[str, str]
    threads: int
    is_audited: bool


@dataclass(frozen=True)
class ShardPlan:
    """The tensors of a shard in their order, and everything that stands before their data."""

    outputs: tuple[Output, ...]
    metadata: Mapping[str, str]
    header: bytes

    @property
    def data_bytes(self) -> int:
        """Bytes of the tensors."""
        return sum(output.entry.nbytes for output in self.outputs)


@dataclass(frozen=True)
class ShardResult:
    """What became of a job."""

    file: FileReport
    tensors: tuple[TensorReport, ...]


def plan_shard(job: ShardJob) -> ShardPlan:
    """Decide what a shard will hold, and check that it can.

    Raises
    ------
    WeightsError
        A file of the source is damaged or not what was planned, or safetensors cannot hold a result.
    lutcast.UnsupportedCast, ValueError
        There is no such cast.
    """
    read = cache(read_shard)

    def find(source: str, name: str) -> Stored:
        found = read(Path(source)).tensors
        if name not in found:
            raise WeightsError(f"{source}: tensor {name!r} is gone: the file was changed")
        return found[name]

    outputs: list[Output] = []
    for part in job.parts:
        for name, action in part.tensors:
            outputs += make_outputs(find(part.source, name), action, job.options, find)
    records = {FORMAT_KEY + o.entry.name: o.format.name for o in outputs if not o.has_own_name}
    metadata = {**job.metadata, **records}
    return ShardPlan(tuple(outputs), metadata, file_header([output.entry for output in outputs], metadata))


def own_metadata(options: Options, source: str, version: str) -> dict[str, str]:
    """Return the record of how a file was made: no time, no place."""
    record = {"version": version, "source": source, **options.as_dict()}
    return {RECORD_KEY: json.dumps(record)}


def run_shard(job: ShardJob, step: Step | None = None) -> ShardResult:
    """Write one file: whole and on the disk, or not at all.

    Parameters
    ----------
    job : ShardJob
    step : callable, optional

    Returns
    -------
    ShardResult

    Raises
    ------
    OSError
        A file cannot be read or written.
    WeightsError
        As `plan_shard`.
    """
    plan = plan_shard(job)
    outputs = {output.entry.name: output for output in plan.outputs}
    reports: list[TensorReport] = []
    done = 0

    def pieces(entry: Entry) -> Iterator[NDArray[Any]]:
        nonlocal done
        output = outputs[entry.name]
        measurer = output.measurer() if job.is_audited else None
        before, written = output.source_bytes, 0
        if step:
            step(entry.name, done)
        for piece in output.pieces(job.threads, measurer):
            yield piece
            written += piece.nbytes
            if step:
                step(entry.name, done + before * written // entry.nbytes)
        done += before
        reports.append(output.report(measurer))

    with replacing(job.path) as stream, Hashing(stream, in_background=job.threads > 1) as hashing:
        entries = [output.entry for output in plan.outputs]
        write_safetensors(cast("BinaryIO", hashing), entries, pieces, plan.metadata)
        digest = hashing.hexdigest()
    return ShardResult(FileReport(Path(job.path).name, hashing.size, digest), tuple(reports))
