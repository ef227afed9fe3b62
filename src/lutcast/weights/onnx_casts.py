"""Cast nodes between the tensors of an ONNX model and the nodes that read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count, groupby
from typing import TYPE_CHECKING

from .onnx_graph import Slot, bodies, is_constant, subgraphs

if TYPE_CHECKING:
    from onnx import ModelProto

    from .onnx_graph import Body


def insert_casts(model: ModelProto, changed: Sequence[tuple[Slot, int]]) -> None:
    """Let nodes read tensors, whose type has changed, through a Cast to the type before.

    A tensor that nothing reads gets no Cast. Names of tensors and nodes stay.

    Parameters
    ----------
    model : ModelProto
    changed : sequence of (Slot, int)
        In the order of `find_slots`, each with its type before.
    """
    taken = {name for root in (model.graph, *model.functions) for body in bodies(root) for name in _names(body)}
    for _, group in groupby(changed, key=lambda pair: id(pair[0].scope)):
        _insert_casts(list(group), taken)


def _insert_casts(changed: Sequence[tuple[Slot, int]], taken: set[str]) -> None:
    from onnx.helper import make_node  # here, as the package is optional

    body = changed[0][0].scope.body
    read = {name for reader in bodies(body) for node in reader.node for name in node.input}
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
