"""The header of a safetensors file: strict reading and writing.

Source: the format section of the safetensors README. Whatever passes here also opens with the
safetensors package; headers come from strangers, so nothing in them is taken on trust.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..formats import Format, formats
from ..names import dtype_of
from .errors import SafetensorsError
from .tensors import Entry, is_too_large

MAX_HEADER_BYTES = 100_000_000
METADATA_KEY = "__metadata__"
FORMATS: Mapping[str, Format] = {f.aliases["safetensors"]: f for f in formats() if "safetensors" in f.aliases}

_FIELDS = {"dtype", "shape", "data_offsets"}
_MAX_DIMENSIONS = 64  # NumPy's limit
_MAX_COUNT = 2**63 - 1

Span = tuple[int, int]


def parse_header(header: bytes, data_bytes: int) -> tuple[list[tuple[Entry, Span]], dict[str, str] | None]:
    """Read and check a header.

    Parameters
    ----------
    header : bytes
        The JSON text, without the eight bytes of its length.
    data_bytes : int
        Number of bytes that follow the header in the file.

    Returns
    -------
    entries : list of (Entry, (begin, end))
        In the order of their data, with their place behind the header.
    metadata : dict or None

    Raises
    ------
    SafetensorsError
        The header breaks a rule; the message names the tensor.
    """
    document = _load_json(header)
    metadata = _metadata(document.pop(METADATA_KEY)) if METADATA_KEY in document else None
    entries = [_entry(name, fields, data_bytes) for name, fields in document.items()]
    entries.sort(key=lambda item: item[1])
    _check_contiguous(entries, data_bytes)
    return entries, metadata


def build_header(entries: Sequence[Entry], metadata: Mapping[str, str] | None) -> bytes:
    """Write the header of tensors that follow it in this order, padded to eight bytes."""
    document: dict[str, Any] = {} if metadata is None else {METADATA_KEY: dict(metadata)}
    offset = 0
    for entry in entries:
        assert entry.format is not None
        document[entry.name] = {
            "dtype": entry.format.aliases["safetensors"],
            "shape": list(entry.shape),
            "data_offsets": [offset, offset + entry.nbytes],
        }
        offset += entry.nbytes
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER_BYTES:
        raise SafetensorsError(f"the header would have {len(text)} bytes; at most {MAX_HEADER_BYTES} are allowed")
    return text


def make_entry(name: str, shape: tuple[int, ...], fmt: Format | None) -> Entry:
    """Say how safetensors holds a tensor of a format.

    Raises
    ------
    SafetensorsError
        The container has no name for the format, the bits fill no whole number of bytes, or
        the tensor has the name reserved for the metadata.
    """
    if name == METADATA_KEY:
        raise SafetensorsError(f"tensor {name!r}: safetensors reserves this name")
    if fmt is None or "safetensors" not in fmt.aliases:
        what = "elements that are not numbers" if fmt is None else fmt.name
        known = ", ".join(f.name for f in FORMATS.values())
        raise SafetensorsError(f"tensor {name!r}: safetensors has no name for {what}; it has {known}")
    return _make_entry(name, shape, fmt)


def _make_entry(name: str, shape: tuple[int, ...], fmt: Format) -> Entry:
    is_packed = fmt.bits < 8 and fmt.kind != "bool"
    if is_packed and math.prod(shape) * fmt.bits % 8:
        raise SafetensorsError(
            f"tensor {name!r}: {math.prod(shape)} elements of {fmt.bits} bits do not fill whole bytes, "
            "which safetensors requires"
        )
    dtype = np.dtype(np.uint8) if is_packed else dtype_of(fmt)
    assert dtype is not None
    return Entry(name, shape, fmt, dtype, is_packed)


def _load_json(header: bytes) -> dict[str, Any]:
    if not header.startswith(b"{"):
        raise SafetensorsError("the header does not begin with '{'")
    try:
        document = json.loads(header.decode(), object_pairs_hook=_unique_object, parse_int=_integer)
    except SafetensorsError:
        raise
    except (ValueError, RecursionError) as error:
        raise SafetensorsError(f"the header is not valid JSON: {error}") from None
    assert isinstance(document, dict)  # it began with a brace
    return document


def _integer(text: str) -> int | float:
    # To the safetensors package -0 is no integer.
    return -0.0 if text == "-0" else int(text)


def _unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in result if names.count(name) > 1)
        raise SafetensorsError(f"the header has the key {twice!r} twice")
    for name in result:
        name.encode()  # lone surrogates are no Unicode text: UnicodeEncodeError is a ValueError
    return result


def _metadata(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise SafetensorsError(f"{METADATA_KEY} is not an object of strings")
    try:
        "".join(value.values()).encode()
    except UnicodeEncodeError as error:
        raise SafetensorsError(f"{METADATA_KEY} is not valid Unicode: {error}") from None
    return value


def _entry(name: str, fields: Any, data_bytes: int) -> tuple[Entry, Span]:
    def fail(problem: str) -> SafetensorsError:
        return SafetensorsError(f"tensor {name!r}: {problem}")

    if not isinstance(fields, dict) or fields.keys() != _FIELDS:
        raise fail("the entry is not an object with exactly the keys dtype, shape and data_offsets")
    dtype, shape, offsets = fields["dtype"], fields["shape"], fields["data_offsets"]
    if not isinstance(dtype, str) or dtype not in FORMATS:
        raise fail(f"unknown dtype {dtype!r}; known are {', '.join(FORMATS)}")
    if not _are_counts(shape):
        raise fail(f"shape {_brief(shape)} is not a list of integers from 0 to 2**63 - 1")
    if len(shape) > _MAX_DIMENSIONS:
        raise fail(f"{len(shape)} dimensions; at most {_MAX_DIMENSIONS} are supported")
    if not _are_counts(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise fail(f"data_offsets {_brief(offsets)} is not a pair of ascending integers")
    begin, end = offsets
    if end > data_bytes:
        raise fail(f"data ends at byte {end}, but the file has only {data_bytes} bytes of data")
    if is_too_large(shape):  # for the safetensors package too
        raise fail(f"shape {_brief(shape)} is too large")
    entry = _make_entry(name, tuple(shape), FORMATS[dtype])
    if entry.nbytes != end - begin:
        raise fail(f"shape {_brief(shape)} of {dtype} takes {entry.nbytes} bytes, data_offsets span {end - begin}")
    return entry, (begin, end)


def _are_counts(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and 0 <= item <= _MAX_COUNT for item in value)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _check_contiguous(entries: Sequence[tuple[Entry, Span]], data_bytes: int) -> None:
    expected = 0
    for entry, (begin, end) in entries:
        if begin != expected:
            problem = "overlaps the tensor before it" if begin < expected else "leaves a hole before it"
            raise SafetensorsError(f"tensor {entry.name!r}: data at byte {begin} {problem}, which ends at {expected}")
        expected = end
    if expected != data_bytes:
        raise SafetensorsError(f"{data_bytes - expected} bytes of data belong to no tensor")
