"""Values of formats and casts as others have them: NumPy, ml_dtypes, en_dtypes, gfloat."""

from __future__ import annotations

from functools import cache

import en_dtypes
import gfloat
import ml_dtypes
import numpy as np

from lutcast import formats

REAL = tuple(f for f in formats() if f.kind != "complex")
NARROW = tuple(f for f in REAL if f.bits <= 16)
NARROW_FLOATS = tuple(f for f in NARROW if f.kind == "float")
SMALL_FLOATS = tuple(f for f in NARROW_FLOATS if f.bits <= 8)
INTEGERS = tuple(f for f in NARROW if f.kind == "int")

# Formats that ml_dtypes does not have.
EN_DTYPES = {"hifloat8": en_dtypes.hifloat8, "float4_e1m2fn": en_dtypes.float4_e1m2}

# Width, precision, bias, infinities, NaNs of gfloat's record; "nuz": the only NaN is what would be -0.
GFLOAT = {
    "float4_e2m1fn": (4, 2, 1, False, 0),
    "float4_e1m2fn": (4, 3, 1, False, 0),
    "float6_e2m3fn": (6, 4, 1, False, 0),
    "float6_e3m2fn": (6, 3, 3, False, 0),
    "float8_e4m3fn": (8, 4, 7, False, 1),
    "float8_e4m3fnuz": (8, 4, 8, False, "nuz"),
    "float8_e5m2": (8, 3, 15, True, 3),
    "float8_e5m2fnuz": (8, 3, 16, False, "nuz"),
    "float8_e4m3": (8, 4, 7, True, 7),
    "float8_e3m4": (8, 5, 3, True, 15),
    "float8_e4m3b11fnuz": (8, 4, 11, False, "nuz"),
    "float16": (16, 11, 15, True, 1023),
    "bfloat16": (16, 8, 127, True, 127),
}


@cache
def dtype(name: str) -> np.dtype:
    """Return the dtype of a format in the package that has it."""
    return np.dtype(EN_DTYPES.get(name) or getattr(ml_dtypes, name, None) or name)


def codes(name: str) -> np.ndarray:
    """Return all codes of a format of 16 bits or fewer."""
    bits = next(f.bits for f in REAL if f.name == name)
    return np.arange(1 << bits, dtype=np.uint16 if bits == 16 else np.uint8)


@cache
def values(name: str) -> np.ndarray:
    """Return the value of every code, exact in float64."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        result = codes(name).view(dtype(name)).astype(np.float32).astype(np.float64)
    result.setflags(write=False)
    return result


@cache
def gfloat_format(name: str) -> gfloat.FormatInfo:
    """Return gfloat's record of a format."""
    bits, precision, bias, has_infinity, nans = GFLOAT[name]
    return gfloat.FormatInfo(
        name, bits, precision,
        bias=bias, is_signed=True, has_nz=nans != "nuz", num_high_nans=0 if nans == "nuz" else nans,
        domain=gfloat.Domain.Extended if has_infinity else gfloat.Domain.Finite,
        has_subnormals=True, is_twos_complement=False,
    )  # fmt: skip


def same_codes(got: np.ndarray, expected: np.ndarray, name: str) -> bool:
    """Whether two arrays of codes agree, any NaN standing for any other."""
    is_nan = np.isnan(values(name))
    return bool(np.all((got == expected) | (is_nan[got] & is_nan[expected])))
