"""What tests of ONNX models share: running them, and rounding their weights without lutcast."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

FLOATS = (
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.DOUBLE,
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.BFLOAT16,
)


def bodies(root: Any) -> Iterator[Any]:
    """Yield a graph or function and all graphs inside of it."""
    yield root
    for node in root.node:
        for attribute in node.attribute:
            for graph in [attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs:
                yield from bodies(graph)


def all_bodies(model: onnx.ModelProto) -> list[Any]:
    return [body for root in (model.graph, *model.functions) for body in bodies(root)]


def constants(body: Any) -> dict[str, onnx.TensorProto]:
    """Return the tensors of Constant nodes by the names of their values."""
    return {
        node.output[0]: node.attribute[0].t
        for node in body.node
        if node.op_type == "Constant" and node.attribute[0].name == "value"
    }


def initialisers(body: Any) -> dict[str, onnx.TensorProto]:
    return {proto.name: proto for proto in getattr(body, "initializer", ())}


def with_rounded_weights(model: onnx.ModelProto, dtype: Any, kept: Collection[str] = ()) -> onnx.ModelProto:
    """Return a copy whose float initialisers and constants are cast to a dtype of ml_dtypes and back.

    Constant nodes of one element stay; what is too large for a dtype of 8 bits or fewer is clamped.
    """
    limit = float(ml_dtypes.finfo(dtype).max) if np.dtype(dtype).itemsize == 1 else np.inf
    model = onnx.ModelProto.FromString(model.SerializeToString())
    for body in all_bodies(model):
        weights = [*initialisers(body).items()]
        weights += [(name, proto) for name, proto in constants(body).items() if np.prod(proto.dims) != 1]
        for name, proto in weights:
            if proto.data_type in FLOATS and name not in kept:
                array = np.clip(numpy_helper.to_array(proto), -limit, limit)
                proto.CopyFrom(numpy_helper.from_array(array.astype(dtype).astype(array.dtype), proto.name))
    return model
