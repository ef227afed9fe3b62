"""Number formats: one record each, every other property derived from it.

Sources: IEEE 754-2019 (float16 to float64), OCP OFP8 (float8_e4m3fn, float8_e5m2),
OCP MX 1.0 (float4, float6, float8_e8m0fnu), ONNX and ml_dtypes (the fnuz formats, float8_e4m3,
float8_e3m4, float8_e4m3b11fnuz), the HiFloat8 paper and AscendC (hifloat8, float4_e1m2fn).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Kind = Literal["bool", "int", "float", "complex"]
NanStyle = Literal["none", "ieee", "all_ones", "negative_zero"]


@dataclass(frozen=True, eq=False, repr=False)
class Format:
    """One number format.

    Attributes
    ----------
    name : str
        Canonical name, the one of NumPy or ml_dtypes where they have the format.
    kind : {"bool", "int", "float", "complex"}
    bits : int
        Width of one code.
    is_signed : bool
    exponent_bits, fraction_bits, bias : int
        Fields of a float; for the tapered hifloat8 ``fraction_bits`` is the largest width.
    nan : {"none", "ieee", "all_ones", "negative_zero"}
        Which codes are NaN: exponent all ones with a non-zero fraction; every bit below the
        sign set; only the code that would be -0; or no code.
    has_infinity : bool
    has_zero : bool
        False for float8_e8m0fnu only.
    is_tapered : bool
        True for hifloat8: the width of the fraction depends on the exponent.
    part : Format or None
        Format of the real and of the imaginary part of a complex format.
    aliases : mapping of str to str
        The name of the format in other systems, by system.

    Examples
    --------
    >>> import lutcast
    >>> f = lutcast.get_format("F8_E4M3")
    >>> f.name, f.bits, f.exponent_bits, f.fraction_bits, f.bias
    ('float8_e4m3fn', 8, 4, 3, 7)
    """

    name: str
    kind: Kind
    bits: int
    is_signed: bool = True
    exponent_bits: int = 0
    fraction_bits: int = 0
    bias: int = 0
    nan: NanStyle = "none"
    has_infinity: bool = False
    has_zero: bool = True
    is_tapered: bool = False
    part: Format | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Format {self.name}>"

    def __reduce__(self) -> str:
        # Formats are singletons: they pickle and copy by name.
        return self.name.upper()

    @cached_property
    def itemsize(self) -> int:
        """Bytes of one element of an array; sub-byte formats take a whole byte."""
        return max(self.bits // 8, 1)

    @cached_property
    def is_narrow(self) -> bool:
        """Whether casts from this format are tables: 16 bits or fewer."""
        return self.bits <= 16

    @cached_property
    def mask(self) -> int:
        """All bits of a code."""
        return (1 << self.bits) - 1

    @cached_property
    def sign_bit(self) -> int:
        """The sign bit of a float's code, 0 where there is none."""
        return 1 << (self.bits - 1) if self.is_signed else 0

    @cached_property
    def magnitude_mask(self) -> int:
        """All bits of a float's code but the sign."""
        return self.mask & ~self.sign_bit

    @cached_property
    def exponent_mask(self) -> int:
        """The exponent field of a float's code, all ones."""
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @cached_property
    def infinity_code(self) -> int | None:
        """Code of +infinity, None where the format has no infinity."""
        if not self.has_infinity:
            return None
        return 0x6F if self.is_tapered else self.exponent_mask

    @cached_property
    def nan_code(self) -> int | None:
        """Code of the canonical quiet NaN without sign, None where the format has no NaN."""
        match self.nan:
            case "ieee":
                return self.exponent_mask | self.quiet_bit
            case "all_ones":
                return self.magnitude_mask
            case "negative_zero":
                return self.sign_bit
            case _:
                return None

    @cached_property
    def quiet_bit(self) -> int:
        """Leading fraction bit, which marks a NaN as quiet; 0 where NaN has no payload."""
        return 1 << (self.fraction_bits - 1) if self.nan == "ieee" else 0

    @cached_property
    def nan_is_signed(self) -> bool:
        """Whether NaN exists with either sign."""
        return self.nan in ("ieee", "all_ones") and self.is_signed

    @cached_property
    def has_negative_zero(self) -> bool:
        """Whether -0 has a code."""
        return self.kind == "float" and self.is_signed and self.nan != "negative_zero"

    @cached_property
    def max_code(self) -> int:
        """Code of the largest finite value of a float or integer."""
        if self.kind in ("int", "bool"):
            return self.max_integer
        if self.infinity_code is not None:
            return self.infinity_code - 1
        return self.magnitude_mask - (self.nan == "all_ones")

    @cached_property
    def max_integer(self) -> int:
        """Largest value of an integer format."""
        return self.mask >> (self.kind == "int" and self.is_signed)

    @cached_property
    def min_integer(self) -> int:
        """Smallest value of an integer format."""
        return -self.max_integer - 1 if self.kind == "int" and self.is_signed else 0

    @cached_property
    def min_exponent(self) -> int:
        """Exponent of the smallest normal value of a float."""
        if self.is_tapered:
            return -22
        return 1 - self.bias if self.has_zero else -self.bias

    def quantum_exponent(self, exponent: int) -> int:
        """Exponent of the last place of values in [2**exponent, 2**(exponent+1)).

        The exponent range is unbounded above; below the smallest normal value the last place
        is that of the subnormals. Integers have their last place at 2**0.
        """
        if self.kind in ("int", "bool"):
            return 0
        exponent = max(exponent, self.min_exponent)
        return exponent - (hifloat8_fraction_bits(exponent) if self.is_tapered else self.fraction_bits)


def hifloat8_fraction_bits(exponent: int) -> int:
    """Width of the fraction field of a hifloat8 value, from its exponent."""
    if exponent < -15:
        return 0
    return 3 if abs(exponent) < 4 else 2 if abs(exponent) < 8 else 1


def _integer(name: str, bits: int, is_signed: bool, **aliases: str) -> Format:
    return Format(name, "int", bits, is_signed, aliases=aliases)


def _float(name: str, fields: tuple[int, int], bias: int, nan: NanStyle, **aliases: str) -> Format:
    """Make a signed float with fields for exponent and fraction; those with NaN as in IEEE 754 have infinity."""
    bits = 1 + sum(fields)
    return Format(name, "float", bits, True, *fields, bias, nan, has_infinity=nan == "ieee", aliases=aliases)


def _complex(name: str, part: Format, **aliases: str) -> Format:
    return Format(name, "complex", 2 * part.bits, part=part, aliases=aliases)


# fmt: off
BOOL    = Format("bool", "bool", 1, False, aliases={"onnx": "BOOL", "safetensors": "BOOL", "torch": "torch.bool"})
INT2    = _integer("int2",    2, True,  onnx="INT2",   torch="torch.int2")
UINT2   = _integer("uint2",   2, False, onnx="UINT2",  torch="torch.uint2")
INT4    = _integer("int4",    4, True,  onnx="INT4",   torch="torch.int4",   ascend="int4b_t")
UINT4   = _integer("uint4",   4, False, onnx="UINT4",  torch="torch.uint4")
INT8    = _integer("int8",    8, True,  onnx="INT8",   torch="torch.int8",   ascend="int8_t",   safetensors="I8")
UINT8   = _integer("uint8",   8, False, onnx="UINT8",  torch="torch.uint8",  ascend="uint8_t",  safetensors="U8")
INT16   = _integer("int16",  16, True,  onnx="INT16",  torch="torch.int16",  ascend="int16_t",  safetensors="I16")
UINT16  = _integer("uint16", 16, False, onnx="UINT16", torch="torch.uint16", ascend="uint16_t", safetensors="U16")
INT32   = _integer("int32",  32, True,  onnx="INT32",  torch="torch.int32",  ascend="int32_t",  safetensors="I32")
UINT32  = _integer("uint32", 32, False, onnx="UINT32", torch="torch.uint32", ascend="uint32_t", safetensors="U32")
INT64   = _integer("int64",  64, True,  onnx="INT64",  torch="torch.int64",  ascend="int64_t",  safetensors="I64")
UINT64  = _integer("uint64", 64, False, onnx="UINT64", torch="torch.uint64", ascend="uint64_t", safetensors="U64")

FLOAT4_E2M1FN = _float("float4_e2m1fn", (2, 1), 1, "none", onnx="FLOAT4E2M1",  safetensors="F4",      en_dtypes="float4_e2m1", ascend="fp4x2_e2m1_t")
FLOAT4_E1M2FN = _float("float4_e1m2fn", (1, 2), 1, "none",                                            en_dtypes="float4_e1m2", ascend="fp4x2_e1m2_t")
FLOAT6_E2M3FN = _float("float6_e2m3fn", (2, 3), 1, "none", onnx="FLOAT6E2M3",  safetensors="F6_E2M3", en_dtypes="float6_e2m3")
FLOAT6_E3M2FN = _float("float6_e3m2fn", (3, 2), 3, "none", onnx="FLOAT6E3M2",  safetensors="F6_E3M2", en_dtypes="float6_e3m2")

FLOAT8_E4M3FN      = _float("float8_e4m3fn",      (4, 3),  7, "all_ones",      onnx="FLOAT8E4M3FN",   safetensors="F8_E4M3",     torch="torch.float8_e4m3fn",   ascend="fp8_e4m3fn_t")
FLOAT8_E4M3FNUZ    = _float("float8_e4m3fnuz",    (4, 3),  8, "negative_zero", onnx="FLOAT8E4M3FNUZ", safetensors="F8_E4M3FNUZ", torch="torch.float8_e4m3fnuz")
FLOAT8_E5M2        = _float("float8_e5m2",        (5, 2), 15, "ieee",          onnx="FLOAT8E5M2",     safetensors="F8_E5M2",     torch="torch.float8_e5m2",     ascend="fp8_e5m2_t")
FLOAT8_E5M2FNUZ    = _float("float8_e5m2fnuz",    (5, 2), 16, "negative_zero", onnx="FLOAT8E5M2FNUZ", safetensors="F8_E5M2FNUZ", torch="torch.float8_e5m2fnuz")
FLOAT8_E4M3        = _float("float8_e4m3",        (4, 3),  7, "ieee")
FLOAT8_E3M4        = _float("float8_e3m4",        (3, 4),  3, "ieee")
FLOAT8_E4M3B11FNUZ = _float("float8_e4m3b11fnuz", (4, 3), 11, "negative_zero")
FLOAT8_E8M0FNU     = Format(
    "float8_e8m0fnu", "float", 8, False, 8, 0, 127, "all_ones", has_zero=False,
    aliases={"onnx": "FLOAT8E8M0", "safetensors": "F8_E8M0", "torch": "torch.float8_e8m0fnu", "en_dtypes": "float8_e8m0"},
)
HIFLOAT8           = Format(
    "hifloat8", "float", 8, True, 5, 3, 0, "negative_zero", has_infinity=True, is_tapered=True,
    aliases={"ascend": "hifloat8_t", "en_dtypes": "hifloat8"},
)

FLOAT16  = _float("float16",  (5, 10),    15, "ieee", onnx="FLOAT16",  safetensors="F16",  torch="torch.float16",  ascend="half", tensorflow="half")
BFLOAT16 = _float("bfloat16", (8, 7),    127, "ieee", onnx="BFLOAT16", safetensors="BF16", torch="torch.bfloat16", ascend="bfloat16_t")
FLOAT32  = _float("float32",  (8, 23),   127, "ieee", onnx="FLOAT",    safetensors="F32",  torch="torch.float32",  ascend="float", tensorflow="float")
FLOAT64  = _float("float64",  (11, 52), 1023, "ieee", onnx="DOUBLE",   safetensors="F64",  torch="torch.float64",  ascend="double", tensorflow="double")

COMPLEX32  = _complex("complex32",  FLOAT16, torch="torch.complex32", ascend="complex32")
COMPLEX64  = _complex("complex64",  FLOAT32, torch="torch.complex64", ascend="complex64", onnx="COMPLEX64", safetensors="C64")
COMPLEX128 = _complex("complex128", FLOAT64, torch="torch.complex128", onnx="COMPLEX128")
# fmt: on

ALL: tuple[Format, ...] = (
    BOOL, INT2, UINT2, INT4, UINT4, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64,
    FLOAT4_E2M1FN, FLOAT4_E1M2FN, FLOAT6_E2M3FN, FLOAT6_E3M2FN,
    FLOAT8_E4M3FN, FLOAT8_E4M3FNUZ, FLOAT8_E5M2, FLOAT8_E5M2FNUZ,
    FLOAT8_E4M3, FLOAT8_E3M4, FLOAT8_E4M3B11FNUZ, FLOAT8_E8M0FNU, HIFLOAT8,
    FLOAT16, BFLOAT16, FLOAT32, FLOAT64, COMPLEX32, COMPLEX64, COMPLEX128,
)  # fmt: skip


def formats() -> tuple[Format, ...]:
    """Return every format, in a fixed order.

    Examples
    --------
    >>> import lutcast
    >>> [f.name for f in lutcast.formats() if f.bits == 4]
    ['int4', 'uint4', 'float4_e2m1fn', 'float4_e1m2fn']
    """
    return ALL
