"""Which version of an operator brought which element types and attributes.

Source: the operator changelog of ONNX 1.23.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Mapping

from .types import ElementType, name_of

NUMBERS = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
)  # fmt: skip
FLOAT8 = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
INT4 = ("int4", "uint4")
INT2 = ("int2", "uint2")

TYPES: Mapping[str, Mapping[int, tuple[str, ...]]] = {
    "Cast": {
        6: NUMBERS,
        9: ("string",),
        13: ("bfloat16",),
        19: FLOAT8,
        21: INT4,
        23: ("float4_e2m1fn",),
        24: ("float8_e8m0fnu",),
        25: INT2,
        28: ("float6_e2m3fn", "float6_e3m2fn"),
    },
    "CastLike": {
        15: (*NUMBERS, "string", "bfloat16"),
        19: FLOAT8,
        21: INT4,
        23: ("float4_e2m1fn",),
        24: ("float8_e8m0fnu",),
        25: INT2,
    },
    "Tile": {
        6: (*NUMBERS, "string", "complex64", "complex128"),
        13: ("bfloat16",),
    },
}
ATTRIBUTES = {"saturate": 19, "round_mode": 24}


def check_opset(operator: str, opset: int | None) -> int | None:
    """Return a version of the operator set in which there is such an operator; None for the newest.

    Raises
    ------
    ValueError
        It is no integer, or older than the operator.
    """
    if opset is None:
        return None
    try:
        version = operators.index(opset)
    except TypeError:
        raise ValueError(f"opset: {opset!r} given, an integer is needed") from None
    first = min(TYPES[operator])
    if version < first:
        raise ValueError(f"opset: {version} given, {operator} begins at opset {first}")
    return version


def check_type(operator: str, element: ElementType, opset: int | None, argument: str) -> None:
    """Check that an operator takes such elements in that version.

    Raises
    ------
    TypeError
        It does not; the message names the opset that brings the type.
    """
    name = name_of(element)
    since = next((version for version, names in TYPES[operator].items() if name in names), None)
    if since is None:
        raise TypeError(f"{argument}: no version of {operator} takes {name}")
    if opset is not None and opset < since:
        raise TypeError(f"{argument}: {operator} takes {name} from opset {since} on, not in opset {opset}")


def has_attribute(attribute: str, opset: int | None) -> bool:
    """Whether Cast and CastLike of that version have an attribute."""
    return opset is None or opset >= ATTRIBUTES[attribute]
