"""Convert the floating-point tensors of a weight file to another format."""

from __future__ import annotations

# Two that the library loads when it first needs them: here before any work, as an interrupt inside
# an import is not ours to catch.
import concurrent.futures  # noqa: F401
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

import lutcast
import lutcast.losses

from .atomic import check_destination
from .containers import container_of
from .errors import WeightsError
from .report import Report, TensorReport
from .steps import PolicyArguments, Selection, Step, plan_step
from .tensors import Entry

#: Called with the name of the tensor at hand, source bytes done and source bytes in all.
Progress = Callable[[str, int, int], None]


def convert(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    to: Any,
    *,
    rounding: str | None = None,
    overflow: str | None = None,
    nan: str = "keep",
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    threads: int = 1,
    overwrite: bool = True,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Convert the floating-point tensors of a weight file to another format.

    Tensors are handled one at a time and the source is memory-mapped, so the memory needed is
    about that of the largest tensor. Order and metadata are kept; integers, booleans, complex
    numbers and whatever else is not a real float are copied. The destination appears whole,
    under its name, or not at all.

    In an ONNX model, nodes read the converted tensors through Cast nodes and so compute with the
    types they had; tensors whose types must stay are copied, and noted in the report. Data that
    lies beside the model goes to a file beside the destination, its name with ``.data`` added.

    Parameters
    ----------
    source, destination : path-like
        Files ending in ``.safetensors``, ``.npy``, ``.npz`` or ``.onnx``, not necessarily alike; but
        a model, ``.onnx``, is made from a model only.
    to : format
        Anything `lutcast.get_format` accepts.
    rounding, overflow, nan
        The policy, as for `lutcast.cast`.
    include, exclude : sequence of str
        Shell patterns over tensor names, case-sensitive. Converted is what matches one of
        `include` (everything, if empty) and none of `exclude`.
    threads : int
        Threads of each cast.
    overwrite : bool
        Replace a file that is already at `destination`; else it is an error.
    dry_run : bool
        Check and audit, write nothing.
    progress : callable, optional
        Called as ``progress(name, done, total)``, bytes of the source, also with ``done`` 0.

    Returns
    -------
    Report

    Raises
    ------
    WeightsError
        A file is damaged, or the destination's container cannot hold a tensor.
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
    >>> from lutcast.weights import convert
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = pathlib.Path(folder, "weights.npz")
    ...     np.savez(source, scale=np.float32([0.1, 0.5, 1000]), step=np.int64(7))
    ...     report = convert(source, source.with_name("small.safetensors"), "float8_e4m3fn")
    >>> report.tensors[0].destination, report.tensors[0].audit.saturated
    ('float8_e4m3fn', 1)
    >>> report.tensors[1].destination
    'int64'
    """
    source, destination = Path(source), Path(destination)
    target = lutcast.get_format(to)
    reader, writer = container_of(source), container_of(destination)
    check_destination(destination)
    with reader.open(source) as contents:
        if destination.exists() and os.path.samefile(source, destination):
            raise WeightsError(f"{destination}: the destination is the source")
        if destination.exists() and not overwrite:
            raise WeightsError(f"{destination}: exists already; overwrite it, or choose another name")
        policy = PolicyArguments(rounding=rounding, overflow=overflow, nan=nan)
        selection = Selection(include, exclude)
        try:
            steps = [plan_step(t, target, policy, selection, reader, writer) for t in contents.tensors]
            entries = [step.entry for step in steps]
            writer.check(destination, contents, entries)
        except WeightsError as error:
            raise WeightsError(f"{destination}: {error}") from None
        work = _Work(steps, threads, progress or _silent)
        if dry_run:
            for step in steps:
                work.audit(step)
        else:
            writer.write(destination, contents, entries, work.pieces)
    notes = [f"copied as {reason}: {count}" for reason, count in Counter(s.kept for s in steps).items() if reason]
    if contents.metadata and not writer.has_metadata:
        notes.append(f"{writer.extension} holds no metadata")
    return Report(source, destination, target.name, dry_run, tuple(work.reports), tuple(notes))


def _silent(name: str, done: int, total: int) -> None:
    pass


class _Work:
    """Carries out steps in the order the writer asks for them, and keeps the reports."""

    def __init__(self, steps: Sequence[Step], threads: int, progress: Progress) -> None:
        self.reports: list[TensorReport] = []
        self._steps = {step.entry.name: step for step in steps}
        self._threads = threads
        self._progress = progress
        self._done = 0
        self._total = sum(step.tensor.entry.nbytes for step in steps)

    def audit(self, step: Step) -> None:
        """Report on a tensor without converting it."""
        self._start(step, step.load() if step.policy else None)
        self._finish(step)

    def pieces(self, entry: Entry) -> Iterator[NDArray[Any]]:
        """Yield a tensor of the destination, a piece at a time."""
        step = self._steps[entry.name]
        loaded = step.load()
        self._start(step, loaded)
        written = 0
        for piece in step.pieces(loaded, self._threads):
            yield piece
            written += piece.nbytes
            share = step.tensor.entry.nbytes * written // entry.nbytes
            self._progress(entry.name, self._done + share, self._total)
        self._finish(step)

    def _start(self, step: Step, loaded: NDArray[Any] | None) -> None:
        self._progress(step.entry.name, self._done, self._total)
        self.reports.append(step.report(None if loaded is None else step.audit(loaded)))

    def _finish(self, step: Step) -> None:
        self._done += step.tensor.entry.nbytes
        self._progress(step.entry.name, self._done, self._total)
