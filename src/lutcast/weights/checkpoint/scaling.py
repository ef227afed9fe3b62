"""Scales of 8-bit weights: how many there are, how they are found, and the casts that use them.

A scaled weight stands for ``code * scale``. The scale of a group of weights is its largest
magnitude divided by the largest finite value of the format, rounded to float32; the weights are
divided by the scale as it is stored. Quotients of float32 and of anything narrower are computed in
float64, which is so much wider that the cast that follows rounds as if it were the only one; so
are products, which float64 holds exactly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lutcast
from lutcast.formats import FLOAT64, Format

from ..errors import WeightsError
from .shard_file import Stored

PIECE_ELEMENTS = 1 << 20  # in float64 they take 8 MiB
SMALLEST_SCALE = float(np.finfo(np.float32).smallest_subnormal)
LARGEST_SCALE = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Grid:
    """How the elements of a matrix share scales.

    Attributes
    ----------
    rows, columns : int
        Of one group; 0 for all of the matrix.
    """

    rows: int
    columns: int

    def counts(self, shape: tuple[int, ...]) -> tuple[int, int]:
        """Return how many groups there are, from top to bottom and from left to right."""
        height, width = shape
        return (-(-height // self.rows) if self.rows else 1), (-(-width // self.columns) if self.columns else 1)

    @property
    def name(self) -> str:
        """The name that `parse_grid` reads."""
        names = {(0, 0): "tensor", (1, 0): "channel"}
        return names.get((self.rows, self.columns), f"block:{self.rows}x{self.columns}")


def parse_grid(text: str) -> Grid:
    """Return the grid called "tensor", "channel" or "block:ROWSxCOLUMNS".

    Raises
    ------
    ValueError
        Another name.
    """
    found = re.fullmatch(r"block:([1-9]\d{0,6})x([1-9]\d{0,6})", text)
    if found:
        return Grid(int(found[1]), int(found[2]))
    grids = {"tensor": Grid(0, 0), "channel": Grid(1, 0)}
    if text not in grids:
        raise ValueError(f"scale: {text!r} is not one of tensor, channel, block:ROWSxCOLUMNS as in block:128x128")
    return grids[text]


def grid_of(shape: tuple[int, ...], scales: tuple[int, ...], block: tuple[int, int] | None) -> Grid:
    """Return how scales of a shape belong to a matrix; `block` is what the configuration says of blocks.

    Raises
    ------
    WeightsError
        They do not fit.
    """
    if math.prod(scales) == 1:
        return Grid(0, 0)
    if scales in ((shape[0],), (shape[0], 1)):
        return Grid(1, 0)
    grid = Grid(*(block or (128, 128)))
    if grid.counts(shape) != scales:
        raise WeightsError(f"scales of shape {scales} fit no matrix of shape {shape} in blocks of {grid.name[6:]}")
    return grid


@dataclass(frozen=True)
class Rows:
    """Some rows of a matrix.

    Attributes
    ----------
    start : int
        The first one.
    values : ndarray of float64, 2-D
    """

    start: int
    values: NDArray[np.float64]


def read_rows(stored: Stored, grid: Grid) -> Iterator[Rows]:
    """Yield a matrix as float64, in pieces of whole groups of rows."""
    height, width = stored.entry.shape
    rows = max(PIECE_ELEMENTS // max(width, 1), 1)
    if grid.rows:
        rows = max(rows // grid.rows, 1) * grid.rows
    for start in range(0, height, rows):
        piece = stored.part(start * width, min(rows, height - start) * width)
        values = lutcast.cast(piece, FLOAT64.name, src=stored.format.name)
        yield Rows(start, values.reshape(-1, width))


def find_scales(stored: Stored, grid: Grid, largest: float) -> NDArray[np.float32]:
    """Return the scale of each group of a matrix: 1 where it is all zeros; infinity and NaN do not count."""
    amax = np.zeros(grid.counts(stored.entry.shape))
    for rows in read_rows(stored, grid):
        magnitudes = np.abs(rows.values)
        magnitudes[~np.isfinite(magnitudes)] = 0
        groups = _group_rows(magnitudes, grid)
        first = rows.start // grid.rows if grid.rows else 0
        part = amax[first : first + len(groups)]
        np.maximum(part, groups, out=part)
    # In double precision first: amax of float64 may be beyond float32.
    exact = np.clip(amax / largest, SMALLEST_SCALE, LARGEST_SCALE)
    return np.where(amax == 0, 1.0, exact).astype(np.float32)


def _group_rows(magnitudes: NDArray[Any], grid: Grid) -> NDArray[Any]:
    """Return the largest magnitude of each group of some rows."""
    height, width = magnitudes.shape
    by_column = np.maximum.reduceat(magnitudes, np.arange(0, width, grid.columns or width), axis=1)
    return np.maximum.reduceat(by_column, np.arange(0, height, grid.rows or height), axis=0)


def spread(scales: NDArray[Any], grid: Grid, rows: Rows) -> NDArray[np.float64]:
    """Return the scale of each element of some rows, ready to broadcast."""
    height, width = rows.values.shape
    wide = scales.astype(np.float64)
    if grid.rows:
        first = rows.start // grid.rows
        wide = wide[first : first - (-height // grid.rows)].repeat(grid.rows, axis=0)[:height]
    return wide.repeat(grid.columns, axis=1)[:, :width] if grid.columns else wide


def largest_of(fmt: Format, given: float | None) -> float:
    """Return what the largest magnitude of a group becomes."""
    if given is not None:
        return given
    return float(lutcast.cast(np.array([fmt.max_code], np.uint8), FLOAT64.name, src=fmt.name)[0])
