#!/usr/bin/env python3
"""Call the C interface of an installed lutcast with random arguments, right and wrong, for some time.

    fuzz_capi.py --seconds 600 --seed 7    other calls than those of seed 0
    fuzz_capi.py --seed 7 --first 1234     the same calls from that one on
    fuzz_capi.py --trace                   print each call before it is made: the last one crashed

Every call has one status that it must return. What it writes is compared with `lutcast.cast` or
`numpy.tile` on a copy of the data, all memory around with what was there before. Pages that nobody
may touch lie before and behind, so that reading too far crashes. The exit code is 1 on a difference.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
from collections import Counter, deque
from collections.abc import Sequence

import numpy as np
from fuzzing.calls import MAKERS, Call, random_plan
from fuzzing.interface import Api, load
from fuzzing.memory import Room

from lutcast._kernels import VARIANT

ROOM = 1 << 18
LIVING = 50  # plans that wait before they are destroyed


def main(argv: Sequence[str] | None = None) -> int:
    """Fuzz; return the exit code."""
    options = parser().parse_args(argv)
    faulthandler.enable()
    api, alive, counts = load(), deque[int](), Counter[str]()
    end, index = time.monotonic() + options.seconds, options.first
    rooms = [Room(ROOM, np.random.default_rng(options.seed)) for _ in range(2)]
    code = 0
    while time.monotonic() < end:
        rng = np.random.default_rng((options.seed, index))
        plan = random_plan(api, rng)
        alive.append(plan.handle)
        call = MAKERS[rng.integers(len(MAKERS))](api, plan, *rooms, rng)
        if options.trace:
            print(index, plan, call.function, call.arguments, flush=True)
        found = make(api, call, alive)
        if found:
            print(f"call {index} of seed {options.seed}: {found}\n  {plan}\n  {call.function}{call.arguments}")
            code = 1
            break
        counts[call.function] += 1
        index += 1
        while len(alive) > LIVING:
            api.plan_destroy(alive.popleft())
    for handle in (*alive, None):
        api.plan_destroy(handle)
    made = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"{counts.total()} calls with {VARIANT} loops, {code} failures: {made}")
    return code


def make(api: Api, call: Call, alive: deque[int]) -> str:
    """Make a call; say what is wrong with it, if anything."""
    status = getattr(api, call.function)(*call.arguments)
    if call.function == "plan_create" and status == 0:
        alive.append(call.arguments[0][0])
    if status != call.status:
        return f"returned {status}, not {call.status}"
    for place, want in call.memory:
        different = np.flatnonzero(place.whole != want)
        if different.size:
            return f"{different.size} wrong bytes, from {different[0] - place.start} to {different[-1] - place.start}"
    if not api.status_text(status):
        return "no text"
    return ""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--seconds", type=float, default=60)
    result.add_argument("--seed", type=int, default=0)
    result.add_argument("--first", type=int, default=0, help="number of the first call")
    result.add_argument("--trace", action="store_true")
    return result


if __name__ == "__main__":
    sys.exit(main())
