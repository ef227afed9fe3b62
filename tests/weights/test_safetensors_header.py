"""The header of a safetensors file comes from strangers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import safetensors
from hypothesis import given
from hypothesis import strategies as st

from lutcast.weights import SafetensorsError, open_safetensors
from lutcast.weights.safetensors_header import FORMATS, build_header, make_entry, parse_header


def entry(dtype: Any = "U8", shape: Any = (1,), offsets: Any = (0, 1), **extra: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets, **extra}


BAD_HEADERS = {
    "not an object": (b"[]", 0, "does not begin with '{'"),
    "empty": (b"", 0, "does not begin with '{'"),
    "leading space": (b" {}", 0, "does not begin with '{'"),
    "not JSON": (b'{"a":', 0, "not valid JSON"),
    "trailing text": (b"{}x", 0, "not valid JSON"),
    "not UTF-8": (b'{"\xff":1}', 0, "not valid JSON"),
    "nested too deeply": (b'{"a":' * 200_000, 0, "not valid JSON"),
    "huge number": (b'{"a":' + b"9" * 5000 + b"}", 0, "not valid JSON"),
    "lone surrogate": (rb'{"\ud800":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1, "not valid JSON"),
    "name twice": (b'{"a":{},"a":{}}', 0, "key 'a' twice"),
    "field twice": (b'{"a":{"dtype":"U8","dtype":"U8"}}', 0, "key 'dtype' twice"),
    "entry no object": ({"a": [1]}, 0, "'a': the entry is not an object"),
    "field missing": ({"a": {"dtype": "U8", "shape": [1]}}, 0, "'a': the entry is not an object"),
    "field unknown": ({"a": entry(stride=1)}, 1, "'a': the entry is not an object"),
    "metadata null": ({"__metadata__": None}, 0, "__metadata__ is not an object of strings"),
    "metadata list": ({"__metadata__": ["x"]}, 0, "__metadata__ is not an object of strings"),
    "metadata number": ({"__metadata__": {"x": 1}}, 0, "__metadata__ is not an object of strings"),
    "metadata surrogate": (rb'{"__metadata__":{"x":"\udfff"}}', 0, "__metadata__ is not valid Unicode"),
    "dtype unknown": ({"a": entry("F7")}, 1, "'a': unknown dtype 'F7'"),
    "dtype not text": ({"a": entry(["U8"])}, 1, r"'a': unknown dtype \['U8'\]"),
    "shape number": ({"a": entry(shape=1)}, 1, "'a': shape 1 is not a list"),
    "negative dimension": ({"a": entry(shape=[-1])}, 1, r"'a': shape \[-1\] is not a list"),
    "fractional dimension": ({"a": entry(shape=[1.0])}, 1, r"'a': shape \[1.0\] is not a list"),
    "minus zero": (b'{"a":{"dtype":"U8","shape":[-0],"data_offsets":[0,0]}}', 0, r"'a': shape \[-0.0\] is not a list"),
    "boolean dimension": ({"a": entry(shape=[True])}, 1, r"'a': shape \[True\] is not a list"),
    "huge dimension": ({"a": entry(shape=[2**64])}, 1, "'a': shape .* is not a list"),
    "huge product": ({"a": entry(shape=[2**40, 2**40])}, 1, "'a': shape .* is too large"),
    "huge and empty": ({"a": entry(shape=[2**40, 2**40, 0], offsets=[0, 0])}, 0, "'a': shape .* is too large"),
    "many dimensions": ({"a": entry(shape=[1] * 65)}, 1, "'a': 65 dimensions"),
    "offsets number": ({"a": entry(offsets=1)}, 1, "'a': data_offsets 1 is not a pair"),
    "three offsets": ({"a": entry(offsets=[0, 1, 1])}, 1, "'a': data_offsets .* is not a pair"),
    "negative offset": ({"a": entry(offsets=[-1, 0])}, 1, "'a': data_offsets .* is not a pair"),
    "fractional offset": ({"a": entry(offsets=[0, 1.0])}, 1, "'a': data_offsets .* is not a pair"),
    "descending offsets": ({"a": entry(offsets=[1, 0])}, 1, "'a': data_offsets .* is not a pair of ascending"),
    "beyond the file": ({"a": entry(shape=[2], offsets=[0, 2])}, 1, "'a': data ends at byte 2, .* only 1 bytes"),
    "size too small": ({"a": entry("F32", [2], [0, 4])}, 4, "'a': shape .* takes 8 bytes, data_offsets span 4"),
    "size too large": ({"a": entry("F32", [1], [0, 8])}, 8, "'a': shape .* takes 4 bytes, data_offsets span 8"),
    "odd float4": ({"a": entry("F4", [3], [0, 2])}, 2, "'a': 3 elements of 4 bits do not fill whole bytes"),
    "ragged float6": ({"a": entry("F6_E3M2", [2], [0, 2])}, 2, "'a': 2 elements of 6 bits do not fill whole bytes"),
    "overlap": ({"a": entry(shape=[2], offsets=[0, 2]), "b": entry(offsets=[1, 2])}, 2, "'b': .* overlaps"),
    "same place": ({"a": entry(), "b": entry()}, 1, "'b': .* overlaps"),
    "hole": ({"a": entry(), "b": entry(offsets=[2, 3])}, 3, "'b': .* leaves a hole"),
    "hole at the start": ({"a": entry(offsets=[1, 2])}, 2, "'a': .* leaves a hole"),
    "data left over": ({"a": entry()}, 3, "2 bytes of data belong to no tensor"),
}


@pytest.mark.parametrize(("header", "data_bytes", "message"), BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_bad_header(header: Any, data_bytes: int, message: str, write_raw: Any) -> None:
    path = write_raw(header, bytes(data_bytes))
    with pytest.raises(SafetensorsError, match=message) as caught, open_safetensors(path):
        pass
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 1000


GOOD_HEADERS = {
    "nothing": ({}, 0, []),
    "scalar": ({"a": entry("F32", [], [0, 4])}, 4, ["a"]),
    "empty tensor": ({"a": entry("F32", [0, 3], [0, 0])}, 0, ["a"]),
    "empty tensor between": (
        {"b": entry(), "a": entry(shape=[0], offsets=[1, 1]), "c": entry(offsets=[1, 2])},
        2,
        ["b", "a", "c"],
    ),
    "listed out of order": ({"b": entry(offsets=[4, 5]), "a": entry("F32", [1], [0, 4])}, 5, ["a", "b"]),
    "unaligned": ({"a": entry(), "b": entry("F64", [1], [1, 9])}, 9, ["a", "b"]),
    "no name": ({"": entry()}, 1, [""]),
    "padded": (b"{}  \n\t ", 0, []),
}


@pytest.mark.parametrize(("header", "data_bytes", "names"), GOOD_HEADERS.values(), ids=GOOD_HEADERS)
def test_good_header(header: Any, data_bytes: int, names: list[str], write_raw: Any) -> None:
    path = write_raw(header, bytes(data_bytes))
    with open_safetensors(path) as contents:
        assert [tensor.entry.name for tensor in contents.tensors] == names
    with safetensors.safe_open(path, "numpy") as theirs:
        assert sorted(theirs.keys()) == sorted(names)


@pytest.mark.parametrize("metadata", [None, {}, {"a": "b", "ü": '\n\\"'}])
def test_metadata(metadata: dict[str, str] | None, write_raw: Any) -> None:
    path = write_raw({} if metadata is None else {"__metadata__": metadata})
    with open_safetensors(path) as contents:
        assert contents.metadata == metadata


@pytest.mark.parametrize("dtype", FORMATS)
def test_every_format_survives(dtype: str) -> None:
    written = [make_entry("a", (3, 8), FORMATS[dtype]), make_entry("b", (), FORMATS["U8"])]
    header = build_header(written, {"k": "v"})
    assert len(header) % 8 == 0
    read, metadata = parse_header(header, sum(item.nbytes for item in written))
    assert [item for item, _ in read] == written
    assert [span for _, span in read] == [(0, written[0].nbytes), (written[0].nbytes, written[0].nbytes + 1)]
    assert metadata == {"k": "v"}


def test_reserved_name() -> None:
    with pytest.raises(SafetensorsError, match="'__metadata__': safetensors reserves this name"):
        make_entry("__metadata__", (1,), FORMATS["U8"])


def test_header_too_large_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lutcast.weights.safetensors_header.MAX_HEADER_BYTES", 64)
    with pytest.raises(SafetensorsError, match="at most 64 are allowed"):
        build_header([make_entry("a" * 100, (1,), FORMATS["U8"])], None)


@given(st.binary(max_size=200), st.integers(0, 64))
def test_random_bytes_never_crash(text: bytes, data_bytes: int) -> None:
    _parses(text, data_bytes)
    _parses(b"{" + text + b"}", data_bytes)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**65) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
FIELD = st.sampled_from(["dtype", "shape", "data_offsets"])


@given(st.dictionaries(st.text(max_size=3), JSON | st.dictionaries(FIELD, JSON, max_size=3), max_size=3))
def test_random_json_never_crashes(document: dict[str, Any]) -> None:
    _parses(json.dumps(document).encode(), 16)


VALID = json.dumps(
    {
        "__metadata__": {"k": "v"},
        "a": entry("F32", [2, 2], [0, 16]),
        "b": entry("F4", [2, 3], [16, 19]),
        "c": entry("BF16", [0], [19, 19]),
    }
).encode()


@given(
    st.lists(
        st.tuples(st.integers(0, len(VALID) - 1), st.binary(max_size=2), st.integers(0, 2)), min_size=1, max_size=3
    )
)
def test_what_passes_here_opens_there(tmp_path_factory: Any, edits: list[tuple[int, bytes, int]]) -> None:
    text = VALID
    for place, insertion, removed in edits:
        text = text[:place] + insertion + text[place + removed :]
    if _parses(text, 19):
        path: Path = tmp_path_factory.getbasetemp() / "mutated.safetensors"
        path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(19))
        with safetensors.safe_open(path, "numpy") as theirs:
            assert set(theirs.keys()) == {item.name for item, _ in parse_header(text, 19)[0]}


def _parses(text: bytes, data_bytes: int) -> bool:
    try:
        parse_header(text, data_bytes)
    except SafetensorsError:
        return False
    return True
