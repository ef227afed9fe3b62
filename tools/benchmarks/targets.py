"""What lutcast has set itself, and whether it was met."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lutcast

from .cases import ALONE, IN_CACHE, OURS
from .results import Result, geometric_mean

NEAREST = ("ties_to_even/saturate", "ties_to_away/saturate")
V4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


@dataclass(frozen=True)
class Target:
    """One target; ``met`` is None where nothing was measured that it speaks of."""

    text: str
    met: bool | None
    found: str


def bits(name: str) -> int:
    """Return the width of a format."""
    return lutcast.get_format(name).bits


def is_small_float(name: str) -> bool:
    """Whether a format is one of the floats below 16 bits that ml_dtypes has."""
    return name.startswith(("float4", "float6", "float8"))


def group(results: Iterable[Result], *names: str) -> list[Result]:
    """Return the results of groups."""
    return [r for r in results if r.case.group in names]


def means(casts: Iterable[Result]) -> dict[str, float]:
    """Return geometric means of our speed over others', and what memcpy would score; 0 if there are none."""
    compared = [r for r in casts if r.of_peer]
    small = [r for r in compared if is_small_float(r.case.src) or is_small_float(r.case.dst)]
    return {
        "compared": len(compared),
        "fastest peer": geometric_mean(r.of_peer for r in compared),
        "memcpy over fastest peer": geometric_mean(r.speed_of(r.case.limit, r.peer) for r in compared),
        "ml_dtypes, small floats": geometric_mean(r.speed_of(OURS, "numpy") for r in small),
    }


def judge(results: Sequence[Result]) -> list[Target]:
    """Compare results with every target they allow to judge."""
    casts = [r for r in group(results, "casts") if r.case.elements >= IN_CACHE]
    return [
        *_all_pairs(casts),
        *_shares([r for r in group(results, "casts", "modes", "packed") if r.case.elements == IN_CACHE]),
        *_tile(group(results, "tile")),
        *_calls(group(results, "calls")),
        *_threads(group(results, "threads")),
        *_import(group(results, "import")),
    ]


def _target(
    text: str, values: Iterable[tuple[float, str]], is_met: Callable[[float], bool], worst: Callable[..., Any]
) -> Target:
    """Judge by the worst of some values, each with its name."""
    values = list(values)
    if not values:
        return Target(text, None, "not measured")
    value, name = worst(values)
    missed = sum(not is_met(v) for v, _ in values)
    found = f"{value:.2f} {name}" + (f", {missed} of {len(values)} missed" if missed and len(values) > 1 else "")
    return Target(text, not missed, found)


def _at_least(text: str, bound: float, values: Iterable[tuple[float, str]]) -> Target:
    return _target(text, values, lambda v: v >= bound, min)


def _at_most(text: str, bound: float, values: Iterable[tuple[float, str]]) -> Target:
    return _target(text, values, lambda v: v <= bound, max)


def _none_slower(text: str, results: list[Result]) -> Target:
    compared = [r for r in results if r.peer]
    slower = [r for r in compared if r.is_slower]
    found = f"{len(slower)} of {len(compared)} are slower" if compared else "not measured"
    return Target(text, not slower if compared else None, found)


def _all_pairs(casts: list[Result]) -> list[Target]:
    found = means(casts)

    def values(name: str) -> list[tuple[float, str]]:
        return [(found[name], "")] if found[name] else []

    return [
        _none_slower("1 casts: no pair slower than its fastest peer", casts),
        _at_least("1 casts: mean over the fastest peer, 2.5", 2.5, values("fastest peer")),
        _at_least("1 casts: mean over ml_dtypes, float8/6/4, 20", 20, values("ml_dtypes, small floats")),
    ]


def _shares(results: list[Result]) -> list[Target]:
    """Judge shares of memcpy, in cache."""
    flags = cpu_flags()
    has_vbmi, has_v4 = "avx512vbmi" in flags, flags >= V4
    if not has_v4:
        return [Target("2-4 shares of memcpy", None, "this processor has no AVX-512")]

    def shares(is_meant: Callable[[Result], bool]) -> list[tuple[float, str]]:
        return [(r.of_limit, f"{r.case.name} {r.case.data}") for r in results if is_meant(r)]

    def is_nearest(r: Result) -> bool:
        if r.case.group == "modes":
            return r.case.name.endswith(NEAREST)
        return lutcast.get_format(r.case.dst).kind == "float"  # the default; toward_zero into integers

    def from_to(is_source: Callable[[str], bool], nearest: bool) -> Callable[[Result], bool]:
        return lambda r: is_source(r.case.src) and bits(r.case.dst) <= 8 and is_nearest(r) is nearest

    def is_16(name: str) -> bool:
        return bits(name) == 16

    def is_float32(name: str) -> bool:
        return name == "float32"

    wide = [r for r in group(results, "casts") if bits(r.case.src) == 16 and bits(r.case.dst) in (16, 32)]
    return [
        _at_least("2 from 8 bits and fewer, 0.7 of memcpy", 0.7, shares(lambda r: bits(r.case.src) <= 8))
        if has_vbmi
        else Target("2 from 8 bits and fewer", None, "this processor has no AVX-512 VBMI"),
        _at_least("3 16 bits to 8, nearest and saturate, 0.25 of memcpy", 0.25, shares(from_to(is_16, True))),
        _at_least("3 16 bits to 8, all others, 0.16 of memcpy", 0.16, shares(from_to(is_16, False))),
        _none_slower("3 16 bits to 16 and 32: not below the fastest peer", wide),
        _at_least("4 float32 to 8, nearest and saturate, 0.25 of memcpy", 0.25, shares(from_to(is_float32, True))),
        _at_least("4 float32 to 8, all others, 0.15 of memcpy", 0.15, shares(from_to(is_float32, False))),
        _at_least(
            "4 float32 to float16 and bfloat16, 0.12 of memcpy",
            0.12,
            shares(lambda r: is_float32(r.case.src) and r.case.dst in ("float16", "bfloat16")),
        ),
    ]


def _tile(results: list[Result]) -> list[Target]:
    large = [(r.of_limit, r.case.name) for r in results if r.case.nbytes > 1 << 20]
    return [
        _none_slower("5 tile: not slower than the fastest peer", results),
        _at_least("5 tile: above 1 MB, 0.8 of filling memory", 0.8, large),
    ]


def _calls(results: list[Result]) -> list[Target]:
    def times(how: str, peer: str, *sizes: int) -> list[tuple[float, str]]:
        meant = [r for r in results if r.case.options == (how,) and r.case.elements in sizes]
        ratios = ((r.speed_of(OURS, peer), r.case) for r in meant)
        return [(1 / ratio, f"{case.name}, {case.elements} elements") for ratio, case in ratios if ratio]

    return [
        _at_most(
            "6 Caster(x, out=), 64 elements: at most the time of numkong's astype",
            1,
            times("Caster(x, out=)", "numkong", 64),
        ),
        _at_most("6 cast(x, dtype): at most the time of ml_dtypes' astype", 1, times("cast(x, dtype)", "numpy", 1, 64)),
    ]


def _threads(results: list[Result]) -> list[Target]:
    """Judge what a second thread gains; no more is asked than memory gives to two threads that copy."""
    targets = []
    for r in results:
        ours, copy = (r.gain(name) for name in (OURS, r.case.limit))
        allowed = 0.9 * r.speed_of(r.case.limit, OURS + ALONE)
        needed = min(1.7 if bits(r.case.dst) == 8 else 0.9 * copy, allowed)
        text = f"7 {r.case.name}: {needed:.2f} of one thread" + (", 0.9 of what memory allows" if needed < 1.7 else "")
        targets.append(_at_least(text, needed, [(ours, f"(copying {copy:.2f})")]))
    return targets or [Target("7 threads", None, "not measured")]


def _import(results: list[Result]) -> list[Target]:
    return [
        _at_most(
            "8 import: at most 10 ms on top of NumPy's and ml_dtypes'",
            10,
            [(1e3 * (r.best(OURS) or 0.0), "ms") for r in results],
        )
    ]


def cpu_info() -> dict[str, str]:
    """Return what the system says of its first processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}


def cpu_flags() -> set[str]:
    """Return the instruction sets of this processor."""
    return set(cpu_info().get("flags", "").split())
