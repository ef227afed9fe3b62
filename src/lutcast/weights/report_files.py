"""Reports in files, by extension."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from .atomic import replacing
from .report import Report
from .report_html import render_html


def _render_json(report: Report) -> str:
    return json.dumps(report.as_dict(), indent=2, allow_nan=False) + "\n"


REPORTS: Mapping[str, Callable[[Report], str]] = {".json": _render_json, ".html": render_html}


def write_report(path: Path, report: Report) -> None:
    """Write a report; the file appears whole or not at all.

    Raises
    ------
    KeyError
        No such extension.
    OSError
        The file cannot be written.
    """
    text = REPORTS[path.suffix.lower()](report)
    with replacing(path) as stream:
        stream.write(text.encode())
