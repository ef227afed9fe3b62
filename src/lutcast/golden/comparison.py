"""Two results of the same casts, code by code: where they differ, of what kind that is, and by how much."""

from __future__ import annotations

import math
from enum import StrEnum
from functools import cache

import numpy as np

from ..arrays import Array
from ..casting import cast
from ..formats import FLOAT64, Format
from ..losses import Losses
from ..names import array_dtype
from ..policy import Policy, Rounding, overflows
from .directed import last_step
from .values import value_of
from .vectors import BLOCK, Flags, Vectors


class Kind(StrEnum):
    """What is special about a vector whose result is wrong; the first that applies."""

    OVERFLOW = "overflow"
    NAN = "NaN"
    ZERO_SIGN = "sign of zero"
    TIE = "tie"
    SUBNORMAL = "subnormal"
    INEXACT = "inexact"
    EXACT = "exact"


def decode(codes: Array, fmt: Format) -> Array:
    """Return codes of a format as float64: exact for all but 64-bit integers."""
    return cast(codes.view(array_dtype(fmt)), FLOAT64, src=fmt)


def is_nan(codes: Array, fmt: Format) -> Array:
    """Mark the codes that are NaN."""
    return np.isnan(decode(codes, fmt)) if fmt.kind == "float" else np.zeros(len(codes), bool)


def are_equal(a: Array, b: Array, fmt: Format, *, any_nan: bool) -> Array:
    """Compare codes, bit by bit or with all NaNs alike."""
    equal = np.asarray(a == b)
    return equal | (is_nan(a, fmt) & is_nan(b, fmt)) if any_nan else equal


# --------------------------------------------------------------------------- distance


def steps_between(got: Array, expected: Array, fmt: Format) -> Array:
    """Return how many values of a format lie between codes: 1 for neighbours, signed; NaN where either is NaN.

    Infinity is one step beyond the largest finite value; both zeros are one value.
    """
    a, b = _ranks(got, fmt), _ranks(expected, fmt)
    distance = np.where(a >= b, a - b, b - a).astype(np.float64)
    distance = np.where(a >= b, distance, -distance)
    distance[is_nan(got, fmt) | is_nan(expected, fmt)] = np.nan
    return np.asarray(distance)


def _ranks(codes: Array, fmt: Format) -> Array:
    """Return the place of each code's value among all values of its format, as uint64."""
    if fmt.bits <= 16:
        return np.asarray(_rank_table(fmt)[codes & codes.dtype.type(fmt.mask)])
    wide = codes.astype(np.uint64)
    if fmt.kind == "int":
        return wide ^ np.uint64(fmt.sign_bit) if fmt.is_signed else wide
    magnitude = wide & np.uint64(fmt.magnitude_mask)
    middle = np.uint64(fmt.sign_bit)
    return np.where(wide & middle, middle - magnitude, middle + magnitude)


@cache
def _rank_table(fmt: Format) -> Array:
    values = decode(np.arange(1 << fmt.bits, dtype=f"u{fmt.itemsize}"), fmt)
    return np.searchsorted(np.unique(values), values).astype(np.uint64)


# --------------------------------------------------------------------------- kind


def ties(codes: Array, src: Format, dst: Format, policy: Policy) -> Array:
    """Mark the inputs that lie in the middle between two values of a destination."""
    down, up = (_errors(codes, src, dst, policy, r) for r in (Rounding.TOWARD_ZERO, Rounding.AWAY_FROM_ZERO))
    between = (down == -up) & (down != 0) & np.isfinite(down)
    return np.asarray(between | (np.abs(decode(codes, src)) == first_tie_beyond(dst)))


def first_tie_beyond(dst: Format) -> float:
    """Return the middle between the largest finite value and where the next one would be; NaN for 64-bit formats."""
    if dst.bits == 64:
        return math.nan
    return float(abs(value_of(dst.max_code, dst)) + last_step(dst) / 2)


def _errors(codes: Array, src: Format, dst: Format, policy: Policy, rounding: Rounding) -> Array:
    losses = Losses(src, dst, Policy(rounding, overflows(dst)[0], policy.nan))
    blocks = [losses.marks(block.view(array_dtype(src))).error for block in blocks_of(codes)]
    return np.concatenate(blocks) if blocks else np.zeros(0)


def blocks_of(codes: Array) -> list[Array]:
    """Cut an array into pieces."""
    return [codes[start : start + BLOCK] for start in range(0, len(codes), BLOCK)]


def kinds_of(golden: Vectors, got: Array, where: Array) -> list[Kind]:
    """Return the kind of each mismatch.

    Parameters
    ----------
    golden : Vectors
    got : ndarray of unsigned integers
        A code for each vector.
    where : ndarray of int
        Indices of the mismatches.
    """
    src, dst = golden.src, golden.dst
    inputs, expected, found = golden.inputs[where], golden.outputs[where], got[where]
    before, right, wrong = decode(inputs, src), decode(expected, dst), decode(found, dst)
    flags = golden.flags[where]
    smallest = np.ldexp(1.0, dst.min_exponent) if dst.kind == "float" else 0.0
    with np.errstate(invalid="ignore"):
        tests = (
            (Kind.OVERFLOW, (flags & Flags.OVERFLOW != 0) | np.isinf(before) | np.isinf(right)),
            (Kind.NAN, np.isnan(before) | np.isnan(right)),
            (Kind.ZERO_SIGN, (right == 0) & (wrong == 0)),
            (Kind.TIE, ties(inputs, src, dst, golden.policy)),
            (Kind.SUBNORMAL, _are_subnormal(inputs, src) | ((before != 0) & (np.abs(before) < smallest))),
            (Kind.INEXACT, flags & Flags.INEXACT != 0),
        )
    kinds = np.select([mask for _, mask in tests], range(len(tests)), len(tests))
    names = [*(kind for kind, _ in tests), Kind.EXACT]
    return [names[index] for index in kinds]


def _are_subnormal(codes: Array, fmt: Format) -> Array:
    if fmt.kind != "float" or fmt.is_tapered:
        return np.zeros(len(codes), bool)
    dtype = codes.dtype.type
    return np.asarray((codes & dtype(fmt.exponent_mask) == 0) & (codes & dtype(fmt.magnitude_mask) != 0))
