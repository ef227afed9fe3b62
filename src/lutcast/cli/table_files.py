"""The kinds of files that hold a table, by extension."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lutcast.formats import Format
from lutcast.golden.values import code_text, value_text
from lutcast.weights.numpy_header import make_entry, write_header

Writer = Callable[[BinaryIO, NDArray[Any], Format, Format], None]


def little_endian(values: NDArray[Any], fmt: Format) -> NDArray[np.uint8]:
    """Return the codes of values as rows of bytes, the low byte first; the real part is the low one."""
    size = (fmt.part or fmt).itemsize
    return values.view(f"u{size}").astype(f"<u{size}").view(np.uint8).reshape(values.size, fmt.itemsize)


def codes(values: NDArray[Any], fmt: Format) -> Iterable[int]:
    """Yield the code of each value."""
    return (int.from_bytes(row, "little") for row in little_endian(values, fmt))


def write_npy(stream: BinaryIO, values: NDArray[Any], source: Format, destination: Format) -> None:
    """Write an array, as ``lutcast convert`` does."""
    entry = make_entry("", values.shape, destination)
    write_header(stream, entry)
    stream.write(values.view(entry.dtype).tobytes())


def write_bin(stream: BinaryIO, values: NDArray[Any], source: Format, destination: Format) -> None:
    """Write the codes and nothing else."""
    stream.write(little_endian(values, destination).tobytes())


def write_csv(stream: BinaryIO, values: NDArray[Any], source: Format, destination: Format) -> None:
    """Write a line for each code of the source."""
    lines = ["source_code,source_value,destination_code,destination_value"]
    for code, result in enumerate(codes(values, destination)):
        source_cells = f"{code_text(code, source)},{value_text(code, source)}"
        lines.append(f"{source_cells},{code_text(result, destination)},{value_text(result, destination)}")
    _write_lines(stream, lines)


def write_hex(stream: BinaryIO, values: NDArray[Any], source: Format, destination: Format) -> None:
    """Write one code a line, without prefix."""
    _write_lines(stream, (code_text(code, destination) for code in codes(values, destination)))


def _write_lines(stream: BinaryIO, lines: Iterable[str]) -> None:
    stream.write("".join(f"{line}\n" for line in lines).encode())


WRITERS: Mapping[str, Writer] = {".npy": write_npy, ".bin": write_bin, ".csv": write_csv, ".hex": write_hex}
