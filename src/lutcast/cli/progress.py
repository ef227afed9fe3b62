"""A progress bar, on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

from .render import console, printable


@contextmanager
def progress_bar(*counter: ProgressColumn, shown: bool = True) -> Iterator[Callable[[str, int, int], None] | None]:
    """Show what is at hand, done and to be done, counted by some columns; yield None where nobody would see it."""
    if not (shown and sys.stderr.isatty()):
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *counter,
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def update(name: str, done: int, total: int) -> None:
            bar.update(task, description=printable(name), completed=done, total=total)

        yield update
