"""The graphs of an ONNX model: which tensors they hold, and which of these must keep their types."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from .errors import WeightsError
from .onnx_tensors import STRING_TYPE

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

    Body = GraphProto | FunctionProto

ONNX_DOMAINS = ("", "ai.onnx")

# Operators (patterns) and the first input whose values must stay exact: scales and codes of
# quantised tensors, and numbers that decide the shape of a result.
_EXACT_INPUTS = (
    ("QuantizeLinear", 1),
    ("DequantizeLinear", 0),
    ("DynamicQuantize*", 0),
    ("Q[A-Z]*", 0),  # QLinearConv, QGemm and their kin
    ("MatMulIntegerToFloat", 0),
    ("MatMulNBits", 0),
    ("MatMulBnb4", 0),
    ("MatMulFpQ4", 0),
    ("GatherBlockQuantized", 0),
    ("Resize", 1),
    ("Upsample", 1),
    ("Range", 0),
)

IS_INTERFACE = "inputs or outputs of a graph"
IS_EXACT = "scales, codes or sizes that must stay exact"
IS_NUMBER = "constants of one element"


@dataclass(frozen=True)
class Scope:
    """A graph, a subgraph or the body of a function, and the version of ONNX's operators in it."""

    body: Body
    opset: int | None


@dataclass(frozen=True)
class Slot:
    """A place of a model that holds a tensor.

    Attributes
    ----------
    scope : Scope
    name : str
        Of the value that nodes read.
    proto : TensorProto
    is_initialiser : bool
        Whether it is no Constant node's.
    fixed : str
        Why the type of the tensor must stay; empty where it need not.
    """

    scope: Scope
    name: str
    proto: TensorProto
    is_initialiser: bool
    fixed: str


def find_slots(model: ModelProto) -> Iterator[Slot]:
    """Find the numeric tensors of initialisers and Constant nodes, in subgraphs and functions too.

    Raises
    ------
    WeightsError
        An initialiser has no name.
    """
    for root, imports in ((model.graph, model.opset_import), *((f, f.opset_import) for f in model.functions)):
        opset = next((i.version for i in imports if i.domain in ONNX_DOMAINS), None)
        tree = list(bodies(root))
        # Of the whole tree, as a subgraph reads the values of the graphs around it.
        fixed = {name: reason for body in tree for name, reason in _fixed_names(body)}
        for body in tree:
            yield from _slots(Scope(body, opset), fixed)


def bodies(body: Body) -> Iterator[Body]:
    """Yield a graph or the body of a function, then the subgraphs in it, at any depth."""
    yield body
    for node in body.node:
        for graph in subgraphs(node):
            yield from bodies(graph)


def other_tensors(model: ModelProto) -> Iterator[TensorProto]:
    """Yield the tensors that `find_slots` leaves out."""
    for root in (model.graph, *model.functions):
        for body in bodies(root):
            sparse = list(getattr(body, "sparse_initializer", ()))
            yield from (proto for proto in getattr(body, "initializer", ()) if proto.data_type == STRING_TYPE)
            for node in body.node:
                for attribute in node.attribute:
                    if attribute.HasField("t") and not _is_value(node, attribute):
                        yield attribute.t
                    yield from attribute.tensors
                    sparse += [attribute.sparse_tensor, *attribute.sparse_tensors]
            for tensor in sparse:
                yield from (tensor.values, tensor.indices)


def is_constant(node: NodeProto) -> bool:
    """Whether a node is a Constant with a result."""
    return node.op_type == "Constant" and node.domain in ONNX_DOMAINS and len(node.output) == 1 and node.output[0] != ""


def subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    """Yield the graphs that a node has as attributes."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _fixed_names(body: Body) -> Iterator[tuple[str, str]]:
    for node in body.node:
        for pattern, first in _EXACT_INPUTS:
            if fnmatchcase(node.op_type, pattern):
                yield from ((name, IS_EXACT) for name in node.input[first:])
    for annotation in getattr(body, "quantization_annotation", ()):
        yield from ((pair.value, IS_EXACT) for pair in annotation.quant_parameter_tensor_names)
    for value in (*body.input, *body.output):
        yield value if isinstance(value, str) else value.name, IS_INTERFACE


def _slots(scope: Scope, fixed: Mapping[str, str]) -> Iterator[Slot]:
    for proto in getattr(scope.body, "initializer", ()):  # functions have none
        if not proto.name:
            raise WeightsError("an initialiser has no name")
        if proto.data_type != STRING_TYPE:
            yield Slot(scope, proto.name, proto, True, fixed.get(proto.name, ""))
    for node in filter(is_constant, scope.body.node):
        name = node.output[0]
        for attribute in node.attribute:
            if _is_value(node, attribute):
                number = IS_NUMBER if math.prod(attribute.t.dims) == 1 else ""
                yield Slot(scope, name, attribute.t, False, fixed.get(name, number))


def _is_value(node: NodeProto, attribute: AttributeProto) -> bool:
    is_tensor = attribute.HasField("t") and attribute.t.data_type != STRING_TYPE
    return is_constant(node) and attribute.name == "value" and is_tensor
