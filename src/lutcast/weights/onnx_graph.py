"""The graphs of an ONNX model: which tensors they hold, and Cast nodes where these are read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain, count, groupby
from typing import TYPE_CHECKING, TypeAlias

from .errors import WeightsError
from .onnx_tensors import STRING_TYPE

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

    Body: TypeAlias = GraphProto | FunctionProto

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
        bodies = list(_bodies(root))
        # Of the whole tree, as a subgraph reads the values of the graphs around it.
        fixed = {name: reason for body in bodies for name, reason in _fixed_names(body)}
        for body in bodies:
            yield from _slots(Scope(body, opset), fixed)


def other_tensors(model: ModelProto) -> Iterator[TensorProto]:
    """Yield the tensors that `find_slots` leaves out."""
    for root in (model.graph, *model.functions):
        for body in _bodies(root):
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


def insert_casts(model: ModelProto, changed: Sequence[tuple[Slot, int]]) -> None:
    """Let nodes read tensors, whose type has changed, through a Cast to the type before.

    A tensor that nothing reads gets no Cast. Names of tensors and nodes stay.

    Parameters
    ----------
    model : ModelProto
    changed : sequence of (Slot, int)
        In the order of `find_slots`, each with its type before.
    """
    taken = {name for root in (model.graph, *model.functions) for body in _bodies(root) for name in _names(body)}
    for _, group in groupby(changed, key=lambda pair: id(pair[0].scope)):
        _insert_casts(list(group), taken)


def _insert_casts(changed: Sequence[tuple[Slot, int]], taken: set[str]) -> None:
    from onnx.helper import make_node  # here, as the package is optional

    body = changed[0][0].scope.body
    read = {name for reader in _bodies(body) for node in reader.node for name in node.input}
    types = {slot.name: slot.proto.data_type for slot, _ in changed}
    casts = {}
    for slot, before in changed:
        if slot.name in read:
            fresh = _fresh_name(f"{slot.name}_cast", taken)
            casts[slot.name] = make_node("Cast", [slot.name], [fresh], name=fresh, to=before)
    _rename_inputs(body, {name: cast.output[0] for name, cast in casts.items()})
    for value in body.value_info:
        if value.name in types:
            value.type.tensor_type.elem_type = types[value.name]
    # From the end, so that the places of nodes to come stay.
    for place in reversed(range(len(body.node))):
        node = body.node[place]
        if is_constant(node) and node.output[0] in casts:
            body.node.insert(place + 1, casts.pop(node.output[0]))
    for cast in reversed(casts.values()):
        body.node.insert(0, cast)


def _bodies(body: Body) -> Iterator[Body]:
    yield body
    for node in body.node:
        for graph in subgraphs(node):
            yield from _bodies(graph)


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


def _names(body: Body) -> Iterator[str]:
    yield from _defined_names(body)
    for node in body.node:
        yield node.name
        yield from node.input


def _defined_names(body: Body) -> Iterator[str]:
    for value in body.input:
        yield value if isinstance(value, str) else value.name
    yield from (proto.name for proto in getattr(body, "initializer", ()))
    yield from (proto.values.name for proto in getattr(body, "sparse_initializer", ()))
    for node in body.node:
        yield from node.output


def _fresh_name(wanted: str, taken: set[str]) -> str:
    name = next(name for name in chain([wanted], (f"{wanted}_{n}" for n in count(1))) if name not in taken)
    taken.add(name)
    return name


def _rename_inputs(body: Body, names: Mapping[str, str]) -> None:
    if not names:
        return
    for node in body.node:
        for place, name in enumerate(node.input):
            if name in names:
                node.input[place] = names[name]
        for graph in subgraphs(node):
            hidden = set(_defined_names(graph))
            _rename_inputs(graph, {name: fresh for name, fresh in names.items() if name not in hidden})
