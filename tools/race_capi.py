#!/usr/bin/env python3
"""Make, run and destroy plans of the C interface in many threads at once, and compare.

    race_capi.py --seconds 600 --threads 8 --seed 7

All threads make the same random casts at the same time, so that tables are inflated while others ask
for them; each also runs its share of one plan that all have. Afterwards one thread casts alone, with
`lutcast.cast`: all results have to be the same. The exit code is 1 on a difference.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import threading
import time
from collections.abc import Sequence

import numpy as np
from fuzzing.calls import Plan, random_plan
from fuzzing.interface import OK, Api, load

import lutcast
from lutcast import abi
from lutcast._kernels import VARIANT
from lutcast.names import array_dtype

ELEMENTS = 4096
ROUND = 25  # casts between two comparisons


def main(argv: Sequence[str] | None = None) -> int:
    """Race; return the exit code."""
    options = parser().parse_args(argv)
    api, end = load(), time.monotonic() + options.seconds
    casts = failures = index = 0
    while time.monotonic() < end and not failures:
        made, wrong = race(api, np.random.default_rng((options.seed, index)), options.threads)
        casts, failures, index = casts + made, failures + wrong, index + 1
    print(f"{casts} casts in {options.threads} threads with {VARIANT} loops, {failures} failures")
    return int(failures > 0)


def race(api: Api, rng: np.random.Generator, threads: int) -> tuple[int, int]:
    """Run some casts in all threads, then alone; return how many and how many differed."""
    data = rng.integers(0, 256, 16 * ELEMENTS, np.uint8)
    seed = int(rng.integers(1 << 62))
    shared = random_plan(api, rng)
    whole = np.zeros(ELEMENTS * shared.dst.itemsize, np.uint8)
    barrier, results = threading.Barrier(threads), [list[tuple[Plan, bytes]]() for _ in range(threads)]
    statuses: list[int] = []

    def work(number: int) -> None:
        mine = np.random.default_rng(seed)  # the same casts in every thread
        share, first = ELEMENTS // threads, number * (ELEMENTS // threads)
        for _ in range(ROUND):
            barrier.wait()
            src, dst = (abi.FORMATS[int(n)] for n in mine.integers(1, len(abi.FORMATS) + 1, 2))
            rounding = int(mine.integers(0, 8))
            handle = ctypes.c_void_p()
            ids = [next(n for n, f in abi.FORMATS.items() if f is side) for side in (src, dst)]
            statuses.append(api.plan_create(ctypes.byref(handle), *ids, rounding, 0, 0))
            out = np.zeros(ELEMENTS * dst.itemsize, np.uint8)
            statuses.append(api.plan_run(handle, data.ctypes.data, out.ctypes.data, ELEMENTS))
            api.plan_destroy(handle)
            plan = Plan(0, src, dst, {"rounding": abi.ROUNDINGS[rounding]})
            results[number].append((plan, out.tobytes()))
            address = data.ctypes.data + first * shared.src.itemsize
            to = whole.ctypes.data + first * shared.dst.itemsize
            statuses.append(api.plan_run(shared.handle, address, to, share))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    api.plan_destroy(shared.handle)
    done = ELEMENTS // threads * threads
    failures = len(statuses) - 3 * ROUND * threads + sum(status != OK for status in statuses)
    failures += (
        shared.cast(data[: done * shared.src.itemsize].tobytes()) != whole[: done * shared.dst.itemsize].tobytes()
    )
    for plan, first in results[0]:
        x = data[: ELEMENTS * plan.src.itemsize].view(array_dtype(plan.src))
        alone = lutcast.cast(x, plan.dst, src=plan.src, **plan.policy).tobytes()
        failures += alone != first
    for other in results[1:]:
        failures += sum(a[1] != b[1] for a, b in zip(results[0], other, strict=True))
    return (2 * ROUND * threads), abs(failures)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--seconds", type=float, default=60)
    result.add_argument("--threads", type=int, default=8)
    result.add_argument("--seed", type=int, default=0)
    return result


if __name__ == "__main__":
    sys.exit(main())
