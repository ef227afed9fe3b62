"""Data in files beside a model: read in pieces, written beside the output, and never trusted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from lutcast.weights import WeightsError, convert

BIG = np.random.default_rng(1).normal(0, 1, (30, 50)).astype(np.float32)
ARRAYS = {"small": BIG[0, :2], "w": BIG, "i": np.arange(700), "empty": BIG[:0], "v": BIG[:7].astype(np.float64)}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a model that onnx saved, "small" inside, the others in one file beside it."""
    tensors = [numpy_helper.from_array(array, name) for name, array in ARRAYS.items()]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [30, 50])
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(BIG * 2, "c")),
        helper.make_node("Add", ["w", "c"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", [], [y], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    folder = tmp_path / "source"
    folder.mkdir()
    onnx.save(
        model,
        folder / "m.onnx",
        save_as_external_data=True,
        location="weights.bin",
        size_threshold=100,
        convert_attribute=True,
    )
    return folder / "m.onnx"


def fields(proto: TensorProto) -> dict[str, str]:
    return {pair.key: pair.value for pair in proto.external_data}


def tensors_of(model: onnx.ModelProto) -> dict[str, TensorProto]:
    tensors = {proto.name: proto for proto in model.graph.initializer}
    return tensors | {n.output[0]: n.attribute[0].t for n in model.graph.node if n.op_type == "Constant"}


def test_data_moves_beside_the_output(source: Path, tmp_path: Path) -> None:
    content = {path: path.read_bytes() for path in source.parent.iterdir()}
    assert [path.name for path in sorted(content)] == ["m.onnx", "weights.bin"]
    report = convert(source, tmp_path / "out.onnx", "bfloat16")
    assert {path: path.read_bytes() for path in source.parent.iterdir()} == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.onnx", "out.onnx.data", "source"]
    onnx.checker.check_model(tmp_path / "out.onnx", full_check=True)
    bare = tensors_of(onnx.load(tmp_path / "out.onnx", load_external_data=False))
    for name in ("w", "i", "v", "c"):
        info = fields(bare[name])
        assert info["location"] == "out.onnx.data"
        assert int(info["offset"]) % 4096 == 0
    assert not fields(bare["small"])
    loaded = tensors_of(onnx.load(tmp_path / "out.onnx"))
    for name, array in (ARRAYS | {"c": BIG * 2}).items():
        expected = array if name == "i" else array.astype(ml_dtypes.bfloat16)
        after = numpy_helper.to_array(loaded[name])
        assert (after.dtype, after.shape) == (expected.dtype, expected.shape)
        assert after.tobytes() == expected.tobytes()
    assert [t.name for t in report.tensors] == [*ARRAYS, "c"]
    size = (tmp_path / "out.onnx.data").stat().st_size
    assert size == max(int(fields(bare[n])["offset"]) + int(fields(bare[n])["length"]) for n in ("w", "i", "v", "c"))


def test_pieces_join_seamlessly(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    convert(source, tmp_path / "whole.onnx", "int4")
    monkeypatch.setattr("lutcast.weights.tensors.PIECE_BYTES", 100)
    convert(source, tmp_path / "pieces.onnx", "int4")
    assert (tmp_path / "whole.onnx.data").read_bytes() == (tmp_path / "pieces.onnx.data").read_bytes()


def test_a_model_that_grows_too_large_gets_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tensors = [numpy_helper.from_array(BIG, "w"), numpy_helper.from_array(BIG[0], "small")]
    graph = helper.make_graph([], "g", [], [], tensors)
    (tmp_path / "m.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    monkeypatch.setattr("lutcast.weights.onnx_rewrite._MAX_MODEL_BYTES", BIG.nbytes * 3 // 2)
    convert(tmp_path / "m.onnx", tmp_path / "same.onnx", "float32")
    assert not (tmp_path / "same.onnx.data").exists()
    convert(tmp_path / "m.onnx", tmp_path / "wide.onnx", "float64")
    assert (tmp_path / "wide.onnx.data").stat().st_size == BIG.nbytes * 2
    for proto, array in zip(onnx.load(tmp_path / "wide.onnx").graph.initializer, (BIG, BIG[0]), strict=True):
        assert numpy_helper.to_array(proto).tolist() == array.astype(np.float64).tolist()


def test_into_other_containers(source: Path, tmp_path: Path) -> None:
    convert(source, tmp_path / "out.npz", "float16")
    with np.load(tmp_path / "out.npz") as arrays:
        assert list(arrays) == [*ARRAYS, "c"]
        assert arrays["w"].tobytes() == BIG.astype(np.float16).tobytes()


def test_a_failed_write_leaves_what_was_there(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    convert(source, tmp_path / "out.onnx", "float16")
    before = {path: path.read_bytes() for path in tmp_path.glob("*.*")}

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lutcast.weights.onnx_rewrite.insert_casts", fail)
    with pytest.raises(OSError, match="No space left"):
        convert(source, tmp_path / "out.onnx", "bfloat16")
    assert {path: path.read_bytes() for path in tmp_path.glob("*.*")} == before


def test_data_of_the_source_is_never_overwritten(source: Path) -> None:
    source.rename(source.with_name("old.onnx"))
    source = source.with_name("old.onnx")
    data = source.with_name("weights.bin")
    data.rename(source.with_name("new.onnx.data"))
    model = onnx.load(source, load_external_data=False)
    for proto in tensors_of(model).values():
        for pair in proto.external_data:
            if pair.key == "location":
                pair.value = "new.onnx.data"
    source.write_bytes(model.SerializeToString())
    content = {path: path.read_bytes() for path in source.parent.iterdir()}
    with pytest.raises(WeightsError, match=r"new\.onnx\.data, which would be replaced, holds data of the source"):
        convert(source, source.with_name("new.onnx"), "float16")
    with pytest.raises(WeightsError, match="the destination is the source"):
        convert(source, source, "float16")
    assert {path: path.read_bytes() for path in source.parent.iterdir()} == content


def test_a_folder_in_the_way_of_the_data(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out.onnx.data").mkdir()
    with pytest.raises(WeightsError, match=r"out\.onnx\.data: exists and is not a regular file"):
        convert(source, tmp_path / "out.onnx", "float16")
    assert not (tmp_path / "out.onnx").exists()


HOSTILE = {
    "parent": ({"location": "../secret.bin"}, "location '../secret.bin' leaves the folder of the model"),
    "hidden parent": ({"location": "sub/../../secret.bin"}, "leaves the folder of the model"),
    "absolute": ({"location": "/etc/hostname"}, "location '/etc/hostname' leaves the folder of the model"),
    "symbolic link": ({"location": "link.bin"}, "location 'link.bin' leaves the folder of the model"),
    "none": ({"location": ""}, "location '' is not a file name"),
    "zero byte": ({"location": "a\0b"}, "is not a file name"),
    "folder": ({"location": "."}, r"location '\.': there is no such file beside the model"),
    "missing": ({"location": "none.bin"}, "there is no such file beside the model"),
    "negative offset": ({"offset": "-1"}, "offset '-1' is not a number of bytes"),
    "negative length": ({"length": "-8"}, "length '-8' is not a number of bytes"),
    "text": ({"offset": "0x10"}, "offset '0x10' is not a number of bytes"),
    "other digits": ({"offset": "²"}, "offset '²' is not a number of bytes"),
    "huge offset": ({"offset": "9" * 5000}, "is not a number of bytes"),
    "short": ({"length": "7"}, "length 7, its type and shape need 6000 bytes"),
    "long": ({"length": "6001"}, "length 6001, its type and shape need 6000 bytes"),
    "beyond the end": ({"offset": "999999"}, "ends at byte 1005999 of 'weights.bin', which has"),
}


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(("change", "message"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_references(change: dict[str, str], message: str, dry_run: bool, source: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(10_000))
    (source.parent / "link.bin").symlink_to(tmp_path / "secret.bin")
    (source.parent / "sub").mkdir()
    model = onnx.load(source, load_external_data=False)
    proto = tensors_of(model)["w"]
    keys = fields(proto) | change
    del proto.external_data[:]
    for key, value in keys.items():
        proto.external_data.add(key=key, value=value)
    source.write_bytes(model.SerializeToString())
    with pytest.raises(WeightsError, match=rf"m\.onnx: tensor 'w': external data: .*{message}"):
        convert(source, tmp_path / "out.onnx", "float16", dry_run=dry_run)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.bin", "source"]


def test_length_may_be_left_out(source: Path, tmp_path: Path) -> None:
    model = onnx.load(source, load_external_data=False)
    proto = tensors_of(model)["w"]
    (place,) = (n for n, pair in enumerate(proto.external_data) if pair.key == "length")
    del proto.external_data[place]
    source.write_bytes(model.SerializeToString())
    convert(source, tmp_path / "out.onnx", "float16")
    assert numpy_helper.to_array(tensors_of(onnx.load(tmp_path / "out.onnx"))["w"]).tolist() == (
        BIG.astype(np.float16).tolist()
    )


@pytest.mark.parametrize("place", ["attribute", "sparse", "text"])
def test_external_data_elsewhere_is_refused(place: str, source: Path, tmp_path: Path) -> None:
    model = onnx.load(source, load_external_data=False)
    reference = TensorProto(name="far", data_location=TensorProto.EXTERNAL, data_type=1, dims=[1])
    match place:
        case "attribute":
            model.graph.node.append(helper.make_node("ConstantOfShape", ["i"], ["s"], value=reference))
        case "sparse":
            model.graph.sparse_initializer.add(values=reference)
        case "text":
            reference.data_type = TensorProto.STRING
            model.graph.initializer.append(reference)
    source.write_bytes(model.SerializeToString())
    with pytest.raises(WeightsError, match="'far': external data is for initialisers and Constant nodes only"):
        convert(source, tmp_path / "out.onnx", "float16")


def test_every_truncation_is_noticed(source: Path, tmp_path: Path) -> None:
    whole = source.read_bytes()
    for size in range(len(whole)):
        source.write_bytes(whole[:size])
        with pytest.raises(WeightsError):  # also a cut between two fields, which takes the imports away
            convert(source, tmp_path / "out.onnx", "float16")
        assert not (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize("content", [b"", b"not a model at all", b"\x08\x0a", b"\xff" * 100])
def test_no_model(content: bytes, tmp_path: Path) -> None:
    source = tmp_path / "m.onnx"
    source.write_bytes(content)
    with pytest.raises(WeightsError, match=r"m\.onnx: not an ONNX model"):
        convert(source, tmp_path / "out.onnx", "float16")


@pytest.mark.parametrize("text", [b"empty", b"location", b"Constant"])
def test_text_that_is_not_utf8(text: bytes, source: Path, tmp_path: Path) -> None:
    content = source.read_bytes()
    assert text in content
    source.write_bytes(content.replace(text, text[:-1] + b"\xff"))
    with pytest.raises(WeightsError, match=r"m\.onnx: not an ONNX model, or damaged: a text in it is not UTF-8"):
        convert(source, tmp_path / "out.onnx", "float16")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        convert(tmp_path / "none.onnx", tmp_path / "out.onnx", "float16")


def test_without_the_package(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(
        WeightsError, match=r"m\.onnx: ONNX models need the package onnx: pip install 'lutcast\[onnx\]'"
    ):
        convert(source, tmp_path / "out.onnx", "float16")


def test_big_endian_machines_are_refused(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.byteorder", "big")
    with pytest.raises(WeightsError, match="little-endian machines only"):
        convert(source, tmp_path / "out.onnx", "float16")


def test_a_model_is_made_from_a_model(tmp_path: Path) -> None:
    np.savez(tmp_path / "w.npz", w=BIG)
    with pytest.raises(WeightsError, match=r"out\.onnx: an ONNX model is made from an ONNX model only"):
        convert(tmp_path / "w.npz", tmp_path / "out.onnx", "float16")
    assert not (tmp_path / "out.onnx").exists()
