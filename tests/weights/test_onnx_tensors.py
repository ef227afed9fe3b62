"""Tensors in ONNX models: every type, in raw data and in typed fields, and sizes that are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import lutcast
from lutcast.names import array_dtype
from lutcast.onnx.types import ELEMENT_TYPES, TENSOR_TYPES
from lutcast.weights import WeightsError, convert
from lutcast.weights.onnx_model import open_onnx

NUMERIC = [name for name in TENSOR_TYPES if name != "STRING"]


def save(path: Path, *tensors: TensorProto, **options: Any) -> Path:
    """Save a model that has tensors and does nothing."""
    graph = helper.make_graph([], "g", [], [], initializer=tensors)
    options = {"opset_imports": [helper.make_opsetid("", 28)], "ir_version": 14} | options
    path.write_bytes(helper.make_model(graph, **options).SerializeToString())
    return path


def sample(name: str) -> np.ndarray[Any, Any]:
    """Return 3 x 5 values of a type: an odd number of elements, the bits random."""
    dtype, fmt = array_dtype(ELEMENT_TYPES[name]), ELEMENT_TYPES[name]
    bits = np.random.default_rng(7).integers(0, 256, (3, 5 * dtype.itemsize), np.uint8)
    if fmt.bits < 8:
        bits &= (1 << fmt.bits) - 1
        if fmt.kind == "int" and name.startswith("INT"):  # ml_dtypes has the sign in all bits of the byte
            bits = np.where(bits >> fmt.bits - 1, bits | (0xFF << fmt.bits & 0xFF), bits).astype(np.uint8)
    return bits.view(dtype)


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("name", NUMERIC)
def test_every_type_is_read(name: str, raw: bool, tmp_path: Path) -> None:
    values = sample(name)
    proto = numpy_helper.from_array(values, "w")
    if not raw:
        proto = helper.make_tensor("w", TensorProto.DataType.Value(name), values.shape, values, raw=False)
        assert not proto.HasField("raw_data")
    with open_onnx(save(tmp_path / "m.onnx", proto)) as contents:
        (tensor,) = contents.tensors
        assert tensor.entry.format == ELEMENT_TYPES[name]
        assert tensor.entry.shape == (3, 5)
        read = tensor.values()
    theirs = numpy_helper.to_array(proto).reshape(-1)
    mask = (1 << min(tensor.entry.format.bits, 8)) - 1
    if tensor.entry.format.bits < 8:
        assert (read.view(np.uint8) & mask).tolist() == (theirs.view(np.uint8) & mask).tolist()
    else:
        assert read.tobytes() == theirs.tobytes()
    assert tensor.entry.nbytes == len(numpy_helper.from_array(values).raw_data)


@pytest.mark.parametrize("to", [name for name in NUMERIC if not name.startswith("COMPLEX")])
@pytest.mark.parametrize("source", ["FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "FLOAT8E5M2"])
def test_every_type_is_written(source: str, to: str, tmp_path: Path) -> None:
    """onnx reads what we wrote, values that every type holds."""
    values = np.float32([0, 1, 1, 0, 1, 1, 1]).astype(array_dtype(ELEMENT_TYPES[source]))
    path = save(tmp_path / "m.onnx", numpy_helper.from_array(values, "w"))
    convert(path, tmp_path / "out.onnx", to)
    (proto,) = onnx.load(tmp_path / "out.onnx").graph.initializer
    assert proto.data_type == TensorProto.DataType.Value(to)
    after = numpy_helper.to_array(proto)
    expected = lutcast.cast(values, to)
    assert after.dtype == expected.dtype
    assert after.astype(np.float32).tolist() == expected.astype(np.float32).tolist()
    if to != "FLOAT8E8M0":  # which has no zero
        assert after.astype(np.float32).tolist() == [0, 1, 1, 0, 1, 1, 1]


def test_complex_cannot_be_read_back_by_cast(tmp_path: Path) -> None:
    path = save(tmp_path / "m.onnx", numpy_helper.from_array(np.float32([1]), "w"))
    with pytest.raises(WeightsError, match="tensor 'w': no version of Cast takes complex64"):
        convert(path, tmp_path / "out.onnx", "complex64")


@pytest.mark.parametrize("to", ["hifloat8", "float8_e3m4", "complex32"])
def test_formats_without_tensor_type(to: str, tmp_path: Path) -> None:
    path = save(tmp_path / "m.onnx", numpy_helper.from_array(np.float32([1]), "w"))
    with pytest.raises(WeightsError, match=f"tensor 'w': ONNX has no tensor type for {to}; it has float32, uint8"):
        convert(path, tmp_path / "out.onnx", to)
    assert sorted(tmp_path.iterdir()) == [path]


def test_other_tensors_keep_their_bytes(tmp_path: Path) -> None:
    kept = [
        helper.make_tensor("typed", TensorProto.INT32, [2], [-1, 70000]),
        helper.make_tensor("text", TensorProto.STRING, [2], [b"a", b"bc"]),
        numpy_helper.from_array(np.array([True, False]), "truth"),
        numpy_helper.from_array(np.complex64([1j]), "complex"),
    ]
    floats = helper.make_tensor("w", TensorProto.FLOAT, [2], [0.1, 3], raw=False)
    floats.doc_string = "weights"
    floats.metadata_props.add(key="k", value="v")
    path = save(tmp_path / "m.onnx", *kept, floats)
    report = convert(path, tmp_path / "out.onnx", "bfloat16")
    after = onnx.load(tmp_path / "out.onnx").graph.initializer
    assert list(after)[:4] == kept
    assert (after[4].doc_string, after[4].metadata_props[0].value) == ("weights", "v")
    assert not after[4].float_data
    assert [(t.name, t.audit is None) for t in report.tensors] == [
        ("typed", True),
        ("truth", True),
        ("complex", True),
        ("w", False),
    ]


def test_empty_and_scalar(tmp_path: Path) -> None:
    tensors = {"none": np.zeros((0, 3), np.float32), "one": np.array(0.1, np.float32)}
    path = save(tmp_path / "m.onnx", *(numpy_helper.from_array(a, n) for n, a in tensors.items()))
    convert(path, tmp_path / "out.onnx", "float16")
    none, one = (numpy_helper.to_array(proto) for proto in onnx.load(tmp_path / "out.onnx").graph.initializer)
    assert (none.shape, none.dtype) == ((0, 3), np.float16)
    assert (one.shape, one.item()) == ((), float(np.float16(0.1)))


def tensor(data_type: int = TensorProto.FLOAT, dims: Any = (2,), name: str = "w", **fields: Any) -> TensorProto:
    return TensorProto(name=name, data_type=data_type, dims=dims, **fields)


BROKEN = {
    "raw too short": (tensor(raw_data=b"1234567"), "7 bytes of raw_data, its type and shape need 8"),
    "raw too long": (tensor(raw_data=b"123456789"), "9 bytes of raw_data, its type and shape need 8"),
    "no data": (tensor(), "0 numbers in float_data, its type and shape need 2"),
    "too many": (tensor(float_data=[1, 2, 3]), "3 numbers in float_data, its type and shape need 2"),
    "half": (tensor(TensorProto.FLOAT16, int32_data=[1]), "1 numbers in int32_data, its type and shape need 2"),
    "parts": (tensor(TensorProto.COMPLEX64, float_data=[1, 2]), "2 numbers in float_data, its type and shape need 4"),
    "negative": (tensor(dims=[-2], raw_data=b"12345678"), r"impossible shape \[-2\]"),
    "vast": (tensor(dims=[2**62, 2, 0]), "impossible shape"),
    "type 0": (tensor(0), "unknown tensor type 0"),
    "type 99": (tensor(99), "unknown tensor type 99"),
    "segment": (tensor(segment=TensorProto.Segment(begin=0, end=1)), "segments are not supported"),
    "no name": (tensor(name="", raw_data=b"12345678"), "an initialiser has no name"),
}


@pytest.mark.parametrize(("proto", "message"), BROKEN.values(), ids=BROKEN)
def test_wrong_sizes(proto: TensorProto, message: str, tmp_path: Path) -> None:
    path = save(tmp_path / "m.onnx", proto)
    with pytest.raises(WeightsError, match=rf"m\.onnx: .*{message}"):
        convert(path, tmp_path / "out.onnx", "float16")
    assert list(tmp_path.iterdir()) == [path]
