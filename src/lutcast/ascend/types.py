"""The element types of AscendC by its names."""

from __future__ import annotations

from ..names import get_format

TYPES = {
    name: get_format(name)
    for name in (
        "half", "float", "bfloat16_t", "double", "int4b_t", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t",
        "uint32_t", "int64_t", "hifloat8_t", "fp8_e4m3fn_t", "fp8_e5m2_t", "fp4x2_e2m1_t", "fp4x2_e1m2_t",
        "complex32", "complex64",
    )
}  # fmt: skip
NAMES = {fmt: name for name, fmt in TYPES.items()}


def parse_type(name: object, argument: str) -> str:
    """Return AscendC's name of a type, given by any name of its format; TypeError for any other."""
    try:
        return NAMES[get_format(name, argument)]
    except (KeyError, TypeError):
        raise TypeError(f"{argument}: {name!r} is no type of Cast; those are {', '.join(TYPES)}") from None


def is_packed(type_name: str) -> bool:
    """Whether two elements share a byte of a LocalTensor."""
    return TYPES[type_name].bits == 4


def bytes_of(type_name: str, elements: int) -> int:
    """Return the bytes that elements take in a LocalTensor."""
    return elements * TYPES[type_name].bits // 8
