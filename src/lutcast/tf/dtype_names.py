"""What `cast` takes for a dtype: TensorFlow's own names, NumPy dtypes, TensorFlow's objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats import Format
from ..names import format_of_dtype, get_format

FORMATS = {
    name: get_format(name)
    for name in (
        "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
        "bfloat16", "complex64", "complex128", "bool", "float8_e5m2", "float8_e4m3fn", "int4", "uint4",
    )
}  # fmt: skip
NAMES = FORMATS | {name: get_format(name) for name in ("half", "float", "double")}
PYTHON_TYPES: dict[Any, Format] = {float: FORMATS["float32"], bool: FORMATS["bool"]}


def format_of(dtype: object) -> Format:
    """Return the format that TensorFlow understands by a dtype.

    Raises
    ------
    TypeError
        TensorFlow has no such dtype, or does not cast to it.
    """
    found: Format | None = None
    if isinstance(dtype, str):
        found = NAMES.get(dtype)
    elif isinstance(dtype, type) and dtype in PYTHON_TYPES:
        found = PYTHON_TYPES[dtype]
    elif isinstance(dtype, np.dtype) or (isinstance(dtype, type) and issubclass(dtype, np.generic)):
        found = known(np.dtype(dtype))
    elif is_of_tensorflow(dtype):
        found = NAMES.get(str(getattr(dtype, "name", "")).removesuffix("_ref"))
    if found is None:
        raise TypeError(
            f"Cannot convert the argument `dtype`: {dtype!r} to a TensorFlow DType that can be cast to; "
            f"those are {', '.join(FORMATS)}"
        )
    return found


def known(dtype: np.dtype[Any]) -> Format | None:
    """Return the format of a dtype, None if TensorFlow does not cast it."""
    found = format_of_dtype(dtype)
    return found if found in FORMATS.values() else None


def is_of_tensorflow(x: object) -> bool:
    """Whether x is an object of TensorFlow, which need not be imported for that."""
    return type(x).__module__.partition(".")[0] == "tensorflow"
