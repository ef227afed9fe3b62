"""The kinds of files: what each writes, and what can be read back from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...arrays import Array
from ...formats import Format
from ..vectors import Vectors
from . import binary, memory, sources, tables
from .options import Options

Columns = tuple[Array | None, Array]  # inputs where the file has them, results


@dataclass(frozen=True)
class Kind:
    """One kind of file.

    Attributes
    ----------
    name : str
    extension : str
    write : callable
        Yields the bytes of the file.
    read : callable or None
        Returns the columns of codes; None for what only compilers read.
    has_inputs : bool
        Whether the inputs are in the file too.
    """

    name: str
    extension: str
    write: Callable[[Vectors, Options], Iterable[bytes]]
    read: Callable[[bytes, Format | None, Format, Options], Columns] | None = None
    has_inputs: bool = False


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("npy", ".npy", binary.write_npy, binary.read_npy),
        Kind("bin", ".bin", binary.write_bin, binary.read_bin),
        Kind("csv", ".csv", tables.write_csv, tables.read_csv, has_inputs=True),
        Kind("json", ".json", tables.write_json, tables.read_json, has_inputs=True),
        Kind("testfloat", ".tf", tables.write_testfloat, tables.read_testfloat, has_inputs=True),
        Kind("hex", ".hex", memory.write_hex, memory.read_hex),
        Kind("mif", ".mif", memory.write_mif, memory.read_mif),
        Kind("coe", ".coe", memory.write_coe, memory.read_coe),
        Kind("c", ".h", sources.write_c_header, has_inputs=True),
        Kind("systemverilog", ".sv", sources.write_systemverilog, has_inputs=True),
    )
}


def kind_of(path: Path, name: str | None = None) -> Kind:
    """Return the kind of a file by its name, or by its extension; ValueError for no such kind."""
    if name is not None:
        if name not in KINDS:
            raise ValueError(f"format: {name!r} is not one of {', '.join(KINDS)}")
        return KINDS[name]
    for kind in KINDS.values():
        if path.suffix.lower() == kind.extension:
            return kind
    raise ValueError(f"{path}: the extension is not one of {', '.join(kind.extension for kind in KINDS.values())}")
