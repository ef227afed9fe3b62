"""Reading and writing safetensors files, against the safetensors package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy

import lutcast
from lutcast.weights import SafetensorsError, open_safetensors
from lutcast.weights.safetensors_file import write_safetensors
from lutcast.weights.safetensors_header import FORMATS, make_entry

NUMPY_ROUTE = [
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64", "complex64"),
]


def test_reads_what_the_package_writes(tmp_path: Path) -> None:
    tensors = {name: np.arange(6).reshape(2, 3).astype(name) for name in NUMPY_ROUTE}
    tensors["bfloat16"] = np.linspace(-3, 3, 5).astype(ml_dtypes.bfloat16)
    tensors["float8_e4m3fn"] = np.linspace(-3, 3, 5).astype(ml_dtypes.float8_e4m3fn)
    tensors["float8_e5m2"] = np.linspace(-3, 3, 5).astype(ml_dtypes.float8_e5m2)
    tensors["scalar"] = np.array(2.5)
    tensors["empty"] = np.empty((0, 4), np.float32)
    path = tmp_path / "theirs.safetensors"
    safetensors.numpy.save_file(tensors, path, metadata={"key": "value"})
    with open_safetensors(path) as contents:
        assert contents.metadata == {"key": "value"}
        read = {tensor.entry.name: tensor for tensor in contents.tensors}
        assert read.keys() == tensors.keys()
        for name, expected in tensors.items():
            loaded = read[name].load()
            assert loaded.dtype == expected.dtype
            np.testing.assert_array_equal(loaded, expected)
            np.testing.assert_array_equal(read[name].values(), expected.reshape(-1))


def test_views_are_read_only_maps(write_raw: Any) -> None:
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    with open_safetensors(write_raw({"a": entry}, np.float32([1, 2]).tobytes())) as contents:
        view = contents.tensors[0].load()
    assert type(view) is np.ndarray
    assert not view.flags.owndata
    assert not view.flags.writeable
    assert view.tolist() == [1, 2]  # still there after closing


def test_float4_is_two_to_a_byte_low_nibble_first(write_raw: Any) -> None:
    entry = {"dtype": "F4", "shape": [2, 2], "data_offsets": [0, 2]}
    with open_safetensors(write_raw({"a": entry}, b"\x21\xfe")) as contents:
        (tensor,) = contents.tensors
        assert tensor.entry.is_packed
        assert tensor.load().tolist() == [0x21, 0xFE]
        assert tensor.values().astype(np.float64).tolist() == [0.5, 1.0, -4.0, -6.0]


def test_float6_is_four_to_three_bytes(write_raw: Any) -> None:
    entry = {"dtype": "F6_E2M3", "shape": [4], "data_offsets": [0, 3]}
    codes = [0b000001, 0b001000, 0b011111, 0b111111]
    data = sum(code << 6 * i for i, code in enumerate(codes)).to_bytes(3, "little")
    with open_safetensors(write_raw({"a": entry}, data)) as contents:
        assert contents.tensors[0].values().astype(np.float64).tolist() == [0.125, 1.0, 7.5, -7.5]


@pytest.mark.parametrize("name", [*NUMPY_ROUTE, "bfloat16"])
def test_the_package_reads_what_we_write(name: str, tmp_path: Path) -> None:
    values = lutcast.cast(np.arange(8.0), name).reshape(2, 4)
    path = tmp_path / "ours.safetensors"
    _write(path, {"b": values, "a": values[:1]}, {"key": "value"})
    with safetensors.safe_open(path, "numpy") as theirs:
        assert theirs.metadata() == {"key": "value"}
        assert sorted(theirs.keys()) == ["a", "b"]
        np.testing.assert_array_equal(theirs.get_tensor("b"), values)
        np.testing.assert_array_equal(theirs.get_tensor("a"), values[:1])


@pytest.mark.parametrize("dtype", FORMATS)
def test_the_package_opens_every_format(dtype: str, tmp_path: Path) -> None:
    entry = make_entry("a", (4, 8), FORMATS[dtype])
    path = tmp_path / "ours.safetensors"
    with path.open("wb") as stream:
        write_safetensors(stream, [entry], lambda entry: [np.zeros(entry.nbytes, np.uint8)], None)
    with safetensors.safe_open(path, "numpy") as theirs:
        assert theirs.metadata() is None
        assert theirs.get_slice("a").get_dtype() == dtype
        assert theirs.get_slice("a").get_shape() == [4, 8]


def test_order_is_kept(tmp_path: Path) -> None:
    names = ["z", "a", "m", "b"]
    path = tmp_path / "ours.safetensors"
    _write(path, {name: np.zeros(i, np.uint8) for i, name in enumerate(names)}, None)
    with open_safetensors(path) as contents:
        assert [tensor.entry.name for tensor in contents.tensors] == names


def _write(path: Path, arrays: dict[str, np.ndarray[Any, Any]], metadata: dict[str, str] | None) -> None:
    entries = [make_entry(name, array.shape, lutcast.get_format(array.dtype)) for name, array in arrays.items()]
    with path.open("wb") as stream:
        write_safetensors(stream, entries, lambda entry: [arrays[entry.name]], metadata)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file has 0 bytes"),
        (b"\0" * 7, "the file has 7 bytes"),
        (b"\0" * 8, "does not begin"),
        (b"\xff" * 8, "claims 18446744073709551615 bytes; at most 100000000"),
        ((100_000_001).to_bytes(8, "little"), "claims 100000001 bytes"),
        ((100).to_bytes(8, "little") + b"{}", "truncated: 2 of 100 header bytes"),
    ],
)
def test_broken_file(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.safetensors"
    path.write_bytes(content)
    with pytest.raises(SafetensorsError, match=message), open_safetensors(path):
        pass


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.safetensors", tmp_path / "cut.safetensors"
    safetensors.numpy.save_file({"a": np.arange(3), "b": np.arange(5, dtype=np.int8)}, whole)
    content = whole.read_bytes()
    for size in range(len(content)):
        cut.write_bytes(content[:size])
        with pytest.raises(SafetensorsError, match=r"cut\.safetensors"), open_safetensors(cut):
            pass


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), open_safetensors(tmp_path / "none.safetensors"):
        pass


def test_big_endian_machines_are_refused(write_raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_raw({})
    monkeypatch.setattr("sys.byteorder", "big")
    with pytest.raises(SafetensorsError, match="little-endian machines only"), open_safetensors(path):
        pass
