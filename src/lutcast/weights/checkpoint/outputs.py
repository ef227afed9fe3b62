"""A tensor of the destination: copied, or cast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lutcast
from lutcast.formats import Format
from lutcast.policy import resolve

from ..measures import Measurer
from ..report import TensorReport, stored_as
from ..safetensors_header import make_entry
from ..steps import PolicyArguments
from ..tensors import Entry
from .options import Options
from .shard_file import Stored


@dataclass(frozen=True)
class Output:
    """A tensor of the destination and how it is made.

    Attributes
    ----------
    stored : Stored
        The tensor that it comes from.
    entry : Entry
        How the destination describes it.
    format : Format
        What its codes mean.
    policy : PolicyArguments or None
        None for a tensor whose bytes stay as they are.
    """

    stored: Stored
    entry: Entry
    format: Format
    policy: PolicyArguments | None

    @property
    def has_own_name(self) -> bool:
        """Whether safetensors has a name for the format."""
        return self.entry.format is self.format

    @property
    def source_bytes(self) -> int:
        """Bytes of the source that are done with this tensor."""
        return self.stored.entry.nbytes

    def measurer(self) -> Measurer | None:
        """Return what measures the loss, None where nothing is cast."""
        if self.policy is None:
            return None
        return Measurer(self.stored.format, self.format, resolve(self.stored.format, self.format, **self.policy))

    def measure(self) -> Measurer | None:
        """Measure the loss without writing anything."""
        measurer = self.measurer()
        if measurer is not None:
            for piece in self.stored.elements():
                measurer.add(piece)
        return measurer

    def pieces(self, threads: int, measurer: Measurer | None = None) -> Iterator[NDArray[Any]]:
        """Yield what the file holds, a piece at a time."""
        if self.policy is None:
            yield from self.stored.pieces()
            return
        for piece in self.stored.elements():
            if measurer is not None:
                measurer.add(piece)
            cast = lutcast.cast(
                piece,
                self.format.name,
                src=self.stored.format.name,
                packed=self.entry.is_packed,
                threads=threads,
                **self.policy,
            )
            yield cast.view(self.entry.dtype)

    def report(self, measurer: Measurer | None) -> TensorReport:
        """Say what happened to the tensor."""
        return TensorReport(
            name=self.entry.name,
            shape=self.entry.shape,
            source=self.stored.format.name,
            destination=self.format.name,
            stored_as=stored_as(self.entry, self.format),
            bytes_before=self.source_bytes,
            bytes_after=self.entry.nbytes,
            audit=measurer.result() if measurer else None,
        )


def copied(stored: Stored) -> Output:
    """Return a tensor as it is."""
    return Output(stored, stored.entry, stored.format, None)


def cast_to(stored: Stored, options: Options) -> Output:
    """Return the cast of a tensor.

    Raises
    ------
    WeightsError
        Safetensors cannot hold the result.
    lutcast.UnsupportedCast, ValueError
        There is no such cast.
    """
    target = options.target
    lutcast.caster(stored.format.name, target.name, **options.policy)
    entry = entry_of(stored.entry.name, stored.entry.shape, target)
    return Output(stored, entry, target, options.policy)


def entry_of(name: str, shape: tuple[int, ...], fmt: Format) -> Entry:
    """Say how a tensor lies in the destination: as unsigned codes where safetensors lacks the format."""
    if "safetensors" in fmt.aliases:
        return make_entry(name, shape, fmt)
    return make_entry(name, shape, lutcast.get_format(np.dtype(f"u{fmt.itemsize}")))
