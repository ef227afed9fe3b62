"""Carries out the jobs of a plan, here or by an executor, and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed, wait
from functools import partial
from pathlib import Path

from ..convert import Progress
from ..report import FileReport, Report
from .plan import Plan
from .shard_job import ShardJob, ShardPlan, ShardResult, run_shard

Results = Mapping[str, ShardResult]


class Work:
    """Runs jobs and tells of their progress."""

    def __init__(self, plan: Plan, executor: Executor | None, progress: Progress | None) -> None:
        self._plan = plan
        self._executor = executor
        self._progress = progress
        self._sizes = {job.path: _source_bytes(shard) for job, shard in zip(plan.jobs, plan.shards, strict=True)}
        self._total = sum(self._sizes.values())

    def run(self, jobs: Sequence[ShardJob], finished: Callable[[ShardResult], None]) -> None:
        """Run jobs; `finished` is called for each, in this thread.

        When one fails, those that have not begun are cancelled, and those at work are waited for.
        """
        done = self._total - sum(self._sizes[job.path] for job in jobs)
        for job, result in self._each(jobs, done):
            finished(result)
            done += self._sizes[job.path]
            if self._executor:
                self._tell(result.file.name, done)

    def dry_run(self) -> Results:
        """Return what the jobs would do, measured but not written."""
        results = {}
        for job, shard in zip(self._plan.jobs, self._plan.shards, strict=True):
            name = Path(job.path).name
            file = FileReport(name, self._plan.file_sizes[name])
            reports = tuple(output.report(output.measure() if job.is_audited else None) for output in shard.outputs)
            results[name] = ShardResult(file, reports)
        return results

    def _each(self, jobs: Sequence[ShardJob], done: int) -> Iterator[tuple[ShardJob, ShardResult]]:
        if self._executor is None:
            for job in jobs:
                yield job, run_shard(job, partial(self._step, done))
                done += self._sizes[job.path]
            return
        futures = {self._executor.submit(run_shard, job): job for job in jobs}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            for future in futures:
                future.cancel()
            wait(futures)

    def _step(self, before: int, name: str, done: int) -> None:
        self._tell(name, before + done)

    def _tell(self, name: str, done: int) -> None:
        if self._progress:
            self._progress(name, done, self._total)


def report(plan: Plan, results: Results, notes: Sequence[str], free: int, *, dry_run: bool = False) -> Report:
    """Put together what the shards report, in the order of the plan."""
    tensors = []
    for name, shard in zip(plan.file_sizes, plan.shards, strict=True):
        done = {tensor.name: tensor for tensor in results[name].tensors}
        tensors += [done.get(output.entry.name) or output.report(None) for output in shard.outputs]
    return Report(
        plan.checkpoint.path,
        plan.destination,
        plan.options.to,
        dry_run,
        tuple(tensors),
        (*plan.notes, *notes),
        tuple(results[name].file for name in plan.file_sizes),
        free,
    )


def _source_bytes(shard: ShardPlan) -> int:
    return sum(output.source_bytes for output in shard.outputs)
