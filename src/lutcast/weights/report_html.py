"""A report as one HTML file: no script, no other file, charts drawn as SVG."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from html import escape

from .measures import PLACE_NAMES, Measures
from .report import Report, TensorReport

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 78rem; padding: 0 1rem; color: #222 }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; font-size: 13px }
th, td { padding: 2px 10px 2px 0; text-align: right; border-bottom: 1px solid #e4e4e4; white-space: nowrap }
th:first-child, td:first-child { text-align: left; white-space: normal; word-break: break-all }
.scroll { overflow-x: auto } .bad { color: #b00020; font-weight: 600 } .note { color: #555 }
svg text { font: 11px system-ui, sans-serif; fill: #333 } .bar { fill: #3b6ea5 } .bar.low { fill: #b00020 }
"""
_BARS = 60  # tensors in the chart of ratios
_LOW_DB = 20.0
_BAD = '<td class="bad">'
_CLASSES = dict(zip(PLACE_NAMES, ("exact", "to 1/4", "to 1/2", "to 1", "to 2", "beyond"), strict=True))

_COLUMNS: tuple[tuple[str, Callable[[TensorReport, Measures], str]], ...] = (
    ("tensor", lambda t, m: t.name),
    ("from", lambda t, m: t.source or "-"),
    ("to", lambda t, m: t.stored_as),
    ("elements", lambda t, m: f"{m.elements:,}"),
    ("changed", lambda t, m: f"{m.inexact:,}"),
    ("max abs error", lambda t, m: f"{m.max_abs_error:.3g}"),
    ("mean abs error", lambda t, m: f"{m.mean_abs_error:.3g}"),
    ("max rel error", lambda t, m: f"{m.max_rel_error:.3g}"),
    ("SNR dB", lambda t, m: f"{m.snr_db:.1f}"),
    ("cosine", lambda t, m: f"{m.cosine:.6f}"),
    ("saturated", lambda t, m: f"{m.saturated:,}"),
    ("to zero", lambda t, m: f"{m.flushed_to_zero:,}"),
    ("NaN in", lambda t, m: f"{m.nan_in:,}"),
    ("NaN out", lambda t, m: f"{m.nan_out:,}"),
    ("inf in", lambda t, m: f"{m.inf_in:,}"),
    ("inf out", lambda t, m: f"{m.inf_out:,}"),
    ("amax", lambda t, m: f"{m.amax:.4g}"),
    ("scales", lambda t, m: "" if m.scale_min is None else f"{m.scale_min:.3g} to {m.scale_max:.3g}"),
)


def render_html(report: Report) -> str:
    """Return a report as the text of an HTML file.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        The same report is the same text.
    """
    title = f"{report.source.name} to {report.format}"
    return "\n".join(
        (
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{escape(title)}</h1>",
            *_summary(report),
            *_charts(report.worst_first()),
            *_table(report.worst_first()),
            *_copied(report),
            "</body></html>",
            "",
        )
    )


def _summary(report: Report) -> Iterator[str]:
    measured = report.worst_first()
    yield (
        f"<p>{len(measured)} of {len(report.tensors)} tensors measured; "
        f"{report.bytes_before:,} bytes before, {report.bytes_after:,} after"
        f"{'; dry run: nothing was written' if report.dry_run else ''}.</p>"
    )
    for note in report.notes:
        yield f'<p class="note">{escape(note)}</p>'
    if report.files:
        yield "<h2>Files</h2><table><tr><th>file</th><th>bytes</th><th>SHA-256</th></tr>"
        for file in report.files:
            yield f"<tr><td>{escape(file.name)}</td><td>{file.size:,}</td><td>{file.sha256 or '-'}</td></tr>"
        yield "</table>"


def _charts(measured: Sequence[tuple[TensorReport, Measures]]) -> Iterator[str]:
    if not measured:
        return
    finite = [(t.name, m.snr_db) for t, m in measured if math.isfinite(m.snr_db)][:_BARS]
    if finite:
        limit = f" (the worst {_BARS})" if len(measured) > _BARS else ""
        yield f"<h2>Signal-to-noise ratio, dB, worst first{limit}</h2>"
        yield _bars([(name, ratio, f"{ratio:.1f}", ratio < _LOW_DB) for name, ratio in finite])
    totals: Counter[str] = Counter()
    for _, measures in measured:
        totals.update(measures.steps or {})
    elements = sum(totals.values())
    if elements:
        yield "<h2>Elements by their error, in units of the last place of the result</h2>"
        rows = [(_CLASSES[name], totals[name] / elements) for name in PLACE_NAMES]
        yield _bars([(name, share, f"{share:.3%}", name == "beyond") for name, share in rows])


def _bars(rows: Sequence[tuple[str, float, str, bool]]) -> str:
    """Draw horizontal bars: name, length, text behind it, whether it is marked."""
    largest = max((max(value, 0.0) for _, value, _, _ in rows), default=0.0) or 1.0
    height, left, width = 18, 380, 520
    parts = [f'<svg viewBox="0 0 {left + width + 80} {height * len(rows) + 6}" role="img" width="100%">']
    for index, (name, value, text, is_marked) in enumerate(rows):
        y, length = index * height, max(value, 0.0) / largest * width
        shown = name if len(name) <= 56 else f"…{name[-55:]}"
        parts.append(
            f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{escape(shown)}</text>'
            f'<rect class="bar{" low" if is_marked else ""}" x="{left}" y="{y + 3}" width="{length:.1f}" height="12"/>'
            f'<text x="{left + length + 6:.1f}" y="{y + 13}">{escape(text)}</text>'
        )
    return "".join((*parts, "</svg>"))


def _table(measured: Sequence[tuple[TensorReport, Measures]]) -> Iterator[str]:
    if not measured:
        return
    yield '<h2>Tensors, worst first</h2><div class="scroll"><table><tr>'
    yield "".join(f"<th>{title}</th>" for title, _ in _COLUMNS) + "</tr>"
    for tensor, measures in measured:
        cells = [(title, text(tensor, measures)) for title, text in _COLUMNS]
        bad = {"saturated": measures.saturated > 0, "NaN out": measures.nan_out > measures.nan_in}
        row = ((_BAD if bad.get(title) else "<td>") + escape(text) + "</td>" for title, text in cells)
        yield f"<tr>{''.join(row)}</tr>"
    yield "</table></div>"


def _copied(report: Report) -> Iterator[str]:
    copied = [tensor for tensor in report.tensors if tensor.audit is None]
    if not copied:
        return
    yield "<h2>Tensors that were copied, or not measured</h2><table>"
    yield "<tr><th>tensor</th><th>shape</th><th>stored as</th></tr>"
    for tensor in copied:
        shape = " x ".join(map(str, tensor.shape)) or "scalar"
        yield f"<tr><td>{escape(tensor.name)}</td><td>{shape}</td><td>{escape(tensor.stored_as)}</td></tr>"
    yield "</table>"
