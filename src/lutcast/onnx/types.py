"""The element types of ONNX tensors: formats of lutcast, and strings."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..arrays import Array, as_array
from ..formats import ALL, Format
from ..names import get_format

STRING: Literal["string"] = "string"
ElementType = Format | Literal["string"]

# TensorProto.DataType, from 1 on.
TENSOR_TYPES = (
    "FLOAT", "UINT8", "INT8", "UINT16", "INT16", "INT32", "INT64", "STRING", "BOOL", "FLOAT16", "DOUBLE",
    "UINT32", "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2",
    "FLOAT8E5M2FNUZ", "UINT4", "INT4", "FLOAT4E2M1", "FLOAT8E8M0", "UINT2", "INT2", "FLOAT6E2M3", "FLOAT6E3M2",
)  # fmt: skip
ELEMENT_TYPES: dict[str, ElementType] = {f.aliases["onnx"]: f for f in ALL if "onnx" in f.aliases} | {"STRING": STRING}

STRING_KINDS = "OSTU"


def name_of(element: ElementType) -> str:
    """Return what errors call an element type."""
    return element if isinstance(element, str) else element.name


def element_type(to: object, argument: str) -> ElementType:
    """Return an element type by its integer in TensorProto, by name or by dtype.

    Raises
    ------
    TypeError
        It is no element type.
    """
    if isinstance(to, int | np.integer) and not isinstance(to, bool):
        if not 1 <= to <= len(TENSOR_TYPES):
            raise TypeError(f"{argument}: {to} is no tensor type; TensorProto has 1 to {len(TENSOR_TYPES)}")
        return ELEMENT_TYPES[TENSOR_TYPES[int(to) - 1]]
    if isinstance(to, str) and to in ("STRING", STRING):
        return STRING
    if _is_string_dtype(to):
        return STRING
    return get_format(to, argument)


def element_type_of(x: object, argument: str) -> ElementType:
    """Return the type of the elements of an array, whatever they are."""
    array = _as_numpy(x)
    if array is not None and array.dtype.kind in STRING_KINDS:
        return STRING
    return as_array(x if array is None else array, argument=argument)[1]


def as_tensor(x: object, argument: str) -> tuple[Array, ElementType]:
    """Return x as an array with the type of its elements; strings as an object array of str.

    Raises
    ------
    TypeError
        The elements have no type in ONNX.
    """
    array = _as_numpy(x)
    if array is not None and array.dtype.kind in STRING_KINDS:
        return _as_strings(array, argument), STRING
    return as_array(x if array is None else array, argument=argument)


def object_array(values: list[str], shape: tuple[int, ...]) -> Array:
    """Return strings as an array of objects."""
    result = np.empty(len(values), object)
    result[:] = values
    return result.reshape(shape)


def _as_numpy(x: object) -> Array | None:
    """Return x as an ndarray; None for arrays of other libraries."""
    if hasattr(x, "dtype") and not isinstance(x, np.ndarray | np.generic):
        return None
    return np.asarray(x)


def _is_string_dtype(to: Any) -> bool:
    if isinstance(to, np.dtype):
        return to.kind in STRING_KINDS
    return to in (str, bytes, object, np.str_, np.bytes_, np.object_) if isinstance(to, type) else False


def _as_strings(array: Array, argument: str) -> Array:
    values = array.ravel().tolist()
    if array.dtype.kind == "S":
        values = [value.decode() for value in values]
    for index, value in enumerate(values):
        if not isinstance(value, str):
            raise TypeError(
                f"{argument}: element {index} is of type {type(value).__name__}; an array of objects holds strings"
            )
    return object_array(values, array.shape)
