"""Tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from rich.console import Console
from rich.filesize import decimal
from rich.measure import Measurement
from rich.table import Table

from lutcast.weights import Measures, Report, TensorReport

# Tables are as wide as they need to be: a terminal wraps a long line better than we squeeze it.
_UNLIMITED = 10_000

Column: TypeAlias = tuple[str, Literal["left", "right"]]


def console(*, stderr: bool = False) -> Console:
    """Return a console that prints text as it is."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)


def printable(text: str) -> str:
    """Return a name from a file without what could steer a terminal."""
    return text if text.isprintable() else ascii(text)[1:-1]


def render_table(columns: Sequence[Column], rows: Sequence[Sequence[object]], to: Console) -> None:
    """Print rows under columns, each given by its title and "left" or "right"."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title, justify in columns:
        table.add_column(title, justify=justify, no_wrap=True)
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    width = Measurement.get(to, to.options.update(max_width=_UNLIMITED), table).maximum
    to.width = max(width, to.width)
    to.print(table)


_REPORT_COLUMNS: tuple[Column, ...] = (
    ("tensor", "left"),
    ("from", "left"),
    ("to", "left"),
    ("elements", "right"),
    ("changed", "right"),
    ("max abs error", "right"),
    ("SNR dB", "right"),
    ("saturated", "right"),
    ("to zero", "right"),
    ("NaN in", "right"),
    ("NaN out", "right"),
)
_SUMS = ("elements", "inexact", "max_abs_error", "", "saturated", "flushed_to_zero", "nan_in", "nan_out")


def render_report(report: Report, to: Console) -> None:
    """Print what a conversion did: a line for each tensor, the worst first, totals, then the sizes."""
    measured = report.worst_first()
    rows = [_row(tensor, audit) for tensor, audit in measured]
    rows += [_plain_row(tensor) for tensor in report.tensors if tensor.audit is None]
    if len(measured) > 1:
        rows.append(_totals([audit for _, audit in measured]))
    render_table(_REPORT_COLUMNS, rows, to)
    converted = sum(map(_is_converted, report.tensors))
    to.print()
    to.print(f"{converted} of {len(report.tensors)} tensors converted to {report.format}, the others copied")
    to.print(f"{decimal(report.bytes_before)} -> {decimal(report.bytes_after)}{_percent(report)}")
    for note in report.notes:
        to.print(f"note: {note}")
    if report.dry_run and report.free_bytes is not None:
        for file in report.files:
            to.print(f"{printable(file.name)}: {decimal(file.size)}")
        to.print(f"free disk: {decimal(report.free_bytes)}")
    if report.dry_run:
        to.print("dry run: nothing was written")


def _row(tensor: TensorReport, audit: Measures) -> list[Any]:
    return [
        printable(tensor.name),
        tensor.source or "-",
        tensor.stored_as,
        audit.elements,
        audit.inexact,
        f"{audit.max_abs_error:.3g}",
        f"{audit.snr_db:.1f}",
        audit.saturated,
        audit.flushed_to_zero,
        audit.nan_in,
        audit.nan_out,
    ]


def _plain_row(tensor: TensorReport) -> list[Any]:
    elements = tensor.elements if _is_converted(tensor) else "copied"
    return [printable(tensor.name), tensor.source or "-", tensor.stored_as, elements, *[""] * 7]


def _totals(audits: Sequence[Measures]) -> list[Any]:
    """Return the sums of the counts, and the largest error."""
    cells: list[Any] = []
    for name in _SUMS:
        values = [getattr(audit, name) for audit in audits] if name else []
        cells.append(f"{max(values):.3g}" if name == "max_abs_error" else sum(values) if values else "")
    return ["all of these", "", "", *cells]


def _is_converted(tensor: TensorReport) -> bool:
    return tensor.audit is not None or tensor.source != tensor.destination


def _percent(report: Report) -> str:
    return f" ({report.bytes_after / report.bytes_before:.0%})" if report.bytes_before else ""
