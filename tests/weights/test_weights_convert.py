"""`lutcast.weights.convert`: what is converted, what is copied, what is refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy

import lutcast
from lutcast.weights import Entry, WeightsError, convert, open_safetensors

WEIGHTS = Path(__file__).parents[1] / "data" / "weights.safetensors"
FLOATS = np.float32([0.1, -0.3, 500, 1e-6, np.inf, np.nan, -7, 0])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a file with one tensor of each kind that matters."""
    path = tmp_path / "source.safetensors"
    tensors = {
        "w.float32": FLOATS.reshape(2, 4),
        "w.bfloat16": FLOATS.astype(ml_dtypes.bfloat16),
        "w.empty": np.empty((3, 0), np.float32),
        "i.int64": np.arange(3),
        "b.bool": np.array([True, False]),
        "c.complex": np.complex64([1 + 2j]),
    }
    safetensors.numpy.save_file(tensors, path, metadata={"format": "pt"})
    return path


class Loaded(NamedTuple):
    """A tensor of a closed file."""

    entry: Entry
    stored: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any]


def read(path: Path) -> dict[str, Loaded]:
    with open_safetensors(path) as contents:
        return {t.entry.name: Loaded(t.entry, t.load(), t.values()) for t in contents.tensors}


def test_floats_are_converted_and_the_rest_copied(source: Path, tmp_path: Path) -> None:
    destination = tmp_path / "destination.safetensors"
    report = convert(source, destination, "float8_e4m3fn")
    before, after = read(source), read(destination)
    assert list(before) == list(after)
    expected = np.clip(FLOATS, -448, 448).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    for name in ("w.float32", "w.bfloat16"):
        assert after[name].entry.format.name == "float8_e4m3fn"
        assert after[name].entry.shape == before[name].entry.shape
        assert after[name].values.view(np.uint8).tolist() == expected.tolist()
    for name in ("i.int64", "b.bool", "c.complex"):
        assert after[name].entry == before[name].entry
        assert after[name].stored.tobytes() == before[name].stored.tobytes()
    with safetensors.safe_open(destination, "numpy") as theirs:
        assert theirs.metadata() == {"format": "pt"}
        assert theirs.get_tensor("i.int64").tolist() == [0, 1, 2]
    assert [tensor.name for tensor in report.tensors] == list(before)
    by_name = {tensor.name: tensor for tensor in report.tensors}
    assert by_name["i.int64"].audit is None
    audit = by_name["w.float32"].audit
    for name, value in dataclasses.asdict(lutcast.audit(FLOATS, "float8_e4m3fn")).items():
        assert getattr(audit, name) == value
    assert by_name["w.float32"].audit.saturated == 2
    assert by_name["w.float32"].audit.flushed_to_zero == 1
    assert report.bytes_before == sum(tensor.entry.nbytes for tensor in before.values())
    assert report.bytes_after == sum(tensor.entry.nbytes for tensor in after.values())


@pytest.mark.parametrize("to", [f.name for f in lutcast.formats() if "safetensors" in f.aliases])
def test_every_safetensors_format(to: str, tmp_path: Path) -> None:
    source, destination = tmp_path / "source.npz", tmp_path / "destination.safetensors"
    np.savez(source, w=FLOATS.reshape(2, 4))
    convert(source, destination, to)
    with safetensors.safe_open(destination, "numpy") as theirs:
        assert theirs.get_slice("w").get_shape() == [2, 4]
    tensor = read(destination)["w"]
    assert tensor.entry.format.name == to
    assert lutcast.cast(tensor.values, "float64").tolist() == pytest.approx(
        lutcast.cast(lutcast.cast(FLOATS, to), "float64").tolist(), nan_ok=True, abs=0
    )


@pytest.mark.parametrize("fmt", [f.name for f in lutcast.formats() if f.kind == "float" and "safetensors" in f.aliases])
def test_every_float_source(fmt: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first.safetensors", tmp_path / "second.safetensors"
    np.savez(tmp_path / "source.npz", w=np.float32([0.5, 1, 2, 4]))
    convert(tmp_path / "source.npz", first, fmt)
    convert(first, second, "float32")
    assert read(second)["w"].stored.tolist() == read(first)["w"].values.astype(np.float32).tolist()


def test_policy_is_passed_on(source: Path, tmp_path: Path) -> None:
    destination = tmp_path / "destination.safetensors"
    policy = {"rounding": "toward_positive", "overflow": "ieee", "nan": "zero"}
    convert(source, destination, "float8_e5m2", **policy)
    expected = lutcast.cast(FLOATS, "float8_e5m2", **policy)
    assert read(destination)["w.float32"].values.view(np.uint8).tolist() == expected.view(np.uint8).tolist()


@pytest.mark.parametrize(
    ("include", "exclude", "converted"),
    [
        ((), (), {"w.float32", "w.bfloat16", "w.empty"}),
        (("*.float32",), (), {"w.float32"}),
        (("*.float32", "w.b*"), (), {"w.float32", "w.bfloat16"}),
        ((), ("*.float32", "*.empty"), {"w.bfloat16"}),
        (("w.*",), ("*16",), {"w.float32", "w.empty"}),
        (("W.*",), (), set()),
        (("i.*",), (), set()),
    ],
)
def test_include_and_exclude(include: Any, exclude: Any, converted: set[str], source: Path, tmp_path: Path) -> None:
    destination = tmp_path / "destination.safetensors"
    report = convert(source, destination, "float16", include=include, exclude=exclude)
    assert {tensor.name for tensor in report.tensors if tensor.audit} == converted
    assert {name for name, tensor in read(destination).items() if tensor.entry.format.name == "float16"} == converted


def test_pieces_join_seamlessly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lutcast.weights.tensors.PIECE_BYTES", 100)  # 25 floats: 24 in a piece
    values = np.arange(1000, dtype=np.float32) / 100 - 3
    np.savez(tmp_path / "source.npz", w=values)
    for to in ("float4_e2m1fn", "float6_e2m3fn", "bfloat16"):
        destination = tmp_path / f"{to}.safetensors"
        convert(tmp_path / "source.npz", destination, to)
        assert read(destination)["w"].values.tobytes() == lutcast.cast(values, to).tobytes()


def test_threads_change_nothing(tmp_path: Path) -> None:
    one, two = tmp_path / "one.safetensors", tmp_path / "two.safetensors"
    convert(WEIGHTS, one, "float8_e4m3fn")
    convert(WEIGHTS, two, "float8_e4m3fn", threads=2)
    assert one.read_bytes() == two.read_bytes()


def test_dry_run_reports_the_same_and_writes_nothing(source: Path, tmp_path: Path) -> None:
    destination = tmp_path / "destination.safetensors"
    dry = convert(source, destination, "float4_e2m1fn", dry_run=True)
    assert not destination.exists()
    wet = convert(source, destination, "float4_e2m1fn")
    assert dry.dry_run
    assert not wet.dry_run
    assert str(dry.tensors) == str(wet.tensors)  # as text, since NaN is not itself


@pytest.mark.parametrize("dry_run", [False, True])
def test_progress_reaches_the_end(dry_run: bool, tmp_path: Path) -> None:
    calls: list[tuple[str, int, int]] = []
    report = convert(
        WEIGHTS, tmp_path / "x.safetensors", "float4_e2m1fn", dry_run=dry_run, progress=lambda *call: calls.append(call)
    )
    done = [call[1] for call in calls]
    assert done[0] == 0
    assert done == sorted(done)
    assert {call[2] for call in calls} == {report.bytes_before}
    assert done[-1] == report.bytes_before
    assert list(dict.fromkeys(call[0] for call in calls)) == [tensor.name for tensor in report.tensors]


def test_report_is_json(source: Path, tmp_path: Path) -> None:
    report = convert(source, tmp_path / "destination.safetensors", "float64")
    document = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert document["format"] == "float64"
    assert document["tensors"][0].keys() >= {"name", "shape", "source", "destination", "stored_as", "audit"}
    exact = next(tensor for tensor in document["tensors"] if tensor["name"] == "w.float32")
    assert float(exact["audit"]["snr_db"]) == np.inf


def test_numpy_containers_hold_codes(source: Path, tmp_path: Path) -> None:
    destination = tmp_path / "destination.npz"
    for to, dtype in (("hifloat8", np.uint8), ("float4_e1m2fn", np.uint8), ("bfloat16", np.uint16)):
        report = convert(source, destination, to)
        assert report.tensors[-1].stored_as in (f"{np.dtype(dtype)} codes", "complex64", "bool", "int64")
        assert report.notes == (".npz holds no metadata",)
        with np.load(destination) as arrays:
            assert arrays["w.float32"].dtype == dtype
            assert arrays["w.float32"].shape == (2, 4)
            codes = lutcast.cast(FLOATS, to).view(dtype)
            assert arrays["w.float32"].reshape(-1).tolist() == codes.tolist()
            assert arrays["i.int64"].tolist() == [0, 1, 2]
            assert arrays["c.complex"].tolist() == [1 + 2j]


def test_copies_between_containers(tmp_path: Path) -> None:
    first, second = tmp_path / "first.safetensors", tmp_path / "second.npz"
    arrays = {
        "f": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "b": np.array([1, 0], "?"),
        "big": np.arange(3, dtype=">i4"),
    }
    np.savez(tmp_path / "source.npz", **arrays)
    convert(tmp_path / "source.npz", first, "float16", exclude=["*"])
    convert(first, second, "float16", exclude=["*"])
    with np.load(second) as after:
        assert list(after) == list(arrays)
        for name, array in arrays.items():
            assert after[name].dtype == array.dtype.newbyteorder("=")
            np.testing.assert_array_equal(after[name], array)


@pytest.mark.parametrize("extension", [".npy", ".npz", ".safetensors"])
def test_npy_to_everything(extension: str, tmp_path: Path) -> None:
    source, destination = tmp_path / "source.npy", tmp_path / f"destination{extension}"
    array = np.asfortranarray(np.arange(12, dtype=">f4").reshape(3, 4))
    np.save(source, array)
    convert(source, destination, "float16")
    if extension == ".safetensors":
        loaded = read(destination)["source"].stored
    else:
        loaded = np.load(destination)
        loaded = loaded["source"] if extension == ".npz" else loaded
        assert loaded.flags.f_contiguous
    assert loaded.dtype == np.float16
    np.testing.assert_array_equal(loaded, array)


def test_converting_back_and_forth_is_stable(tmp_path: Path) -> None:
    once, twice = tmp_path / "once.safetensors", tmp_path / "twice.safetensors"
    convert(WEIGHTS, once, "float4_e2m1fn")
    convert(once, twice, "F4")
    assert once.read_bytes() == twice.read_bytes()


REFUSALS = {
    "no name for the format": ("hifloat8", "x.safetensors", r"no name for hifloat8; it has bool, .*complex64"),
    "odd float4": ("float4_e2m1fn", "x.safetensors", "tensor 'w': 7 elements of 4 bits do not fill whole bytes"),
    "ragged float6": ("float6_e3m2fn", "x.safetensors", "tensor 'w': 7 elements of 6 bits do not fill whole bytes"),
    "text into safetensors": (
        "float16",
        "x.safetensors",
        "tensor 't': safetensors has no name for elements that are not",
    ),
    "two into .npy": ("float16", "x.npy", r"x\.npy: \.npy holds one tensor, .* has 2"),
    "unknown extension": ("float16", "x.gguf", r"x\.gguf: the extension must be one of \.safetensors, \.npy, \.npz"),
    "no directory": ("float16", "none/x.npz", "the directory .*none does not exist"),
    "a directory": ("float16", "folder.npz", "exists and is not a regular file"),
    "overflow rule": ("int8", "x.npz", "ieee"),
}


@pytest.mark.parametrize(("to", "name", "message"), REFUSALS.values(), ids=REFUSALS)
@pytest.mark.parametrize("dry_run", [False, True])
def test_refusals_leave_nothing(to: str, name: str, message: str, dry_run: bool, tmp_path: Path) -> None:
    (tmp_path / "folder.npz").mkdir()
    np.savez(tmp_path / "source.npz", w=np.zeros(7), t=np.array(["text"]))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ValueError, match=message):
        convert(tmp_path / "source.npz", tmp_path / name, to, overflow="ieee", dry_run=dry_run)
    assert sorted(tmp_path.iterdir()) == before


def test_unsupported_cast(tmp_path: Path) -> None:
    np.savez(tmp_path / "source.npz", w=np.zeros(7))
    with pytest.raises(lutcast.UnsupportedCast, match="hybrid"):
        convert(tmp_path / "source.npz", tmp_path / "x.npz", "float16", rounding="hybrid")


def test_zero_byte_in_a_zip_name(tmp_path: Path) -> None:
    safetensors.numpy.save_file({"a\0b": np.zeros(2)}, tmp_path / "source.safetensors")
    with pytest.raises(WeightsError, match=r"tensor 'a\\x00b': a \.npz name cannot hold a zero byte"):
        convert(tmp_path / "source.safetensors", tmp_path / "x.npz", "float16")


@pytest.mark.parametrize("link", [None, "symlink_to", "hardlink_to"])
def test_the_source_is_never_overwritten(link: str | None, source: Path, tmp_path: Path) -> None:
    content, destination = source.read_bytes(), source
    if link:
        destination = tmp_path / "link.safetensors"
        getattr(destination, link)(source)
    with pytest.raises(WeightsError, match="the destination is the source"):
        convert(source, destination, "float16")
    assert source.read_bytes() == content
