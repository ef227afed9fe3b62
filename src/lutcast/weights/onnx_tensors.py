"""TensorProto: how a tensor lies in an ONNX model, reading its inline data, storing new data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import lutcast

from ..formats import Format
from ..names import array_dtype
from ..onnx.types import ELEMENT_TYPES, TENSOR_TYPES
from .errors import WeightsError
from .tensors import Entry, is_too_large

if TYPE_CHECKING:
    from onnx import TensorProto

FORMATS = {number: ELEMENT_TYPES[name] for number, name in enumerate(TENSOR_TYPES, 1)}
STRING_TYPE = TENSOR_TYPES.index("STRING") + 1

# Which field holds the elements of a tensor without raw_data; all others are in int32_data.
_FIELDS = {
    "float32": "float_data",
    "complex64": "float_data",
    "float64": "double_data",
    "complex128": "double_data",
    "int64": "int64_data",
    "uint32": "uint64_data",
    "uint64": "uint64_data",
}
_FLOAT_DTYPES = {"float_data": np.float32, "double_data": np.float64}
_DATA = (
    "float_data", "double_data", "int32_data", "int64_data", "uint64_data", "string_data", "raw_data",
    "external_data", "data_location",
)  # fmt: skip


def make_entry(name: str, shape: tuple[int, ...], fmt: Format | None) -> Entry:
    """Say how ONNX holds a tensor of a format.

    Raises
    ------
    WeightsError
        ONNX has no such tensor type.
    """
    if fmt not in FORMATS.values():
        what = "elements that are not numbers" if fmt is None else fmt.name
        known = ", ".join(f.name for f in FORMATS.values() if isinstance(f, Format))
        raise WeightsError(f"tensor {name!r}: ONNX has no tensor type for {what}; it has {known}")
    assert fmt is not None
    is_packed = fmt.bits < 8 and fmt.kind != "bool"
    return Entry(name, shape, fmt, np.dtype(np.uint8) if is_packed else array_dtype(fmt), is_packed)


def number_of(fmt: Format | None) -> int:
    """Return the integer of TensorProto.DataType that stands for a format."""
    assert fmt is not None
    return TENSOR_TYPES.index(fmt.aliases["onnx"]) + 1


def read_entry(proto: TensorProto, name: str) -> Entry:
    """Return the entry of a tensor, without looking at its data.

    Raises
    ------
    WeightsError
        The type or the shape is impossible.
    """
    fmt = FORMATS.get(proto.data_type)
    if not isinstance(fmt, Format):
        raise WeightsError(f"tensor {name!r}: unknown tensor type {proto.data_type}")
    shape = tuple(proto.dims)
    if any(size < 0 for size in shape) or is_too_large(shape):
        raise WeightsError(f"tensor {name!r}: impossible shape {list(shape)}")
    if proto.HasField("segment"):
        raise WeightsError(f"tensor {name!r}: tensors in segments are not supported")
    return make_entry(name, shape, fmt)


def is_external(proto: TensorProto) -> bool:
    """Whether the data lies in a file of its own."""
    return proto.data_location == proto.EXTERNAL


def check_inline(proto: TensorProto, entry: Entry) -> None:
    """Check that the data in the model has the size that the shape calls for.

    Raises
    ------
    WeightsError
        It has not.
    """
    if proto.HasField("raw_data"):
        what, given, needed = "bytes of raw_data", len(proto.raw_data), entry.nbytes
    else:
        field = _field(entry)
        what, given, needed = f"numbers in {field}", len(getattr(proto, field)), _numbers(entry)
    if given != needed:
        raise WeightsError(f"tensor {entry.name!r}: {given} {what}, its type and shape need {needed}")


def load_inline(proto: TensorProto, entry: Entry) -> NDArray[Any]:
    """Return the data in the model as it would lie in raw_data, as an array of the entry's dtype."""
    if proto.HasField("raw_data"):
        stored = np.frombuffer(proto.raw_data, np.uint8).view(entry.dtype)
    else:
        field = _field(entry)
        numbers = np.array(getattr(proto, field), _FLOAT_DTYPES.get(field))
        if field not in _FLOAT_DTYPES:
            numbers = numbers.astype(f"u{entry.dtype.itemsize}")  # the low bits, of negative numbers too
        if _is_one_per_number(entry):
            numbers = lutcast.pack(numbers, entry.format)
        stored = numbers.view(entry.dtype)
    return stored if entry.is_packed else stored.reshape(entry.shape)


def store_inline(proto: TensorProto, entry: Entry, data: bytes) -> None:
    """Replace type and data of a tensor by data in the model."""
    _clear(proto, entry)
    proto.raw_data = data


def store_external(proto: TensorProto, entry: Entry, location: str, offset: int) -> None:
    """Replace type and data of a tensor by a reference to a file beside the model."""
    _clear(proto, entry)
    proto.data_location = proto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", entry.nbytes)):
        proto.external_data.add(key=key, value=str(value))


def _clear(proto: TensorProto, entry: Entry) -> None:
    for field in _DATA:
        proto.ClearField(field)
    proto.data_type = number_of(entry.format)


def _field(entry: Entry) -> str:
    assert entry.format is not None
    return _FIELDS.get(entry.format.name, "int32_data")


def _numbers(entry: Entry) -> int:
    assert entry.format is not None
    if entry.is_packed and not _is_one_per_number(entry):
        return entry.nbytes
    return entry.elements * (2 if entry.format.kind == "complex" else 1)


def _is_one_per_number(entry: Entry) -> bool:
    # 6-bit codes are packed in raw_data only; of other sub-byte formats int32_data holds packed bytes.
    return entry.is_packed and entry.format is not None and entry.format.bits == 6
