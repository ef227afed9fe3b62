"""Opening an ONNX model: its tensors, in the order of the graphs.

The package ``onnx`` is imported when a model is opened.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import WeightsError
from .onnx_external import find_data
from .onnx_graph import Slot, find_slots, other_tensors
from .onnx_tensors import check_inline, is_external, load_inline, read_entry
from .tensors import Contents, Tensor, map_tensor

if TYPE_CHECKING:
    from onnx import ModelProto


@dataclass(frozen=True, kw_only=True)
class OnnxContents(Contents):
    """A model and where its tensors are.

    Attributes
    ----------
    model : ModelProto
        Changed when it is written.
    slots : tuple of Slot
        One for each tensor, in the same order.
    files : frozenset of Path
        Files beside the model that hold data of it.
    """

    model: ModelProto
    slots: tuple[Slot, ...]
    files: frozenset[Path]


@contextmanager
def open_onnx(path: str | os.PathLike[str]) -> Iterator[OnnxContents]:
    """Open an ONNX model; data in files beside it is mapped when it is loaded.

    The tensors are those of initialisers and Constant nodes, in the graph, its subgraphs and
    the functions of the model; strings and sparse tensors are left out. Where a name comes
    twice, in two subgraphs, the later ones have "#2", "#3", ... behind it.

    Raises
    ------
    WeightsError
        The package onnx is missing, or the file is no model, or is damaged.
    OSError
        The file cannot be opened.
    """
    path = Path(path)
    files: set[Path] = set()
    try:
        model = _parse(path.read_bytes())
        slots = tuple(find_slots(model))
        tensors = tuple(
            _tensor(slot, name, path.parent, files) for slot, name in zip(slots, _unique_names(slots), strict=True)
        )
        for proto in filter(is_external, other_tensors(model)):
            raise WeightsError(f"tensor {proto.name!r}: external data is for initialisers and Constant nodes only")
    except WeightsError as error:
        raise WeightsError(f"{path}: {error}") from None
    metadata = {pair.key: pair.value for pair in model.metadata_props}
    yield OnnxContents(tensors, metadata or None, model=model, slots=slots, files=frozenset(files))


def _parse(data: bytes) -> ModelProto:
    if sys.byteorder != "little":
        raise WeightsError("ONNX models are supported on little-endian machines only")
    try:
        from onnx import ModelProto
    except ModuleNotFoundError:
        raise WeightsError("ONNX models need the package onnx: pip install 'lutcast[onnx]'") from None
    try:
        model = ModelProto()
        model.ParseFromString(data)
    except Exception as error:  # protobuf's own, which onnx does not export
        raise WeightsError(f"not an ONNX model, or damaged: {error}") from None
    if not model.HasField("graph"):
        raise WeightsError("not an ONNX model: there is no graph in it")
    if any(isinstance(text, bytes) for text in _texts(model)):  # how protobuf returns what is no text
        raise WeightsError("not an ONNX model, or damaged: a text in it is not UTF-8")
    return model


def _texts(message: Any) -> Iterator[str | bytes]:
    for field, value in message.ListFields():
        if field.type == field.TYPE_STRING:
            yield from [value] if isinstance(value, str | bytes) else value
        elif field.type == field.TYPE_MESSAGE:
            for part in [value] if hasattr(value, "ListFields") else value:
                yield from _texts(part)


def _unique_names(slots: Sequence[Slot]) -> Iterator[str]:
    taken: set[str] = set()
    for slot in slots:
        name, number = slot.name, 1
        while name in taken:
            number += 1
            name = f"{slot.name}#{number}"
        taken.add(name)
        yield name


def _tensor(slot: Slot, name: str, folder: Path, files: set[Path]) -> Tensor:
    entry = read_entry(slot.proto, name)
    if is_external(slot.proto):
        file, offset = find_data(slot.proto, entry, folder)
        files.add(file)
        return Tensor(entry, partial(map_tensor, file, offset, entry), slot.fixed)
    check_inline(slot.proto, entry)
    return Tensor(entry, partial(load_inline, slot.proto, entry), slot.fixed)
