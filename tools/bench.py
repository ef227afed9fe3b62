#!/usr/bin/env python3
"""Time an installed lutcast beside other libraries and beside memcpy, on the same arrays.

    bench.py                                      everything
    bench.py --quick                              fewer and shorter samples, arrays that fit the caches
    bench.py --only 'float32->float8_e4m3fn'      one pair
    bench.py --only 'float16->*' --groups casts   all casts from one format
    bench.py --groups tile,calls --json out.json  some groups; every figure of every round as JSON

Groups: casts (all pairs), modes (every rounding into float8_e4m3fn), packed (4-bit storage), tile,
calls (1 and 64 elements, in ns), embedded (plans run from C, in ns), threads (1 and 2), import. Peers
are NumPy with ml_dtypes, torch, onnxruntime and numkong, each on one thread and into given arrays
where it can; one that is not installed, or has no such cast, is a dash.

Speed means something as a ratio only. In each round all contenders are timed in turn, each by the
median of several loops, on one pinned core; the best round is shown. memcpy moves as many bytes as
the cast reads and writes; tile is compared with filling its output. "slower" says that ours was
below 0.9 of the fastest peer and below 0.9 of memcpy in every round.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
from benchmarks import peers, report
from benchmarks.cases import IN_CACHE, SIZES, Case, Peers, groups
from benchmarks.results import Result
from benchmarks.timing import FULL, QUICK, Effort, cores, measure, pinned
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

ALL_GROUPS = tuple(groups(SIZES))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    options = _parser().parse_args(argv)
    effort, sizes = (QUICK, (IN_CACHE,)) if options.quick else (FULL, SIZES)
    cases = select(groups(sizes), options.groups, options.only)
    if not cases:
        print("bench.py: nothing to measure: no case matches", file=sys.stderr)
        return 2
    console = Console(width=None if sys.stdout.isatty() else 160)
    results: list[Result] = []
    code = 0
    try:
        results.extend(run(cases, effort, Console(stderr=True)))
    except KeyboardInterrupt:
        code = 130
    report.show(results, console)
    if options.json:
        about = {"quick": options.quick, "groups": options.groups, "only": options.only, "complete": code == 0}
        options.json.write_text(json.dumps(report.as_dict(results, effort, about), indent=1) + "\n")
    if code:
        print(f"bench.py: interrupted after {len(results)} of {len(cases)}", file=sys.stderr)
    return code


def select(all_cases: dict[str, list[Case]], names: list[str], patterns: list[str] | None) -> list[Case]:
    """Return the cases of some groups whose name, or group, matches a pattern."""
    cases = [case for name in names for case in all_cases[name]]
    if not patterns:
        return cases
    return [c for c in cases if any(fnmatchcase(text, p) for text in (c.name, c.group) for p in patterns)]


def run(cases: Sequence[Case], effort: Effort, console: Console) -> Iterator[Result]:
    """Measure cases one by one."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with pinned(1):
        others = peers.load()
    # Drawn between cases only: a thread that draws would take its share of the core.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as progress:
        task = progress.add_task("", total=len(cases))
        for case in cases:
            progress.update(task, description=f"{case.name} {case.elements:,}", refresh=True)
            if case.cores <= cores():
                yield measure_case(case, others, effort)
            progress.advance(task)


def measure_case(case: Case, others: Peers, effort: Effort) -> Result:
    """Measure one case on as many cores as it may use."""
    with np.errstate(all="ignore"), warnings.catch_warnings(), pinned(case.cores):
        warnings.simplefilter("ignore")
        contenders = case.contend(case, others)
        seconds = measure({name: sample for name, sample in contenders.items() if sample}, effort)
    return Result(case, {name: seconds.get(name) for name in contenders})


def _group_names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in ALL_GROUPS]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not one of {', '.join(ALL_GROUPS)}")
    return names


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter samples, 65,536 elements only")
    parser.add_argument(
        "--only", action="append", metavar="PATTERN", help="cases whose name or group matches; may be repeated"
    )
    parser.add_argument(
        "--groups", type=_group_names, default=list(ALL_GROUPS), metavar="NAME,...", help="default: all of them"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure, with processor and versions")
    return parser


if __name__ == "__main__":
    sys.exit(main())
