"""Tables and the summary on the terminal; all figures as JSON."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rich.console import Console
from rich.table import Table

import lutcast

from .cases import IN_CACHE, OURS
from .results import Result
from .targets import Target, cpu_info, group, judge, means
from .timing import Effort

PACKAGES = ("numpy", "ml_dtypes", "torch", "onnxruntime", "onnx", "numkong")
NAMES = {"numpy": "NumPy+ml_dtypes"}
DASH = "-"


def show(results: Sequence[Result], console: Console) -> None:
    """Print a table for each group, then the summary."""
    for name in dict.fromkeys(r.case.group for r in results):
        console.print(_table(name, group(results, name)))
    _show_threads(group(results, "threads"), console)
    _show_means(group(results, "casts"), console)
    _show_slower([r for r in results if r.is_slower and r.case.elements >= IN_CACHE], console)
    _show_targets(judge(results), console)


def _unit(name: str) -> tuple[str, float]:
    return {"calls": ("ns", 1e9), "embedded": ("ns", 1e9), "import": ("ms", 1e3)}.get(name, ("G el/s", 0.0))


def _figure(result: Result, contender: str) -> str:
    seconds = result.best(contender)
    if not seconds:
        return DASH
    _, scale = _unit(result.case.group)
    value = seconds * scale if scale else result.case.elements / seconds / 1e9
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(value: float | None) -> str:
    return f"{value:.2f}" if value else DASH


def _shown(peer: str | None) -> str:
    return NAMES.get(peer, peer) if peer else DASH


def _table(name: str, results: list[Result]) -> Table:
    unit, _ = _unit(name)
    limit = results[0].case.limit
    table = Table(title=f"{name}, {unit}; ratios of speed", title_justify="left")
    for column in ("cast" if name != "tile" else "tile", "elements", "data"):
        table.add_column(column, justify="right" if column == "elements" else "left", overflow="fold")
    for column in ("ours", limit, f"ours/{limit}"):
        table.add_column(column, justify="right")
    table.add_column("fastest peer")
    for column in (unit, "ours/peer"):
        table.add_column(column, justify="right")
    table.add_column("")
    for r in results:
        peer = r.peer
        table.add_row(
            r.case.name.removeprefix("tile "),
            f"{r.case.elements:,}",
            r.case.data,
            _figure(r, OURS),
            _figure(r, r.case.limit),
            _ratio(r.of_limit),
            _shown(peer),
            _figure(r, peer) if peer else DASH,
            _ratio(r.of_peer),
            "slower" if r.is_slower else "",
            style="red" if r.is_slower else "",
        )
    return table


def _show_threads(results: list[Result], console: Console) -> None:
    for r in results:
        ours, copying = r.gain(OURS), r.gain(r.case.limit)
        console.print(f"{r.case.name}: {ours:.2f} times one thread; copying the bytes gains {copying:.2f}")


def _show_means(casts: list[Result], console: Console) -> None:
    for n, found in _means(casts).items():
        if not found["compared"]:
            continue
        console.print(
            f"Casts of {n:,} elements, geometric mean of {found['compared']}: {found['fastest peer']:.2f} times the "
            f"fastest peer (memcpy {found['memcpy over fastest peer']:.2f}); from and to float8, float6, float4 "
            f"{found['ml_dtypes, small floats']:.1f} times ml_dtypes"
        )


def _means(casts: list[Result]) -> dict[int, dict[str, float]]:
    sizes = sorted({r.case.elements for r in casts if r.case.elements >= IN_CACHE})
    return {n: means(r for r in casts if r.case.elements == n) for n in sizes}


def _show_slower(slower: list[Result], console: Console) -> None:
    for r in sorted(slower, key=lambda r: r.of_peer or 0.0):
        where = f"{r.case.name}, {r.case.elements:,} {r.case.data}"
        shares = f"{_ratio(r.of_peer)} of {_shown(r.peer)}, {r.of_limit:.2f} of {r.case.limit}"
        console.print(f"[red]slower[/] {where}: {shares}")


def _show_targets(targets: list[Target], console: Console) -> None:
    table = Table(title="targets", title_justify="left")
    for column in ("", "target", "worst found"):
        table.add_column(column, overflow="fold")
    for target in targets:
        if target.met is not None:
            table.add_row("[green]met[/]" if target.met else "[red]missed[/]", target.text, target.found)
    if table.row_count:
        console.print(table)


def as_dict(results: Sequence[Result], effort: Effort, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that was measured, and on what."""
    return {
        "cpu": cpu_info().get("model name", platform.processor()),
        "system": platform.platform(),
        "versions": {name: _version(name) for name in PACKAGES},
        "lutcast": lutcast.show_config("dicts"),
        "effort": vars(effort),
        "options": dict(options),
        "results": [r.as_dict() for r in results],
        "means": _means(group(results, "casts")),
        "targets": [vars(target) for target in judge(results)],
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
