"""Draw the error of a device over its inputs; needs matplotlib, the extra ``plot``."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ..arrays import Array
from ..formats import Format
from .comparison import decode, steps_between
from .values import value_of
from .vectors import Vectors

_LIMIT = 1e60  # of what matplotlib's symmetric scale can draw


def plot_errors(path: str | os.PathLike[str], got: Array, golden: Vectors) -> None:
    """Draw the distance of each result from the right one, in steps of the destination, over the input.

    Inputs beyond the range of the destination are drawn at its ends.

    Parameters
    ----------
    path : path-like
        The extension says the kind of picture: ``.png``, ``.svg``, ``.pdf``.
    got : ndarray of unsigned integers
        A code for each vector.
    golden : Vectors

    Raises
    ------
    ImportError
        There is no matplotlib.
    ValueError
        matplotlib does not write such pictures.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("a plot needs matplotlib: pip install 'lutcast[plot]'") from None
    steps = steps_between(got, golden.outputs, golden.dst)
    low, high = _range(golden.dst)
    inputs = decode(golden.inputs, golden.src).clip(-high, high)
    shown = np.isfinite(steps) & ~np.isnan(inputs)
    wrong = shown & (got != golden.outputs)
    figure = Figure(figsize=(10, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot(inputs[shown & ~wrong], steps[shown & ~wrong], ".", color="0.7", markersize=3, label="right")
    axes.plot(inputs[wrong], steps[wrong], ".", color="C3", markersize=4, label="wrong")
    axes.set_xscale("symlog", linthresh=low)
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_xlabel(f"input, {golden.src.name}")
    axes.set_ylabel(f"error in steps of {golden.dst.name}")
    axes.set_title(f"{golden.src.name} to {golden.dst.name}, {golden.policy}")
    axes.legend()
    extension = Path(path).suffix.lower()
    metadata = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(extension)
    figure.savefig(path, dpi=120, metadata=metadata)


def _range(fmt: Format) -> tuple[float, float]:
    """Return magnitudes a little below the smallest and beyond the largest value of a format."""
    smallest, largest = (abs(value_of(code, fmt)) for code in (1 if fmt.has_zero else 0, fmt.max_code))
    return max(smallest / 4, 1 / _LIMIT), min(largest * 4, _LIMIT)
