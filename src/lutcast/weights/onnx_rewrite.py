"""Writing an ONNX model again, with tensors of other types."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from ..onnx.versions import check_opset, check_type
from .atomic import check_destination, replacing
from .errors import WeightsError
from .onnx_casts import insert_casts
from .onnx_external import ALIGNMENT, data_path
from .onnx_graph import Slot
from .onnx_model import OnnxContents
from .onnx_tensors import is_external, number_of, store_external, store_inline
from .tensors import Contents, Entry, Pieces, write_pieces

# protobuf stops at 2 GiB; some of them for the Casts and the new fields of the tensors.
_MAX_MODEL_BYTES = (2 << 30) - (16 << 20)
_MIN_EXTERNAL_BYTES = 1024  # smaller initialisers stay in the model
_FIRST_IR_OF_FREE_INITIALISERS = 4


def check_onnx(path: Path, contents: Contents, entries: Sequence[Entry]) -> None:
    """Check that a model can be written whose tensors are as `entries` say.

    Raises
    ------
    WeightsError
        The contents are those of no ONNX model, or its versions do not allow the change, or a
        file that would be replaced is needed.
    """
    if not isinstance(contents, OnnxContents):
        raise WeightsError("an ONNX model is made from an ONNX model only, whose graph it keeps")
    version = contents.model.ir_version
    for slot, before, entry in zip(contents.slots, contents.tensors, entries, strict=True):
        assert before.entry.format is not None
        if version < _FIRST_IR_OF_FREE_INITIALISERS and slot.is_initialiser and before.entry.format.kind == "float":
            raise WeightsError(
                f"IR version {version}: its initialisers are inputs too, whose types must stay; "
                f"IR version {_FIRST_IR_OF_FREE_INITIALISERS} is needed"
            )
        if before.entry.format != entry.format:
            _check_cast(slot, before.entry, entry)
            if contents.model.training_info:
                raise WeightsError("models with training_info are not supported")
    if any(_are_external(contents, entries)):
        data = data_path(path)
        check_destination(data)
        if data.exists() and any(os.path.samefile(data, file) for file in contents.files):
            raise WeightsError(f"{data.name}, which would be replaced, holds data of the source")


def write_onnx(path: Path, contents: Contents, entries: Sequence[Entry], pieces: Pieces) -> None:
    """Write the model and, if any of its tensors is external, the file of data beside it."""
    assert isinstance(contents, OnnxContents)
    changed = []
    data = data_path(path)
    are_external = _are_external(contents, entries)
    with ExitStack() as stack:
        stream = stack.enter_context(replacing(path))
        # Renamed before the model that refers to it.
        data_stream = stack.enter_context(replacing(data)) if any(are_external) else io.BytesIO()
        for slot, entry, external in zip(contents.slots, entries, are_external, strict=True):
            type_before = slot.proto.data_type
            if external:
                data_stream.write(b"\0" * (-data_stream.tell() % ALIGNMENT))
                offset = data_stream.tell()
                write_pieces(data_stream, pieces(entry))
                store_external(slot.proto, entry, data.name, offset)
            else:
                buffer = io.BytesIO()
                write_pieces(buffer, pieces(entry))
                if type_before != number_of(entry.format) or is_external(slot.proto):
                    store_inline(slot.proto, entry, buffer.getvalue())
            if type_before != slot.proto.data_type:
                changed.append((slot, type_before))
        insert_casts(contents.model, changed)
        stream.write(contents.model.SerializeToString(deterministic=True))


def _check_cast(slot: Slot, before: Entry, after: Entry) -> None:
    if slot.scope.opset is None:
        raise WeightsError(f"tensor {before.name!r}: Cast needs an import of ONNX's own operators, there is none")
    try:
        check_opset("Cast", slot.scope.opset)
        for fmt in (before.format, after.format):
            assert fmt is not None
            check_type("Cast", fmt, slot.scope.opset, f"tensor {before.name!r}")
    except (TypeError, ValueError) as error:
        raise WeightsError(f"{error}") from None
    if not slot.is_initialiser and not _is_in_constants(after, slot.scope.opset):
        assert after.format is not None
        raise WeightsError(
            f"tensor {before.name!r}: Constant nodes hold no {after.format.name} in opset {slot.scope.opset}"
        )


def _is_in_constants(entry: Entry, opset: int) -> bool:
    """Whether Constant has a type that Cast has; from opset 9 on the two differ in float6 only."""
    assert entry.format is not None
    if opset < 9:
        return entry.format.name in ("float16", "float32", "float64")
    return entry.format.name not in ("float6_e2m3fn", "float6_e3m2fn")


def _are_external(contents: OnnxContents, entries: Sequence[Entry]) -> list[bool]:
    """Say which tensors go to the file of data: those that were in one, or all, if the model grows too large."""
    slots, tensors = contents.slots, contents.tensors
    growth = sum(
        entry.nbytes - tensor.entry.nbytes
        for slot, tensor, entry in zip(slots, tensors, entries, strict=True)
        if not is_external(slot.proto)
    )
    is_large = contents.model.ByteSize() + growth > _MAX_MODEL_BYTES
    return [
        (entry.nbytes > 0 and is_external(slot.proto))
        or (is_large and slot.is_initialiser and entry.nbytes >= _MIN_EXTERNAL_BYTES)
        for slot, entry in zip(slots, entries, strict=True)
    ]
