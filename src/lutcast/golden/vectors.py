"""Vectors: inputs of a cast, the exact results, and a flag for what happened."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

import numpy as np

from ..arrays import Array, as_array
from ..casting import cast
from ..errors import UnsupportedCast
from ..formats import Format
from ..losses import Losses
from ..names import array_dtype, get_format
from ..policy import Policy, resolve
from .directed import directed_inputs
from .random_bits import GENERATOR, SEED, random_inputs

LEVELS = (1, 2)
BLOCK = 1 << 16  # elements whose flags are found at a time


class Flags(IntFlag):
    """What happened to a value; the bits are those of TestFloat, and one more.

    ``INEXACT``: the value changed, NaN apart. ``UNDERFLOW``: it lies below the smallest normal
    value of a float destination, and changed. ``OVERFLOW``: it is finite and, once rounded, beyond
    the largest finite value. ``INVALID``: NaN or infinity into an integer, a signalling NaN, a
    negative value into float8_e8m0fnu. ``SATURATED``: it was clamped.
    """

    INEXACT = 1
    UNDERFLOW = 2
    OVERFLOW = 4
    INVALID = 16
    SATURATED = 32


@dataclass(frozen=True, eq=False)
class Vectors:
    """Inputs of one cast with their results.

    Attributes
    ----------
    src, dst : Format
    policy : Policy
    level : int
        0 for inputs that were given.
    inputs, outputs : ndarray of unsigned integers
        Codes. Unless they were given the inputs ascend, and none comes twice.
    flags : ndarray of uint8
        Bits of `Flags`.
    generator : str or None
        What made the random inputs of level 2.
    seed : int or None
    """

    src: Format
    dst: Format
    policy: Policy
    level: int
    inputs: Array
    outputs: Array
    flags: Array
    generator: str | None = None
    seed: int | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def is_complete(self) -> bool:
        """Whether every code of the source is there, ascending."""
        return self.level > 0 and len(self.inputs) == 1 << self.src.bits


def vectors(
    src: object,
    dst: object,
    *,
    rounding: object = None,
    overflow: object = None,
    nan: object = "keep",
    level: int = 1,
    inputs: object = None,
) -> Vectors:
    """Return the vectors of a cast.

    Of a source of 16 bits or fewer these are all codes. Of a wider one they are directed: every
    value and every midpoint of the destination, its borders, and the special values of the source,
    each with its neighbours one step of the source below and above. Of a destination of 32 or 64
    bits the ends and the middle of every binade stand for its values.

    Parameters
    ----------
    src, dst : format
        Not complex.
    rounding, overflow, nan
        As for `lutcast.cast`.
    level : {1, 2}
        2 adds 65,536 random codes of a wider source, by a fixed generator.
    inputs : array_like, optional
        Take these instead, in their order: values, or codes in unsigned integers.

    Returns
    -------
    Vectors

    Raises
    ------
    TypeError
        No such format; UnsupportedCast for a complex one.
    ValueError
        A bad policy or level.

    Examples
    --------
    >>> from lutcast.golden import vectors
    >>> v = vectors("float16", "float8_e4m3fn", overflow="ieee")
    >>> len(v), hex(v.outputs[0x5F00]), int(v.flags[0x5F00])
    (65536, '0x7e', 0)
    >>> len(vectors("float32", "float8_e4m3fn"))
    1558
    >>> [hex(code) for code in vectors("float32", "float8_e4m3fn", inputs=[1, 1000]).outputs]
    ['0x38', '0x7e']
    """
    source, destination = _formats(src, dst)
    policy = resolve(source, destination, rounding, overflow, nan)
    codes = _inputs(source, destination, level) if inputs is None else _given(inputs, source)
    outputs = np.empty(len(codes), f"u{destination.itemsize}")
    flags = np.empty(len(codes), np.uint8)
    losses = Losses(source, destination, policy)
    for start in range(0, len(codes), BLOCK):
        part = slice(start, start + BLOCK)
        outputs[part], flags[part] = _cast(codes[part], losses)
    is_random = level == 2 and not source.is_narrow and inputs is None
    return Vectors(
        source,
        destination,
        policy,
        level if inputs is None else 0,
        codes,
        outputs,
        flags,
        generator=GENERATOR if is_random else None,
        seed=SEED if is_random else None,
    )


def count(src: object, dst: object, level: int = 1) -> int:
    """Return how many vectors a cast has, whatever the policy.

    Examples
    --------
    >>> from lutcast.golden import count
    >>> count("bfloat16", "int8")
    65536
    """
    return len(_inputs(*_formats(src, dst), level))


def _formats(src: object, dst: object) -> tuple[Format, Format]:
    source, destination = get_format(src, "src"), get_format(dst, "dst")
    for argument, fmt in (("src", source), ("dst", destination)):
        if fmt.part:
            raise UnsupportedCast(f"{argument}: {fmt.name} is complex; its parts are cast as {fmt.part.name}")
    return source, destination


def _inputs(src: Format, dst: Format, level: int) -> Array:
    if level not in LEVELS:
        raise ValueError(f"level: {level!r} is not one of {', '.join(map(str, LEVELS))}")
    if src.is_narrow:
        return np.arange(1 << src.bits, dtype=f"u{src.itemsize}")
    inputs = directed_inputs(src, dst)
    return inputs if level == 1 else np.union1d(inputs, random_inputs(src))


def _given(inputs: object, src: Format) -> Array:
    array, fmt = as_array(inputs, src if isinstance(inputs, np.ndarray) else None, "inputs")
    values = array if fmt is src else cast(array, src)
    return np.ascontiguousarray(values).reshape(-1).view(f"u{src.itemsize}")


def _cast(codes: Array, losses: Losses) -> tuple[Array, Array]:
    src, dst = losses.src, losses.dst
    marks = losses.marks(codes.view(array_dtype(src)))
    outputs = marks.result.view(f"u{dst.itemsize}")
    flags = np.zeros(len(codes), np.uint8)
    if src is dst:  # a copy
        return outputs, flags
    before = marks.before
    is_tiny = (before != 0) & (np.abs(before) < np.ldexp(1.0, dst.min_exponent)) if dst.kind == "float" else False
    for flag, where in (
        (Flags.INEXACT, marks.inexact),
        (Flags.UNDERFLOW, marks.inexact & is_tiny),
        (Flags.OVERFLOW, marks.beyond),
        (Flags.INVALID, _is_invalid(codes, before, src, dst)),
        (Flags.SATURATED, marks.saturated & (dst.kind != "bool")),
    ):
        flags[where] |= np.uint8(flag)
    return outputs, flags


def _is_invalid(codes: Array, before: Array, src: Format, dst: Format) -> Array:
    is_nan = np.isnan(before)
    invalid = is_nan & (codes & src.quiet_bit == 0) if src.quiet_bit else np.zeros(len(codes), bool)
    if dst.kind == "int":
        invalid |= is_nan | np.isinf(before)
    if not dst.has_zero:
        invalid |= before < 0
    return np.asarray(invalid)
