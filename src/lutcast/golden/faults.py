"""Faults that kernels and circuits are known to have: what each would make of the same inputs.

Each family yields a description and the codes that a device with that fault would give. A family
yields nothing where the fault cannot occur between these formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array
from ..casting import cast
from ..errors import UnsupportedCast
from ..formats import ALL, BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, Format
from ..names import array_dtype
from ..policy import Overflow, Policy, Rounding, overflows, resolve
from .comparison import decode, ties
from .directed import last_step
from .values import value_of
from .vectors import Flags, Vectors

Results = Iterator[tuple[str, Array]]


@dataclass(frozen=True, eq=False)
class Setting:
    """The cast that a device should have done, and what several faults ask about it."""

    golden: Vectors

    @property
    def src(self) -> Format:
        """The source."""
        return self.golden.src

    @property
    def dst(self) -> Format:
        """The destination."""
        return self.golden.dst

    @property
    def policy(self) -> Policy:
        """The policy."""
        return self.golden.policy

    @property
    def expected(self) -> Array:
        """The right results."""
        return self.golden.outputs

    @cached_property
    def before(self) -> Array:
        """The inputs as float64."""
        return decode(self.golden.inputs, self.src)

    @cached_property
    def after(self) -> Array:
        """The right results as float64."""
        return decode(self.expected, self.dst)

    @cached_property
    def down(self) -> Array:
        """The neighbours toward zero."""
        return self.recast(rounding=Rounding.TOWARD_ZERO)

    @cached_property
    def up(self) -> Array:
        """The neighbours away from zero."""
        return self.recast(rounding=Rounding.AWAY_FROM_ZERO)

    @cached_property
    def are_ties(self) -> Array:
        """Where inputs lie in the middle."""
        return ties(self.golden.inputs, self.src, self.dst, self.policy)

    @cached_property
    def is_negative(self) -> Array:
        """Where inputs have a sign."""
        return np.signbit(self.before)

    def recast(self, *, rounding: Rounding | None = None, overflow: Overflow | None = None) -> Array:
        """Return the results under another policy."""
        policy = resolve(
            self.src, self.dst, rounding or self.policy.rounding, overflow or self.policy.overflow, self.policy.nan
        )
        return cast_codes(self.golden.inputs, self.src, self.dst, policy)

    def code(self, code: int | None) -> Any:
        """Return a code of the destination as a scalar of the results' dtype."""
        return self.expected.dtype.type(code)

    def signed(self, magnitude: int) -> Array:
        """Return a code with the signs of the inputs."""
        signs = np.where(self.is_negative, self.code(self.dst.sign_bit), self.code(0))
        return np.asarray(signs | self.code(magnitude))


def cast_codes(codes: Array, src: Format, dst: Format, policy: Policy | None = None) -> Array:
    """Cast codes to codes."""
    options = policy._asdict() if policy else {}
    results: Array = cast(codes.view(array_dtype(src)), dst, src=src, **options)
    return np.asarray(results.view(f"u{dst.itemsize}"))


# --------------------------------------------------------------------------- policy


def other_policies(s: Setting) -> Results:
    """Another rounding, another overflow rule, or both."""
    for overflow in overflows(s.dst):
        for rounding in Rounding:
            if (rounding, overflow) == s.policy[:2]:
                continue
            try:
                results = s.recast(rounding=rounding, overflow=overflow)
            except UnsupportedCast:
                continue
            parts = [f"rounding {rounding}"] * (rounding is not s.policy.rounding)
            parts += [f"overflow {overflow}"] * (overflow is not s.policy.overflow)
            yield " and ".join(parts), results


def other_ties(s: Setting) -> Results:
    """Ties in a direction that no rounding has; what lies below the half not looked at."""
    if s.dst.kind == "bool" or s.policy.rounding not in (Rounding.TIES_TO_EVEN, Rounding.TIES_TO_AWAY):
        return
    for text, goes_up in (
        ("ties toward positive infinity", ~s.is_negative),
        ("ties toward negative infinity", s.is_negative),
        ("ties toward zero", np.zeros(len(s.expected), bool)),
    ):
        yield text, np.where(s.are_ties, np.where(goes_up, s.up, s.down), s.expected)
    is_even = s.down & s.code(1) == 0
    if s.policy.rounding is Rounding.TIES_TO_EVEN:
        has_sticky = (s.expected == s.up) & is_even & (s.down != s.up) & np.isfinite(s.after)
        yield "sticky bits ignored: a half and more taken for a tie", np.where(has_sticky, s.down, s.expected)


# --------------------------------------------------------------------------- another way


def intermediates(s: Setting) -> Results:
    """A first cast to a format between the two: two roundings."""
    for middle in (FLOAT32, BFLOAT16, FLOAT16, FLOAT64):
        if middle not in (s.src, s.dst):
            first = cast_codes(s.golden.inputs, s.src, middle)
            yield f"through {middle.name} first", cast_codes(first, middle, s.dst, s.policy)
    if s.dst.kind == "int" and s.src.kind == "float":
        for middle in (INT32, INT64):
            if middle.bits > s.dst.bits:
                first = cast_codes(
                    s.golden.inputs, s.src, middle, Policy(s.policy.rounding, Overflow.SATURATE, s.policy.nan)
                )
                low = cast_codes(first, middle, s.dst, Policy(s.policy.rounding, Overflow.WRAP, s.policy.nan))
                yield f"through {middle.name} first, then its low bits", low
                # What x86 gives for everything out of range: the most negative integer.
                last, whole = 2.0 ** (middle.bits - 1), np.trunc(s.before)
                with np.errstate(invalid="ignore"):
                    is_out = ~((whole < last) & (whole >= -last))
                yield (
                    f"through {middle.name} first, its smallest where out of range, then its low bits",
                    np.where(is_out, s.code(0), low),
                )


def other_formats(s: Setting) -> Results:
    """The source read, or the result written, as another format as wide."""
    for fmt in ALL:
        is_alike = (fmt.bits, fmt.kind) == (s.dst.bits, s.dst.kind) and s.policy.overflow in overflows(fmt)
        if is_alike and fmt is not s.dst:
            yield f"the result is {fmt.name}", cast_codes(s.golden.inputs, s.src, fmt, _plain(s.policy))
    for fmt in ALL:
        if fmt.bits == s.src.bits and fmt is not s.src and fmt.part is None and fmt.kind != "bool":
            yield f"the source is taken for {fmt.name}", cast_codes(s.golden.inputs, fmt, s.dst, _plain(s.policy))


def _plain(policy: Policy) -> Policy:
    """Return a policy that every pair of formats has."""
    return policy._replace(rounding=Rounding.TIES_TO_AWAY) if policy.rounding is Rounding.HYBRID else policy


# --------------------------------------------------------------------------- small values


def flushed_subnormals(s: Setting) -> Results:
    """Subnormals of the source or of the destination taken for zero."""
    inputs = _smallest_normal(s.src)
    outputs = _smallest_normal(s.dst)
    is_small_in = (np.abs(s.before) < inputs) & (s.before != 0)
    is_small_out = (np.abs(s.after) < outputs) & (s.after != 0)
    is_tiny = (np.abs(s.before) < outputs) & (s.before != 0)
    zero = s.signed(0) if s.dst.has_negative_zero else np.zeros_like(s.expected)
    for text, where in (
        ("subnormal inputs flushed to zero", is_small_in),
        ("subnormal results flushed to zero", is_small_out),
        ("values below the smallest normal flushed to zero before rounding", is_tiny),
        ("subnormal inputs and results flushed to zero", is_small_in | is_small_out),
    ):
        if where.any():
            yield text, np.where(where, zero, s.expected)
            if zero.any():
                yield f"{text}, without sign", np.where(where, s.code(0), s.expected)


def _smallest_normal(fmt: Format) -> float:
    return float(np.ldexp(1.0, fmt.min_exponent)) if fmt.kind == "float" and fmt.has_zero else 0.0


# --------------------------------------------------------------------------- special values


def special_values(s: Setting) -> Results:
    """NaN, infinity and zero made into something else."""
    nan, infinite, zero = np.isnan(s.before), np.isinf(s.before), s.before == 0
    out = _codes_of_interest(s)
    for what, where in (("NaN", nan), ("infinity", infinite)):
        if where.any():
            for text, codes in out.items():
                yield f"{what} becomes {text}", np.where(where, codes, s.expected)
    if s.dst.quiet_bit and s.src.quiet_bit and nan.any():
        yield from _payloads(s, nan)
    overflowed = s.golden.flags & Flags.OVERFLOW != 0
    if s.dst.kind == "float" and overflowed.any():
        for text, codes in out.items():
            yield f"overflow becomes {text}", np.where(overflowed, codes, s.expected)
            yield f"overflow and infinity become {text}", np.where(overflowed | infinite, codes, s.expected)
    if s.dst.has_negative_zero:
        yield "sign of zero lost", np.where(s.after == 0, s.code(0), s.expected)
        yield "sign of an input of zero lost", np.where(zero, s.code(0), s.expected)
        yield "sign of every result lost", s.expected & s.code(s.dst.magnitude_mask)


def _codes_of_interest(s: Setting) -> dict[str, Array]:
    """Return what a special value may become, by name."""
    dst, any_sign = s.dst, np.zeros_like(s.expected)
    codes = {"0": any_sign}
    if dst.kind == "int":
        largest, smallest = s.code(dst.max_integer), s.code(dst.min_integer & dst.mask)
        return codes | {
            "the largest integer": any_sign + largest,
            "the smallest integer": any_sign + smallest,
            "all ones": any_sign + s.code(dst.mask),
        }
    if dst.has_negative_zero:
        codes["0 of its sign"] = s.signed(0)
        codes["-0"] = any_sign | s.code(dst.sign_bit)
    codes["the largest finite value"] = any_sign + s.code(dst.max_code)
    codes["the largest finite value of its sign"] = s.signed(dst.max_code)
    if dst.infinity_code is not None:
        codes["infinity"] = any_sign + s.code(dst.infinity_code)
        codes["infinity of its sign"] = s.signed(dst.infinity_code)
    if dst.nan_code is not None:
        codes["NaN without sign"] = any_sign + s.code(dst.nan_code)
        codes["NaN of its sign"] = s.signed(dst.nan_code) if dst.nan_is_signed else codes["NaN without sign"]
        if dst.nan_is_signed:
            codes["NaN with the sign bit"] = any_sign + s.code(dst.nan_code | dst.sign_bit)
            codes["NaN, all bits ones"] = s.signed(dst.magnitude_mask)
    codes["all ones"] = any_sign + s.code(dst.mask)
    return codes


def _payloads(s: Setting, nan: Array) -> Results:
    """Yield NaNs whose sign or payload is treated otherwise."""
    quiet = s.code(s.dst.quiet_bit)
    unsigned = s.expected & s.code(s.dst.magnitude_mask)
    yield "sign of NaN lost", np.where(nan, unsigned, s.expected)
    wide, narrow = s.src.fraction_bits, s.dst.fraction_bits
    payload = s.golden.inputs & s.golden.inputs.dtype.type((1 << wide) - 1)
    if wide > narrow:
        kept = (payload >> (wide - narrow)).astype(s.expected.dtype)
    else:
        kept = payload.astype(s.expected.dtype) << (narrow - wide)
    signalling = s.signed(s.dst.exponent_mask) | kept
    yield "signalling NaN not made quiet", np.where(nan, signalling, s.expected)
    filled = np.where(kept == 0, signalling | s.code(1), signalling)
    yield "signalling NaN not made quiet, an empty payload filled", np.where(nan, filled, s.expected)
    filled = np.where(kept == 0, signalling | quiet, signalling)
    yield "NaN made quiet only where its payload would be empty", np.where(nan, filled, s.expected)


# --------------------------------------------------------------------------- overflow


def overflow_borders(s: Setting) -> Results:
    """The overflow threshold taken a step too early or too late."""
    if s.dst.kind != "float" or s.policy.overflow is not Overflow.IEEE:
        return
    largest, step = float(value_of(s.dst.max_code, s.dst)), float(last_step(s.dst))
    magnitude, finite = np.abs(s.before), np.isfinite(s.before)
    beyond = s.signed(s.dst.infinity_code if s.dst.infinity_code is not None else s.dst.nan_code or s.dst.max_code)
    is_early = finite & (magnitude > largest)
    yield "overflow decided before rounding: from the largest finite value on", np.where(is_early, beyond, s.expected)
    is_late = finite & (magnitude > largest) & (magnitude < largest + step)
    yield (
        "overflow a step too late: clamped up to where the next value would be",
        np.where(is_late, s.signed(s.dst.max_code), s.expected),
    )


# --------------------------------------------------------------------------- fields


def exponent_fields(s: Setting) -> Results:
    """A bias that is off by one; a carry out of the significand lost."""
    dst = s.dst
    if dst.kind != "float":
        return
    if not (s.src.kind == "int" and s.src.bits == 64):
        for text, factor in (("half", 0.5), ("twice", 2.0)):
            with np.errstate(over="ignore", invalid="ignore"):
                scaled = (s.before * factor).view(np.uint64)
            yield f"exponent bias off by one: {text} the value", cast_codes(scaled, FLOAT64, dst, _plain(s.policy))
    if dst.is_tapered or dst.fraction_bits == 0:
        return
    fraction = s.code((1 << dst.fraction_bits) - 1)
    has_carried = (s.expected & fraction == 0) & (s.down & fraction == fraction) & (s.down != s.expected)
    has_carried &= np.isfinite(s.after)
    lost = s.expected - s.code(1 << dst.fraction_bits)
    yield "carry into the exponent lost: half the value below powers of two", np.where(has_carried, lost, s.expected)
    yield "significand clamped where it should carry", np.where(has_carried, s.down, s.expected)


# --------------------------------------------------------------------------- order


def orders(s: Setting) -> Results:
    """Codes, nibbles or bytes in another order."""
    expected, dst = s.expected, s.dst
    if dst.bits in (2, 4) and dst.kind != "bool":
        per_byte = 8 // dst.bits
        whole = len(expected) // per_byte * per_byte
        swapped = expected.copy()
        swapped[:whole] = expected[:whole].reshape(-1, per_byte)[:, ::-1].reshape(-1)
        yield f"the {per_byte} codes of each byte in reverse order", swapped
    if dst.bits == 8 and len(expected):
        yield "nibbles swapped", (expected >> 4) | (expected << 4)
    if dst.itemsize > 1:
        yield "bytes of each element swapped", expected.byteswap()
    for steps in (1, 2):
        if len(expected) > steps:
            late = f"{steps} vector{'s' * (steps > 1)}"
            yield f"results {late} late", np.concatenate([expected[:steps], expected[:-steps]])
            yield f"results {late} early", np.concatenate([expected[steps:], expected[-steps:]])


FAMILIES: tuple[Callable[[Setting], Results], ...] = (
    other_policies,
    other_ties,
    intermediates,
    flushed_subnormals,
    special_values,
    overflow_borders,
    exponent_fields,
    orders,
    other_formats,
)
