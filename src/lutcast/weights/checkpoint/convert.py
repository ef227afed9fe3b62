"""`convert_checkpoint`: plan, shards, index; resumable at every moment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from ..atomic import remove_orphans, sync_folder
from ..convert import Progress
from ..errors import WeightsError
from ..report import Report
from .finish import finish
from .journal import has_journal, open_journal, remove_journal
from .options import DEFAULT_LAYOUT, make_options
from .plan import Plan, make_plan
from .preflight import check_paths, check_space, free_bytes
from .resume import begin, finished_file, finished_files, remove_old
from .shard_job import ShardResult
from .source import read_checkpoint
from .work import Results, Work, report

_COMPLETE = "nothing to do: the conversion was complete"


def convert_checkpoint(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    to: Any,
    *,
    rounding: str | None = None,
    overflow: str | None = None,
    nan: str = "keep",
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    keep: Sequence[str] = (),
    scale: str | None = None,
    layout: str = DEFAULT_LAYOUT,
    scale_max: float | None = None,
    unscale: bool = False,
    threads: int = 1,
    audit: bool = True,
    dry_run: bool = False,
    executor: Executor | None = None,
    resume: bool = False,
    overwrite: bool = False,
    max_shard_size: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Convert the floating-point tensors of a checkpoint to another format.

    Everything is checked before anything is written. Each shard then appears whole or not at
    all; a journal in the destination says which are finished. The same source and options give
    the same bytes, whatever the executor, the number of threads and the machine.

    Parameters
    ----------
    source : path-like
        A file ending in ``.safetensors``, or a folder with one such file or several and an index.
    destination : path-like
        A file ending in ``.safetensors``, or a folder, which may be there if it is empty.
    to : format
        Anything `lutcast.get_format` accepts. Where safetensors has no name for it, tensors are
        stored as unsigned codes, and ``lutcast.format.<tensor>`` in the metadata names the format.
    rounding, overflow, nan
        The policy, as for `lutcast.cast`.
    include, exclude, keep : sequence of str
        Shell patterns over tensor names, case-sensitive. Converted are real floats that match
        one of `include` (all, if empty), none of `exclude` and none of `keep`, which also knows
        the words ``norms``, ``embeddings``, ``routers``, ``heads`` and ``biases``. Scales, zero
        points and tensors that are not real floats are converted only where a pattern of
        `include` without wildcards after its last dot names them.
    scale : {"tensor", "channel", "block:ROWSxCOLUMNS"}, optional
        Divide matrices of weights by scales, one for each matrix, output channel or block, so that
        the largest magnitude becomes the largest finite value of the float8 format `to`; scales
        are stored as float32 beside the weights. Without `keep`, norms, embeddings, routers and
        heads are copied.
    layout : {"compressed-tensors", "deepseek"}
        How scales are named and what ``config.json`` says of them.
    scale_max : float, optional
        What the largest magnitude becomes instead; some engines use 224 for float8_e4m3fnuz.
    unscale : bool
        Multiply scaled weights by their scales and leave those out. Without it they are copied; but
        from float8_e4m3fn to float8_e4m3fnuz, and back, scaled weights keep their bits and their
        scales double, or halve.
    threads : int
        Threads of each cast.
    audit : bool
        Measure what each cast loses.
    dry_run : bool
        Check, and audit where asked to, write nothing.
    executor : concurrent.futures.Executor, optional
        Runs the shards; they are written by this thread by default.
    resume : bool
        Go on where a conversion with the same source and options was stopped: finished shards
        are kept if their hashes are right. Without one, begin.
    overwrite : bool
        Replace a destination that is there: the file, or in a folder its weights, index and
        files of the same names.
    max_shard_size : int, optional
        Bytes of tensors in one shard; divides the checkpoint anew. A larger tensor stands alone.
    progress : callable, optional
        Called as ``progress(name, done, total)``, bytes of the source; with an executor once
        for each shard.

    Returns
    -------
    Report

    Raises
    ------
    WeightsError
        The source is damaged; the destination is there, is the source, lies in it, cannot be
        written or is too small; or an unfinished conversion was made from something else.
    lutcast.UnsupportedCast
        There is no such cast under this policy.
    ValueError
        The policy makes no sense for these formats.
    OSError
        A file cannot be read or written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from lutcast.weights import convert, convert_checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = pathlib.Path(folder, "model.safetensors")
    ...     np.savez(model.with_name("w.npz"), **{"a.weight": np.ones((2, 2)), "a.scale": np.ones(2)})
    ...     report = convert(model.with_name("w.npz"), model, "float32")
    ...     report = convert_checkpoint(model, model.with_name("small"), "bfloat16")
    ...     sorted(path.name for path in model.with_name("small").iterdir())
    ['SHA256SUMS', 'model.safetensors']
    >>> [tensor.destination for tensor in report.tensors]
    ['bfloat16', 'float32']
    """
    options = make_options(to, rounding, overflow, nan, include, exclude, keep, scale, layout, scale_max, unscale)
    plan = make_plan(
        read_checkpoint(Path(source)),
        Path(destination),
        options,
        threads=threads,
        is_audited=audit,
        max_shard_size=max_shard_size,
    )
    check_paths(plan, overwrite=overwrite, resume=resume)
    free = free_bytes(plan)
    work = Work(plan, executor, progress)
    if dry_run:
        return report(plan, work.dry_run(), (), free, dry_run=True)
    check_space(plan, free, resume=resume)
    if plan.is_folder:
        results, notes = _convert_folder(plan, work, overwrite=overwrite, resume=resume)
    else:
        results, notes = _convert_file(plan, work, overwrite=overwrite, resume=resume)
    return report(plan, results, notes, free)


def _convert_file(plan: Plan, work: Work, *, overwrite: bool, resume: bool) -> tuple[Results, list[str]]:
    remove_orphans(plan.destination.parent)
    if resume and plan.destination.exists():
        done = finished_file(plan.jobs[0], plan.shards[0])
        if done:
            return {done.file.name: done}, [_COMPLETE]
        if not overwrite:
            raise _not_ours(plan.destination)
    results: dict[str, ShardResult] = {}
    work.run(plan.jobs, lambda result: results.update({result.file.name: result}))
    return results, []


def _convert_folder(plan: Plan, work: Work, *, overwrite: bool, resume: bool) -> tuple[Results, list[str]]:
    folder = plan.destination
    if not folder.exists():
        folder.mkdir()
        sync_folder(folder.parent)
    if resume and not has_journal(folder) and any(folder.iterdir()):
        done = finished_files(plan)
        if done:
            return done, [_COMPLETE]
        if not overwrite:
            raise _not_ours(folder)
    with open_journal(folder) as journal:
        notes = begin(plan, journal, overwrite=overwrite, resume=resume)
        remove_orphans(folder)
        work.run([job for job in plan.jobs if Path(job.path).name not in journal.results], journal.add)
        finish(plan, (journal.results[name].file for name in plan.file_sizes))
        remove_old(plan, journal)
        remove_orphans(folder)  # of workers that were killed
        remove_journal(folder)
        return journal.results, notes


def _not_ours(path: Path) -> WeightsError:
    return WeightsError(
        f"{path}: exists already and is not the result of this conversion; overwrite it, or choose another name"
    )
