"""Rounds of medians, everything that is compared interleaved in each."""

from __future__ import annotations

import math
import os
import statistics
import timeit
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

Sample = Callable[[int], float]  # runs something so often, returns the seconds it took


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    In a round each contender gets ``repeats`` samples, each a loop of at least ``seconds``; the
    round's figure is their median.
    """

    rounds: int
    repeats: int
    seconds: float


FULL = Effort(rounds=5, repeats=5, seconds=1.5e-3)
QUICK = Effort(rounds=3, repeats=3, seconds=0.5e-3)


def loop(statement: str, **names: Any) -> Sample:
    """Return a sample of a statement, in a loop compiled around it, so that no call is added."""
    return timeit.Timer(statement, globals=names).timeit


def measure(contenders: Mapping[str, Sample], effort: Effort) -> dict[str, list[float]]:
    """Return the seconds of one execution, by contender and round."""
    loops = {name: _calibrate(sample, effort.seconds) for name, sample in contenders.items()}
    figures: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(effort.rounds):
        # The first sample of a contender finds the caches as the one before has left them; the
        # median passes it over.
        for name, sample in contenders.items():
            number, repeats = loops[name], effort.repeats
            if number == 0:
                number, repeats = 1, min(repeats, 3)
            figures[name].append(statistics.median(sample(number) / number for _ in range(repeats)))
    return figures


def _calibrate(sample: Sample, seconds: float) -> int:
    """Return how many executions take that long; 0 where one takes ten times as long."""
    sample(1)
    number = 1
    while (taken := sample(number)) < seconds / 2:
        number *= 2
    return 0 if taken / number > 10 * seconds else math.ceil(number * seconds / taken)


@contextmanager
def pinned(count: int) -> Iterator[None]:
    """Keep this thread, and those it starts, on so many cores."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, sorted(allowed)[-count:])
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
