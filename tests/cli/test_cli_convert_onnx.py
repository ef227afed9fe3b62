"""`lutcast convert` of ONNX models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a model of opset 13: y = x + w."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "xy")
    w = numpy_helper.from_array(np.float32([0.1, 2, 3e5]), "w")
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], [w])
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def test_report(run: Any, model: Path, tmp_path: Path) -> None:
    outcome = run("convert", model, tmp_path / "out.onnx", "--to", "float16", "--overflow", "saturate")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[1].split()[:5] == ["w", "float32", "float16", "3", "2"]
    assert "1 of 1 tensors converted to float16" in outcome.out
    after = onnx.load(tmp_path / "out.onnx")
    assert numpy_helper.to_array(after.graph.initializer[0]).tolist() == [float(np.float16(0.1)), 2, 65504]
    assert [node.op_type for node in after.graph.node] == ["Cast", "Add"]


def test_errors_are_one_line(run: Any, model: Path, tmp_path: Path) -> None:
    outcome = run("convert", model, tmp_path / "out.onnx", "--to", "float8_e5m2")
    assert outcome.code == 1
    assert outcome.err.endswith("out.onnx: tensor 'w': Cast takes float8_e5m2 from opset 19 on, not in opset 13\n")
    assert outcome.err.startswith("Error: ")
    assert outcome.err.count("\n") == 1
