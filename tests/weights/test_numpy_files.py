"""Reading and writing .npy and .npz files."""

from __future__ import annotations

import contextlib
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lutcast.weights import WeightsError, convert
from lutcast.weights.numpy_files import open_npy, open_npz
from lutcast.weights.numpy_header import read_entry

HEADER = "{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"


def npy(shape: str = "(1,)", descr: str = "'<f4'", data: bytes = b"\0" * 4, version: bytes = b"\1\0") -> bytes:
    """Make the bytes of a .npy array, sound or not."""
    text = HEADER.format(descr=descr, shape=shape).encode() + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + data


ARRAYS = {
    "float32": np.float32([[1, 2], [3, 4]]),
    "scalar": np.array(3.0),
    "empty": np.empty((0, 3), np.int16),
    "big-endian": np.arange(4, dtype=">f8"),
    "Fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "text": np.array(["a", "bc"]),
    "no text": np.array(["", ""]),
    "records": np.array([(1, 2.0)], [("x", "i4"), ("y", "f8")]),
    "dates": np.array(["2020-01-01"], "datetime64[D]"),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_read_npy(array: np.ndarray[Any, Any], tmp_path: Path) -> None:
    path = tmp_path / "array.npy"
    np.save(path, array)
    with open_npy(path) as contents:
        (tensor,) = contents.tensors
        loaded = tensor.load()
    assert tensor.entry.name == "array"
    assert loaded.dtype == array.dtype
    assert loaded.flags.f_contiguous == array.flags.f_contiguous
    np.testing.assert_array_equal(loaded, array)


def test_read_npz(tmp_path: Path) -> None:
    for save in (np.savez, np.savez_compressed):
        path = tmp_path / f"{save.__name__}.npz"
        save(path, **ARRAYS)
        with open_npz(path) as contents:
            assert [tensor.entry.name for tensor in contents.tensors] == list(ARRAYS)
            for tensor in contents.tensors:
                np.testing.assert_array_equal(tensor.load(), ARRAYS[tensor.entry.name])


def test_copies_are_what_numpy_wrote(tmp_path: Path) -> None:
    source, destination = tmp_path / "source.npz", tmp_path / "destination.npz"
    np.savez(source, **ARRAYS)
    convert(source, destination, "float16", include=["none"])
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(destination) as new:
        assert old.namelist() == new.namelist()
        for name in old.namelist():
            assert old.read(name) == new.read(name)


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_copy_of_npy_is_identical(array: np.ndarray[Any, Any], tmp_path: Path) -> None:
    source, destination = tmp_path / "source.npy", tmp_path / "destination.npy"
    np.save(source, array)
    convert(source, destination, "float16", exclude=["*"])
    assert source.read_bytes() == destination.read_bytes()


def test_npz_is_reproducible_and_passes_its_own_checksums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, first, second = (tmp_path / name for name in ("source.npz", "first.npz", "second.npz"))
    np.savez(source, **ARRAYS)
    convert(source, first, "bfloat16")
    monkeypatch.setattr("time.time", lambda: 2e9)
    convert(source, second, "bfloat16")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert archive.testzip() is None
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


BAD_ARRAYS = {
    "no magic": (b"hello world", "not a .npy array"),
    "nothing": (b"", "not a .npy array"),
    "unknown version": (npy(version=b"\7\0"), "version 7.0 is not supported"),
    "cut header": (npy()[:30], "not a .npy array"),
    "no dictionary": (npy(shape="(1,)")[:10] + b"]" * 80, "not a .npy array"),
    "pickle": (npy(descr="'|O'", data=b"\0" * 8), "a pickle, which is never loaded"),
    "pickle in a record": (npy(descr="[('x', '|O')]", data=b"\0" * 8), "a pickle, which is never loaded"),
    "negative size": (npy(shape="(-1,)", data=b""), "impossible shape"),
    "many dimensions": (npy(shape="(" + "1," * 65 + ")"), "impossible shape"),
    "unknown dtype": (npy(descr="'<q77'"), "not a .npy array"),
    "huge claim": (
        npy(shape="(1000000, 1000000000)"),
        "takes 4000000000000000 bytes, the file holds 4",
    ),
    "truncated": (npy(shape="(2,)"), "takes 8 bytes, the file holds 4"),
    "too long": (npy(data=b"\0" * 5), "takes 4 bytes, the file holds 5"),
}


@pytest.mark.parametrize(("content", "message"), BAD_ARRAYS.values(), ids=BAD_ARRAYS)
def test_bad_array(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.npy"
    path.write_bytes(content)
    with pytest.raises(WeightsError, match=message) as caught, open_npy(path):
        pass
    assert str(caught.value).startswith(f"{path}: ")
    archive = tmp_path / "bad.npz"
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("x.npy", content)
    with pytest.raises(WeightsError, match=message) as caught, open_npz(archive):
        pass
    assert str(caught.value).startswith(f"{archive}: tensor 'x': ")


def test_zip_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    with zipfile.ZipFile(path, "w") as members:
        members.writestr("readme.txt", "hello")
    with pytest.raises(WeightsError, match=r"'readme\.txt' is not a \.npy array"), open_npz(path):
        pass


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_member_twice(tmp_path: Path) -> None:
    path = tmp_path / "twice.npz"
    with zipfile.ZipFile(path, "w") as members:
        members.writestr("x.npy", npy())
        members.writestr("x.npy", npy())
    with pytest.raises(WeightsError, match="tensor 'x' is there 2 times"), open_npz(path):
        pass


def test_not_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "text.npz"
    path.write_bytes(b"hello")
    with pytest.raises(WeightsError, match="damaged or unsupported zip"), open_npz(path):
        pass


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_flipped_bits_in_a_zip_are_noticed(save: Any, tmp_path: Path) -> None:
    path = tmp_path / "flipped.npz"
    save(path, x=np.arange(1000.0))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x55
    path.write_bytes(content)
    with open_npz(path) as contents, pytest.raises(WeightsError, match="damaged or unsupported zip"):
        contents.tensors[0].load()


@given(st.binary(max_size=100), st.integers(0, 127), st.binary(max_size=2))
def test_random_headers_never_crash(junk: bytes, place: int, insertion: bytes) -> None:
    sound = npy()
    for content in (junk, sound[:8] + junk, sound[:10] + junk, sound[:place] + insertion + sound[place + 1 :]):
        with contextlib.suppress(WeightsError):
            read_entry(io.BytesIO(content), "x")


@pytest.mark.parametrize("to", ["bfloat16", "hifloat8", "float8_e4m3fn", "float4_e2m1fn", "int4"])
@pytest.mark.parametrize("extension", ["npy", "npz"])
def test_codes_come_back(extension: str, to: str, tmp_path: Path) -> None:
    values = np.asfortranarray(np.float32([[0.5, -3, 1], [2, 6, -0.0]]))
    source, small, back = (tmp_path / f"{name}.{extension}" for name in ("w", "small", "back"))
    if extension == "npy":
        np.save(source, values)
    else:
        np.savez(source, w=values)
    convert(source, small, to)
    codes = np.load(small) if extension == "npy" else np.load(small)["w"]  # NumPy sees codes
    assert codes.dtype == (np.uint16 if to == "bfloat16" else np.uint8)
    assert codes.shape == (2, 3)
    (tensor,) = convert(small, back, "float32").tensors
    assert tensor.source == to
    if to == "int4":  # integers are copied, and stay what they are
        assert tensor.destination == "int4"
        assert back.read_bytes() == small.read_bytes()
    else:
        loaded = np.load(back) if extension == "npy" else np.load(back)["w"]
        assert loaded.tolist() == values.tolist()


@pytest.mark.parametrize(
    ("record", "message"),
    [("float9 ", "lutcast.format: 'float9' is not a format"), ("float16", "uint8 cannot hold the codes of float16")],
)
def test_wrong_records(record: str, message: str, tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.float32([1, 2]))
    small = tmp_path / "small.npy"
    convert(tmp_path / "w.npy", small, "float8_e5m2")
    data = small.read_bytes()
    small.write_bytes(data.replace(b"float8_e5m2", record.encode().ljust(11)))
    with pytest.raises(WeightsError, match=message):
        convert(small, tmp_path / "x.npy", "float16")
