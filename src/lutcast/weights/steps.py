"""What happens to each tensor of a conversion: decided first, then carried out piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, TypedDict

from numpy.typing import NDArray

import lutcast

from ..formats import Format
from ..policy import resolve
from .containers import Container
from .measures import Measurer, Measures
from .report import TensorReport, stored_as
from .tensors import Entry, Tensor, split


class PolicyArguments(TypedDict):
    """The policy arguments of `lutcast.cast`."""

    rounding: str | None
    overflow: str | None
    nan: str


@dataclass(frozen=True)
class Selection:
    """Which tensors are converted: real floats matching an include and no exclude pattern."""

    include: Sequence[str]
    exclude: Sequence[str]

    def __contains__(self, entry: Entry) -> bool:
        def matches(patterns: Sequence[str]) -> bool:
            return any(fnmatchcase(entry.name, pattern) for pattern in patterns)

        if entry.format is None or entry.format.kind != "float":
            return False
        return (not self.include or matches(self.include)) and not matches(self.exclude)


@dataclass(frozen=True)
class Step:
    """One tensor of the source and its entry in the destination.

    Attributes
    ----------
    tensor : Tensor
    entry : Entry
    policy : PolicyArguments or None
        None for a tensor that is copied.
    is_verbatim : bool
        Whether the bytes in the file stay the same.
    kept : str
        Why a tensor that was selected is copied all the same; empty for others.
    """

    tensor: Tensor
    entry: Entry
    policy: PolicyArguments | None
    is_verbatim: bool
    kept: str = ""

    def audit(self, values: NDArray[Any]) -> Measures | None:
        """Measure what the cast of these values loses."""
        before = self.tensor.entry.format
        if self.policy is None or self.entry.format is None or before is None:
            return None
        measurer = Measurer(before, self.entry.format, resolve(before, self.entry.format, **self.policy))
        measurer.add(values)
        return measurer.result()

    def report(self, audit: Measures | None) -> TensorReport:
        """Say what happened to the tensor."""
        before, after = self.tensor.entry, self.entry
        return TensorReport(
            name=before.name,
            shape=before.shape,
            source=before.format.name if before.format else None,
            destination=after.format.name if after.format else None,
            stored_as=stored_as(after, after.format),
            bytes_before=before.nbytes,
            bytes_after=after.nbytes,
            audit=audit,
        )

    def load(self) -> NDArray[Any]:
        """Fetch what `pieces` and `audit` work on, as a 1-D array in the destination's order."""
        if self.is_verbatim:
            return self.tensor.load().reshape(-1, order=self.entry.order)
        return self.tensor.values(self.entry.order)

    def pieces(self, loaded: NDArray[Any], threads: int) -> Iterator[NDArray[Any]]:
        """Yield the destination's elements, or packed bytes, a piece at a time."""
        if self.is_verbatim:
            yield from split(loaded)
            return
        source, to = self.tensor.entry.format, self.entry.format
        assert source is not None
        assert to is not None
        policy = self.policy or PolicyArguments(rounding=None, overflow=None, nan="keep")
        for piece in split(loaded):
            cast = lutcast.cast(piece, to.name, src=source.name, packed=self.entry.is_packed, threads=threads, **policy)
            yield cast.view(self.entry.dtype)


def plan_step(
    tensor: Tensor, target: Format, policy: PolicyArguments, selection: Selection, reader: Container, writer: Container
) -> Step:
    """Decide what happens to one tensor, and check that it can.

    Raises
    ------
    WeightsError
        The destination's container cannot hold the result.
    lutcast.UnsupportedCast, ValueError
        There is no such cast.
    """
    before = tensor.entry
    is_alike = writer.make_entry is reader.make_entry
    kept = tensor.fixed if is_alike and before in selection else ""
    if kept or before not in selection:
        after = before if is_alike else writer.make_entry(before.name, before.shape, before.format)
        return Step(tensor, after, None, is_alike, kept)
    assert before.format is not None
    lutcast.caster(before.format.name, target.name, **policy)
    after = writer.make_entry(before.name, before.shape, target)
    if is_alike and not after.is_packed:
        after = replace(after, is_fortran=before.is_fortran)
    return Step(tensor, after, policy, is_verbatim=False)
