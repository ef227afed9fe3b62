"""What a conversion did, tensor by tensor."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..formats import Format
from ..names import dtype_of
from .measures import Measures
from .tensors import Entry


@dataclass(frozen=True)
class TensorReport:
    """What happened to one tensor.

    Attributes
    ----------
    name : str
    shape : tuple of int
    source, destination : str or None
        Formats before and after; None for what is not a number format.
    stored_as : str
        How the destination holds it: the format's name, with ", packed" where codes share
        bytes, or "uint8 codes" and the like where the container does not know the format.
    bytes_before, bytes_after : int
    audit : Measures or None
        What the cast lost; None for a tensor that was copied, or not measured.
    """

    name: str
    shape: tuple[int, ...]
    source: str | None
    destination: str | None
    stored_as: str
    bytes_before: int
    bytes_after: int
    audit: Measures | None = None

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class FileReport:
    """A file that was written.

    Attributes
    ----------
    name : str
    size : int
        In bytes.
    sha256 : str
        Of the whole file; empty for one that a dry run did not write.
    """

    name: str
    size: int
    sha256: str = ""


@dataclass(frozen=True)
class Report:
    """What a conversion did.

    Attributes
    ----------
    source, destination : Path
    format : str
        The format asked for.
    dry_run : bool
        True if nothing was written.
    tensors : tuple of TensorReport
        In the order of the file.
    notes : tuple of str
        What the destination's container could not hold as it was, and what had to stay.
    files : tuple of FileReport
        Shards of a checkpoint.
    free_bytes : int or None
        Free space where a checkpoint goes, before it was written.
    """

    source: Path
    destination: Path
    format: str
    dry_run: bool
    tensors: tuple[TensorReport, ...]
    notes: tuple[str, ...] = ()
    files: tuple[FileReport, ...] = ()
    free_bytes: int | None = None

    @property
    def bytes_before(self) -> int:
        """Bytes of all tensors in the source."""
        return sum(tensor.bytes_before for tensor in self.tensors)

    @property
    def bytes_after(self) -> int:
        """Bytes of all tensors in the destination."""
        return sum(tensor.bytes_after for tensor in self.tensors)

    def worst_first(self) -> list[tuple[TensorReport, Measures]]:
        """Return the tensors that were measured, by their signal-to-noise ratio."""
        measured = [(tensor, tensor.audit) for tensor in self.tensors if tensor.audit is not None]
        return sorted(measured, key=lambda item: item[1].snr_db)  # stable: else in the order of the file

    def as_dict(self) -> dict[str, Any]:
        """Return the report in JSON's types.

        JSON has no infinities and NaNs: they become the strings "inf", "-inf" and "nan",
        which ``float`` reads.
        """
        document = dataclasses.asdict(self)
        document.update(bytes_before=self.bytes_before, bytes_after=self.bytes_after)
        plain = _plain(document)
        assert isinstance(plain, dict)
        return plain


def stored_as(entry: Entry, fmt: Format | None) -> str:
    """Say how a container holds the elements of a tensor, whose codes are of a format."""
    if fmt is None:
        return str(entry.dtype)
    if entry.is_packed:
        return f"{fmt.name}, packed"
    own = dtype_of(fmt)
    return fmt.name if own is not None and entry.dtype.newbyteorder("=") == own else f"{entry.dtype} codes"


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case Path():
            return str(value)
        case float() if not math.isfinite(value):
            return str(float(value))
        case _:
            return value
