"""The numbers by which the C interface names formats and the parts of a policy.

They are those of ``lutcast.h``: fixed for good, appended to only.
"""

from __future__ import annotations

from .names import get_format
from .policy import Nan, Overflow, Rounding

FORMATS = {
    number: get_format(name)
    for number, name in enumerate((
        "bool", "int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
        "uint64", "float4_e2m1fn", "float4_e1m2fn", "float6_e2m3fn", "float6_e3m2fn",
        "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
        "float8_e4m3", "float8_e3m4", "float8_e4m3b11fnuz", "float8_e8m0fnu", "hifloat8",
        "float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128",
    ), start=1)
}  # fmt: skip
ROUNDINGS: dict[int, Rounding | None] = dict(enumerate((
    None, Rounding.TIES_TO_EVEN, Rounding.TIES_TO_AWAY, Rounding.TOWARD_ZERO, Rounding.TOWARD_NEGATIVE,
    Rounding.TOWARD_POSITIVE, Rounding.TO_ODD, Rounding.AWAY_FROM_ZERO, Rounding.HYBRID,
)))  # fmt: skip
OVERFLOWS: dict[int, Overflow | None] = dict(enumerate((None, Overflow.SATURATE, Overflow.IEEE, Overflow.WRAP)))
NANS: dict[int, Nan] = {0: "keep", 1: "zero"}
