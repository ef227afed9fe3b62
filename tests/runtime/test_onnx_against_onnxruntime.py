"""onnxruntime as a witness, and models that it cannot run."""

import ml_dtypes
import numpy as np
import onnx
import onnx.helper
import pytest

import lutcast.onnx
from lutcast.names import array_dtype
from lutcast.onnx.types import ELEMENT_TYPES, TENSOR_TYPES

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

FLOAT8 = ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"]
WIDE = ["FLOAT16", "BFLOAT16", "FLOAT", "DOUBLE"]
INTEGERS = ["INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64"]


def model(*nodes, source, result, opset=23):
    """Return a model of one input x and one output y."""
    x = onnx.helper.make_tensor_value_info("x", source, ["N"])
    y = onnx.helper.make_tensor_value_info("y", result, ["N"])
    graph = onnx.helper.make_graph(nodes, "g", [x], [y])
    opsets = [onnx.helper.make_opsetid("", opset)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=11)


def number_of(name):
    return TENSOR_TYPES.index(name) + 1


def run_there(x, source, result):
    """Cast by onnxruntime; types that NumPy does not have go in and out by a bit-preserving OrtValue."""
    cast = onnx.helper.make_node("Cast", ["x"], ["y"], to=number_of(result))
    proto = model(cast, source=number_of(source), result=number_of(result))
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    value = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(
        x if x.dtype.isbuiltin == 1 else x.view(f"u{x.dtype.itemsize}"), number_of(source)
    )
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", value)
    out = np.empty(x.shape, array_dtype(ELEMENT_TYPES[result]))
    carrier = out if out.dtype.isbuiltin == 1 else out.view(f"u{out.dtype.itemsize}")
    binding.bind_output("y", "cpu", 0, number_of(result), out.shape, carrier.ctypes.data)
    session.run_with_iobinding(binding)
    return out


def every_code(source):
    """Return all values of a 16-bit or narrower source; of a wider one, values over its whole range."""
    dtype = array_dtype(ELEMENT_TYPES[source])
    if dtype.itemsize <= 2:
        return np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}").view(dtype)
    singles = (np.arange(1 << 16, dtype=np.uint32) << 16 | 0x1234).view(np.float32)
    with np.errstate(invalid="ignore"):
        return singles.astype(dtype)


def assert_equal(got, there):
    assert got.dtype == there.dtype
    if got.dtype.kind not in "iub":
        with np.errstate(invalid="ignore"):
            nan = np.isnan(got.astype(np.float64))
            assert np.array_equal(nan, np.isnan(there.astype(np.float64)))
        got, there = got[~nan], there[~nan]
    assert got.tobytes() == there.tobytes()


@pytest.mark.parametrize("result", [*FLOAT8, "FLOAT16", "BFLOAT16", "DOUBLE", "BOOL"])
@pytest.mark.parametrize("source", ["FLOAT16", "BFLOAT16", "FLOAT"])
def test_casts_equal_onnxruntimes(source, result):
    x = every_code(source)
    assert_equal(lutcast.onnx.cast(x, result), run_there(x, source, result))


@pytest.mark.parametrize("result", ["FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"])
@pytest.mark.parametrize("source", FLOAT8)
def test_casts_from_float8_equal_onnxruntimes(source, result):
    x = every_code(source)
    assert_equal(lutcast.onnx.cast(x, result), run_there(x, source, result))


@pytest.mark.parametrize("result", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integer_casts_equal_onnxruntimes(source, result, rng):
    x = rng.integers(0, 256, 8000, np.uint8).view(array_dtype(ELEMENT_TYPES[source]))
    assert_equal(lutcast.onnx.cast(x, result), run_there(x, source, result))


@pytest.mark.parametrize(
    ("to", "opset", "codes"),
    [
        ("FLOAT4E2M1", 25, [1, 3, 7, 15, 0]),
        ("FLOAT6E2M3", 28, [2, 11, 31, 63, 0]),
        ("FLOAT6E3M2", 28, [5, 14, 31, 63, 0]),
    ],
)
def test_models_that_onnxruntime_cannot_run(to, opset, codes):
    narrow = onnx.helper.make_node("Cast", ["x"], ["small"], to=number_of(to))
    wide = onnx.helper.make_node("Cast", ["small"], ["y"], to=number_of("FLOAT"))
    proto = model(narrow, wide, source=1, result=1, opset=opset)
    with pytest.raises(Exception, match="NOT_IMPLEMENTED"):
        onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.array([0.3, 1.4, 99.0, -np.inf, np.nan], np.float32)
    (y,) = lutcast.onnx.backend.prepare(proto).run([x])
    small = np.array(codes, np.uint8).view(getattr(ml_dtypes, ELEMENT_TYPES[to].name))
    assert y.tobytes() == small.astype(np.float32).tobytes()
