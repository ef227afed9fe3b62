"""Inputs and results side by side: ``.csv``, ``.json``, TestFloat's text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...arrays import Array
from ...formats import Format
from ..values import code_text, value_text
from ..vectors import Flags, Vectors
from .errors import GoldenFileError
from .options import Options
from .text import codes_of, decode, digits_of, encode, parse_word

CSV_HEAD = ("source_code", "source_value", "destination_code", "destination_value", "flags")
TESTFLOAT_FLAGS = 0x1F


def flag_names(flags: int) -> list[str]:
    """Return the names of the flags that are set."""
    return [flag.name.lower() for flag in Flags if flags & flag and flag.name]


def _rows(vectors: Vectors) -> Iterator[tuple[int, int, int]]:
    return zip(vectors.inputs.tolist(), vectors.outputs.tolist(), vectors.flags.tolist(), strict=True)


def write_csv(vectors: Vectors, options: Options) -> Iterator[bytes]:
    """Yield a line for each vector: both codes in hexadecimal, both values, the flags by name."""
    src, dst = vectors.src, vectors.dst
    lines = (
        f"{code_text(x, src)},{value_text(x, src)},{code_text(y, dst)},{value_text(y, dst)},{' '.join(flag_names(f))}"
        for x, y, f in _rows(vectors)
    )
    yield f"{','.join(CSV_HEAD)}\n".encode()
    yield from encode(lines)


def read_csv(data: bytes, src: Format | None, dst: Format, options: Options) -> tuple[Array | None, Array]:
    """Read the two columns of codes of a table, by the names of its columns."""
    lines = decode(data)
    head = [name.strip() for name in lines[0].split(",")] if lines else []
    if "destination_code" not in head:
        raise GoldenFileError(f"line 1: the columns {', '.join(CSV_HEAD[:4])} are needed")
    columns: dict[str, list[int]] = {name: [] for name in CSV_HEAD[0:3:2] if name in head}
    for number, line in enumerate(lines[1:], 2):
        cells = line.split(",")
        if len(cells) != len(head):
            raise GoldenFileError(f"line {number}: {len(cells)} cells, {len(head)} are needed")
        for name, words in columns.items():
            fmt = dst if name == "destination_code" else src
            words.append(parse_word(cells[head.index(name)].strip(), fmt.bits if fmt else 64, number))
    inputs = columns.get("source_code")
    return codes_of(inputs, src) if inputs is not None and src else None, codes_of(columns["destination_code"], dst)


def write_json(vectors: Vectors, options: Options) -> Iterator[bytes]:
    """Yield one document: what the vectors mean, and the vectors."""
    rounding, overflow, nan = vectors.policy
    head = {
        "source": vectors.src.name,
        "destination": vectors.dst.name,
        "rounding": str(rounding),
        "overflow": str(overflow),
        "nan": nan,
        "level": vectors.level,
    }
    text = json.dumps(head, indent=2)
    yield f'{text[:-2]},\n  "vectors": [\n'.encode()
    last = len(vectors) - 1
    yield from encode(
        f"    {_json_row(vectors, *row)}{'' if index == last else ','}" for index, row in enumerate(_rows(vectors))
    )
    yield b"  ]\n}\n"


def _json_row(vectors: Vectors, x: int, y: int, flags: int) -> str:
    row = {"source": code_text(x, vectors.src), "result": code_text(y, vectors.dst), "flags": flag_names(flags)}
    return json.dumps(row)


def read_json(data: bytes, src: Format | None, dst: Format, options: Options) -> tuple[Array | None, Array]:
    """Read the vectors of a document, or a plain list of codes in hexadecimal."""
    try:
        document: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise GoldenFileError(f"no valid JSON: {error}") from None
    rows = document.get("vectors") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise GoldenFileError('a list, or an object with the list "vectors" is needed')
    inputs, outputs = [], []
    for index, row in enumerate(rows):
        result = row.get("result") if isinstance(row, dict) else row
        if not isinstance(result, str):
            raise GoldenFileError(f"vector {index}: a result in hexadecimal is needed")
        outputs.append(_word(result, dst.bits, index))
        if src and isinstance(row, dict) and isinstance(row.get("source"), str):
            inputs.append(_word(row["source"], src.bits, index))
    if src is None or len(inputs) != len(outputs):
        return None, codes_of(outputs, dst)
    return codes_of(inputs, src), codes_of(outputs, dst)


def _word(text: str, bits: int, index: int) -> int:
    try:
        return parse_word(text, bits, 0)
    except GoldenFileError as error:
        raise GoldenFileError(f"vector {index}{str(error).removeprefix('line 0')}") from None


def write_testfloat(vectors: Vectors, options: Options) -> Iterator[bytes]:
    """Yield TestFloat's text: source, result and flags in hexadecimal, one vector on a line."""
    wide, narrow = digits_of(vectors.src.bits), digits_of(vectors.dst.bits)
    return encode(f"{x:0{wide}X} {y:0{narrow}X} {f & TESTFLOAT_FLAGS:02X}" for x, y, f in _rows(vectors))


def read_testfloat(data: bytes, src: Format | None, dst: Format, options: Options) -> tuple[Array | None, Array]:
    """Read TestFloat's text; flags are not looked at."""
    inputs, outputs = [], []
    for number, line in enumerate(decode(data), 1):
        words = line.split()
        if len(words) not in (2, 3):
            raise GoldenFileError(f"line {number}: {len(words)} words; source, result and flags are needed")
        inputs.append(parse_word(words[0], src.bits if src else 64, number))
        outputs.append(parse_word(words[1], dst.bits, number))
    return codes_of(inputs, src) if src else None, codes_of(outputs, dst)
