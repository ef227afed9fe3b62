"""Our operators inside models that onnx evaluates."""

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import pytest
from onnx.reference import ReferenceEvaluator

from lutcast.onnx import backend, ops

MODEL = """<ir_version: 11, opset_import: ["" : 24]>
pipeline (float[N] x, float16[1] like, int64[1] repeats) => (float16[M] y, string[K] text, float8e8m0[N] scale) {
    doubled = Add(x, x)
    small = Cast <to = 23> (doubled)
    half = CastLike (small, like)
    y = Tile (half, repeats)
    text = Cast <to = 8> (y)
    scale = Cast <to = 24, round_mode = "nearest"> (doubled)
}"""
FEEDS = {
    "x": np.array([0.6, 1.4, np.nan, -np.inf], np.float32),
    "like": np.zeros(1, np.float16),
    "repeats": np.array([2]),
}


@pytest.fixture
def model():
    model = onnx.parser.parse_model(MODEL)
    onnx.checker.check_model(model, full_check=True)
    return model


def test_model_with_other_nodes(model, monkeypatch):
    calls = []
    for op in ops.ALL:
        run = op._run
        monkeypatch.setattr(op, "_run", lambda self, *a, run=run, **k: calls.append(self.op_type) or run(self, *a, **k))
    y, text, scale = ReferenceEvaluator(model, new_ops=ops.ALL).run(None, FEEDS)
    assert calls == ["Cast", "CastLike", "Tile", "Cast", "Cast"]
    assert y.tobytes() == np.array([1, 3, 0, -6] * 2, np.float16).tobytes()
    assert text.tolist() == ["1", "3", "0", "-6"] * 2
    assert scale.view(np.uint8).tolist() == [127, 128, 255, 255]
    assert scale.dtype == ml_dtypes.float8_e8m0fnu


def test_backend_takes_inputs_in_order_and_by_name(model):
    prepared = backend.prepare(model)
    by_name, in_order = prepared.run(FEEDS), prepared.run(list(FEEDS.values()))
    for a, b in zip(by_name, in_order, strict=True):
        assert a.dtype == b.dtype
        assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
    assert backend.run_model(model, list(FEEDS.values()))[1].tolist() == by_name[1].tolist()
    assert backend.is_compatible(model)


def test_backend_refuses_an_invalid_model(model):
    del model.graph.node[0]
    with pytest.raises(onnx.checker.ValidationError):
        backend.prepare(model)


def test_backend_runs_on_the_cpu_only(model):
    assert backend.supports_device("CPU")
    assert not backend.supports_device("CUDA")
    with pytest.raises(ValueError, match=r"^device: 'CUDA:0' given, 'CPU' is supported$"):
        backend.prepare(model, "CUDA:0")


def test_one_node():
    node = onnx.helper.make_node("Tile", ["x", "n"], ["y"])
    assert backend.run_node(node, [np.array([1, 2]), np.array([2])])[0].tolist() == [1, 2, 1, 2]
    node = onnx.helper.make_node("Cast", ["x"], ["y"], to=onnx.TensorProto.FLOAT16)
    assert backend.run_node(node, [np.array([1.5])], opset_version=13)[0].dtype == np.float16


def test_subgraphs_and_functions_use_our_operators():
    text = """<ir_version: 11, opset_import: ["" : 24, "local" : 1]>
    outer (float[N] x, bool c) => (float[N] y) {
        y = If (c) <
            then_branch = narrow () => (float[N] a) { a = local.Narrow (x) },
            else_branch = same () => (float[N] b) { b = Identity (x) }
        >
    }
    <domain: "local", opset_import: ["" : 24]>
    Narrow (x) => (y) { small = Cast <to = 23> (x)  y = CastLike (small, x) }"""
    model = onnx.parser.parse_model(text)
    x = np.array([np.nan, 100.0, -0.0], np.float32)
    result = backend.prepare(model).run({"x": x, "c": np.array(True)})[0]
    assert result.tobytes() == np.array([0.0, 6.0, -0.0], np.float32).tobytes()
