"""Tensors of the destination that have to do with scales."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lutcast
from lutcast.formats import FLOAT8_E4M3FN, FLOAT8_E4M3FNUZ, FLOAT32, FLOAT64, Format
from lutcast.policy import resolve

from ..errors import WeightsError
from ..measures import Measurer
from .layouts import LAYOUTS, scale_name
from .options import Options
from .outputs import Output, entry_of
from .scaling import Grid, find_scales, grid_of, largest_of, read_rows, spread
from .shard_file import Stored

#: Bit for bit the same weights, if scales are multiplied by this.
REBIASED = {(FLOAT8_E4M3FN, FLOAT8_E4M3FNUZ): 2.0, (FLOAT8_E4M3FNUZ, FLOAT8_E4M3FN): 0.5}


@dataclass(frozen=True)
class Scales:
    """The scales of a weight of the source, found when they are first asked for."""

    stored: Stored
    grid: Grid
    largest: float

    @cached_property
    def values(self) -> NDArray[np.float32]:
        """The scales, as the matrix of their groups."""
        return find_scales(self.stored, self.grid, self.largest)


@dataclass(frozen=True)
class ScaledWeight(Output):
    """A weight divided by its scales and cast."""

    scales: Scales

    def measurer(self) -> Measurer:
        """Return what measures the loss: of the weights, not of their quotients."""
        assert self.policy is not None
        return Measurer(FLOAT64, self.format, resolve(FLOAT64, self.format, **self.policy))

    def measure(self) -> Measurer:
        """Measure the loss without writing anything."""
        measurer = self.measurer()
        for _ in self.pieces(1, measurer):
            pass
        return measurer

    def pieces(self, threads: int, measurer: Measurer | None = None) -> Iterator[NDArray[Any]]:
        """Yield the codes, some rows at a time."""
        assert self.policy is not None
        scales = self.scales.values
        if measurer is not None:
            measurer.see_scales(scales)
        for rows in read_rows(self.stored, self.scales.grid):
            factors = spread(scales, self.scales.grid, rows)
            quotients = rows.values / factors
            if measurer is not None:
                measurer.add_scaled(rows.values, quotients, factors)
            cast = lutcast.cast(quotients, self.format.name, threads=threads, **self.policy)
            yield cast.reshape(-1).view(self.entry.dtype)


@dataclass(frozen=True)
class NewScales(Output):
    """The scales that a weight was divided by."""

    scales: Scales

    @property
    def source_bytes(self) -> int:
        """None: the weight counts."""
        return 0

    def pieces(self, threads: int, measurer: Measurer | None = None) -> Iterator[NDArray[Any]]:
        """Yield all of them."""
        yield self.scales.values.reshape(-1)


@dataclass(frozen=True)
class Unmeasured(Output):
    """A tensor whose loss is not measured: what was lost was lost when the weight was scaled."""

    def measurer(self) -> Measurer | None:
        """Return None."""
        return None


@dataclass(frozen=True)
class UnscaledWeight(Unmeasured):
    """A weight multiplied by its scales, and cast once."""

    scales: Stored
    grid: Grid

    def pieces(self, threads: int, measurer: Measurer | None = None) -> Iterator[NDArray[Any]]:
        """Yield the products, some rows at a time."""
        assert self.policy is not None
        scales = read_scales(self.scales, self.grid, self.entry.shape)
        for rows in read_rows(self.stored, self.grid):
            with np.errstate(invalid="ignore", over="ignore"):
                products = rows.values * spread(scales, self.grid, rows)
            cast = lutcast.cast(products, self.format.name, packed=self.entry.is_packed, threads=threads, **self.policy)
            yield cast.reshape(-1).view(self.entry.dtype)


@dataclass(frozen=True)
class RebiasedWeight(Unmeasured):
    """A weight whose values double or halve with the bias of its exponent, which its scales undo."""

    def pieces(self, threads: int, measurer: Measurer | None = None) -> Iterator[NDArray[Any]]:
        """Yield the codes, a piece at a time."""
        table = rebias_table(self.stored.format, self.format)
        for piece in self.stored.pieces():
            yield table[piece.view(np.uint8)].view(self.entry.dtype)


@dataclass(frozen=True)
class RebiasedScales(Unmeasured):
    """The scales of a rebiased weight, as float32."""

    factor: float

    def pieces(self, threads: int, measurer: Measurer | None = None) -> Iterator[NDArray[Any]]:
        """Yield the scales times the factor."""
        for piece in self.stored.elements():
            scales = lutcast.cast(piece, FLOAT32.name, src=self.stored.format.name)
            yield scales * np.float32(self.factor)


def rebias_table(src: Format, dst: Format) -> NDArray[np.uint8]:
    """Return the code of each code's value divided by the factor of `REBIASED`; 240 of e4m3fnuz becomes 448 / 2."""
    values = lutcast.cast(np.arange(256, dtype=np.uint8), FLOAT32.name, src=src.name)
    return lutcast.cast(values / np.float32(REBIASED[src, dst]), dst.name, overflow="saturate").view(np.uint8)


def read_scales(stored: Stored, grid: Grid, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the scales of a matrix of a shape as the matrix of its groups."""
    pieces = [lutcast.cast(piece, FLOAT64.name, src=stored.format.name) for piece in stored.elements()]
    return np.concatenate([np.zeros(0), *pieces]).reshape(grid.counts(shape))


def scaled(stored: Stored, options: Options) -> tuple[Output, Output]:
    """Return a scaled weight and its scales.

    Raises
    ------
    WeightsError
        It is no matrix.
    """
    entry, target = stored.entry, options.target
    grid, layout = options.grid, LAYOUTS[options.layout]
    scales = Scales(stored, grid, largest_of(target, options.scale_max))
    name = scale_name(entry.name, layout.suffix)
    weight = ScaledWeight(stored, entry_of(entry.name, entry.shape, target), target, options.policy, scales)
    shape = layout.shape(grid, entry.shape)
    return weight, NewScales(stored, entry_of(name, shape, FLOAT32), FLOAT32, None, scales)


def unscaled(stored: Stored, scales: Stored, block: tuple[int, int] | None, options: Options) -> Output:
    """Return a weight of the source multiplied by its scales.

    Raises
    ------
    WeightsError
        The scales do not fit.
    """
    target, shape = options.target, stored.entry.shape
    try:
        grid = grid_of(shape, scales.entry.shape, block)
    except WeightsError as error:
        raise WeightsError(f"{stored.path}: tensor {stored.entry.name!r}: {error}") from None
    return UnscaledWeight(stored, entry_of(stored.entry.name, shape, target), target, options.policy, scales, grid)


def rebiased(stored: Stored, options: Options) -> Output:
    """Return a weight in the format with the other bias."""
    target = options.target
    return RebiasedWeight(stored, entry_of(stored.entry.name, stored.entry.shape, target), target, options.policy)


def rebiased_scales(stored: Stored, weight: Format, options: Options) -> Output:
    """Return the scales of such a weight."""
    entry = entry_of(stored.entry.name, stored.entry.shape, FLOAT32)
    return RebiasedScales(stored, entry, FLOAT32, options.policy, REBIASED[weight, options.target])
