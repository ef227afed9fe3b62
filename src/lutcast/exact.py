"""The definition: one code of any format to one code of any other, in Python integers.

Every table, every kernel and every test oracle of this library is measured against this file.
A cast is three steps: decode the code to a number, round the number to the grid of the
destination, encode what came out. Nothing here is fast and nothing here is approximate.

    decode   code -> Number, whose magnitude is significand * 2**exponent
    round    Number -> Number on the destination's grid, exponent range unbounded above
    encode   Number -> code, where overflow, infinity, NaN and the sign of zero are settled
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from .formats import Format, hifloat8_fraction_bits
from .policy import Overflow, Policy, Rounding


class Number(NamedTuple):
    """A decoded value: finite, infinite or NaN.

    The magnitude of a finite number is ``significand * 2**exponent``. For a NaN the same
    product is its payload, seen as a binary fraction below 1, the quiet bit first.
    """

    negative: bool
    significand: int
    exponent: int = 0
    kind: Literal["finite", "infinite", "nan"] = "finite"


def cast_code(code: int, src: Format, dst: Format, policy: Policy) -> int:
    """Cast one code.

    Parameters
    ----------
    code : int
        A code of ``src``; only its low ``src.bits`` bits are read.
    src, dst : Format
    policy : Policy
        A complete policy, as `lutcast.policy.resolve` makes it.

    Returns
    -------
    int
        The code of ``dst``.

    Examples
    --------
    >>> from lutcast.exact import cast_code
    >>> from lutcast.formats import FLOAT32, FLOAT8_E4M3FN
    >>> from lutcast.policy import resolve
    >>> policy = resolve(FLOAT32, FLOAT8_E4M3FN, None, None, "keep")
    >>> hex(cast_code(0x3F880001, FLOAT32, FLOAT8_E4M3FN, policy))
    '0x39'
    """
    code &= src.mask
    if src is dst:
        return code
    if src.part or dst.part:
        return _cast_complex(code, src, dst, policy)
    number = decode(code, src)
    if number.kind == "nan":
        return encode_nan(number, dst, policy)
    if dst.kind == "bool":
        return int(number.kind == "infinite" or number.significand != 0)
    if policy.rounding is Rounding.HYBRID:
        return encode(round_hybrid(number, code, src, dst), dst, policy)
    if not dst.has_zero and is_below_range(number, dst):
        return encode_below_range(number, dst, policy)
    return encode(round_to_grid(number, dst, policy.rounding), dst, policy)


# --------------------------------------------------------------------------- decode


def decode(code: int, src: Format) -> Number:
    """Decode one code of a format that is not complex."""
    if src.kind in ("int", "bool"):
        value = code - (1 << src.bits) if code > src.max_integer else code
        return Number(value < 0, abs(value))
    negative = bool(code & src.sign_bit)
    magnitude = code & src.magnitude_mask
    if src.nan == "ieee" and magnitude > src.exponent_mask:
        return Number(negative, magnitude - src.exponent_mask, -src.fraction_bits, "nan")
    if src.nan == "all_ones" and magnitude == src.magnitude_mask:
        return Number(negative and src.nan_is_signed, 0, 0, "nan")
    if src.nan == "negative_zero" and code == src.sign_bit:
        return Number(False, 0, 0, "nan")
    if magnitude == src.infinity_code:
        return Number(negative, 0, 0, "infinite")
    if src.is_tapered:
        return Number(negative, *_decode_hifloat8(magnitude))
    exponent, fraction = divmod(magnitude, 1 << src.fraction_bits)
    if exponent > 0 or not src.has_zero:
        fraction += 1 << src.fraction_bits
    return Number(negative, fraction, max(exponent - src.bias, src.min_exponent) - src.fraction_bits)


def _decode_hifloat8(magnitude: int) -> tuple[int, int]:
    """Return significand and exponent of a finite hifloat8 from the low seven bits.

    A prefix gives the number of exponent bits: 0000 none and subnormal, 0001 none, 001 one,
    01 two, 10 three, 11 four. The exponent is sign and magnitude, its leading 1 implicit.
    """
    if magnitude < 0b0001000:
        return int(magnitude > 0), magnitude - 23
    if magnitude < 0b0010000:
        return 8 + (magnitude & 7), -3
    exponent_bits = next(n for n, prefix in ((4, 0x60), (3, 0x40), (2, 0x20), (1, 0x10)) if magnitude >= prefix)
    fraction_bits = 3 if exponent_bits <= 2 else 5 - exponent_bits
    field, fraction = divmod(magnitude & ((1 << (exponent_bits + fraction_bits)) - 1), 1 << fraction_bits)
    sign_bit = 1 << (exponent_bits - 1)
    exponent = sign_bit | (field & (sign_bit - 1))
    if field & sign_bit:
        exponent = -exponent
    return (1 << fraction_bits) + fraction, exponent - fraction_bits


# --------------------------------------------------------------------------- round


def round_to_grid(number: Number, dst: Format, rounding: Rounding) -> Number:
    """Round a finite number to a neighbour on the grid of ``dst``, whose exponent is unbounded above."""
    if number.kind == "infinite" or number.significand == 0:
        return number
    quantum = dst.quantum_exponent(number.significand.bit_length() - 1 + number.exponent)
    return round_to_multiple(number, quantum, rounding)


def round_to_multiple(number: Number, quantum: int, rounding: Rounding) -> Number:
    """Round a finite number to a neighbouring multiple of ``2**quantum``.

    The last bit of the multiple is the last bit of the significand field. Where the field has
    no bits every multiple in reach is 1, hence odd, and a tie moves up to 2 (IEEE 754-2019 4.3.1).
    """
    shift = quantum - number.exponent
    if shift <= 0:
        return number._replace(significand=number.significand << -shift, exponent=quantum)
    lower, remainder = divmod(number.significand, 1 << shift)
    if remainder == 0:
        up = False
    else:
        half = 1 << (shift - 1)
        is_odd = lower % 2 == 1
        match rounding:
            case Rounding.TIES_TO_EVEN:
                up = remainder > half or (remainder == half and is_odd)
            case Rounding.TIES_TO_AWAY:
                up = remainder >= half
            case Rounding.TOWARD_ZERO:
                up = False
            case Rounding.TOWARD_NEGATIVE:
                up = number.negative
            case Rounding.TOWARD_POSITIVE:
                up = not number.negative
            case Rounding.TO_ODD:
                up = not is_odd
            case Rounding.AWAY_FROM_ZERO:
                up = True
            case _:
                raise ValueError(f"{rounding} does not round to a multiple")
    return number._replace(significand=lower + up, exponent=quantum)


def round_hybrid(number: Number, code: int, src: Format, dst: Format) -> Number:
    """Round to hifloat8 as CAST_HYBRID does: low bits of the source are the threshold.

    ``fraction`` is the head of what does not fit, ``threshold`` comes from the low bits of the
    source's code; the magnitude moves up when ``fraction >= threshold``.
    """
    if number.kind == "infinite" or number.significand == 0:
        return number
    exponent = number.significand.bit_length() - 1 + number.exponent
    if abs(exponent) < 4 or exponent < -23 or in_units(number, 13) >= 5:  # 5 * 2**13 = 40960
        return round_to_grid(number, dst, Rounding.TIES_TO_AWAY)
    width, threshold = (2, code << 1 & 2 | 1) if src.bits == 16 else (14, code & 0x3FFF)
    significand = number.significand << (src.fraction_bits + 1 - number.significand.bit_length())
    dropped_bits = src.fraction_bits - exponent + dst.quantum_exponent(exponent)
    lower, dropped = divmod(significand, 1 << dropped_bits)
    fraction = dropped >> (dropped_bits - width)
    return number._replace(significand=lower + (fraction >= threshold), exponent=dst.quantum_exponent(exponent))


# --------------------------------------------------------------------------- encode


def encode(number: Number, dst: Format, policy: Policy) -> int:
    """Encode an infinity or a number that is on the grid of ``dst``."""
    if dst.kind == "int":
        return _encode_integer(number, dst, policy)
    if number.kind == "infinite" or is_beyond_max(number, dst):
        return encode_overflow(number, dst, policy)
    sign = dst.sign_bit if number.negative else 0
    if number.significand == 0:
        return sign if dst.has_negative_zero else 0
    if dst.is_tapered:
        return sign | _encode_hifloat8(number)
    exponent = number.significand.bit_length() - 1 + number.exponent
    significand = in_units(number, dst.quantum_exponent(exponent))
    if not dst.has_zero:
        return exponent + dst.bias
    # The leading bit of a normal number carries into the exponent field and completes it.
    field = max(exponent, dst.min_exponent) + dst.bias - 1
    return sign | ((field << dst.fraction_bits) + significand)


def _encode_integer(number: Number, dst: Format, policy: Policy) -> int:
    if number.kind == "infinite":
        return (dst.min_integer if number.negative else dst.max_integer) & dst.mask
    value = in_units(number, 0)
    value = -value if number.negative else value
    if policy.overflow is Overflow.SATURATE:
        value = min(max(value, dst.min_integer), dst.max_integer)
    return value & dst.mask


def _encode_hifloat8(number: Number) -> int:
    exponent = number.significand.bit_length() - 1 + number.exponent
    if exponent < -15:
        return exponent + 23
    fraction_bits = hifloat8_fraction_bits(exponent)
    fraction = in_units(number, exponent - fraction_bits) - (1 << fraction_bits)
    exponent_bits = abs(exponent).bit_length()
    if exponent_bits == 0:
        return 0b0001000 | fraction
    prefix = {1: 0x10, 2: 0x20, 3: 0x40, 4: 0x60}[exponent_bits]
    sign_bit = 1 << (exponent_bits - 1)
    field = (sign_bit if exponent < 0 else 0) | (abs(exponent) - sign_bit)
    return prefix | field << fraction_bits | fraction


def in_units(number: Number, exponent: int) -> int:
    """Return the magnitude of a finite number in whole units of ``2**exponent``."""
    shift = number.exponent - exponent
    return number.significand << shift if shift >= 0 else number.significand >> -shift


def encode_overflow(number: Number, dst: Format, policy: Policy) -> int:
    """Encode an infinity or a finite number beyond the largest finite value (IEEE 754-2019 7.4)."""
    sign = dst.sign_bit if number.negative else 0
    becomes_infinite = policy.overflow is Overflow.IEEE and (
        number.kind == "infinite"
        or {
            Rounding.TOWARD_ZERO: False,
            Rounding.TO_ODD: False,
            Rounding.TOWARD_NEGATIVE: number.negative,
            Rounding.TOWARD_POSITIVE: not number.negative,
        }.get(policy.rounding, True)
    )
    if not becomes_infinite:
        return sign | dst.max_code
    if dst.infinity_code is not None:
        return sign | dst.infinity_code
    if dst.nan_code is not None:
        return nan_of_sign(dst, number.negative)
    return sign | dst.max_code


def encode_nan(number: Number, dst: Format, policy: Policy) -> int:
    """Encode a NaN: sign and leading payload bits kept, quiet (IEEE 754-2019 6.2.3)."""
    if policy.nan == "zero":
        return 0
    if dst.kind == "bool":
        return 1
    if dst.nan_code is None:
        return 0
    payload = 0
    if dst.quiet_bit:
        payload = number.significand << dst.fraction_bits >> -number.exponent
    return nan_of_sign(dst, number.negative) | payload


def nan_of_sign(dst: Format, negative: bool) -> int:
    """Return the canonical quiet NaN, with a sign where NaN has one."""
    assert dst.nan_code is not None
    return dst.nan_code | (dst.sign_bit if negative and dst.nan_is_signed else 0)


def is_beyond_max(number: Number, dst: Format) -> bool:
    """Whether the magnitude of a finite number exceeds the largest finite value."""
    largest = decode(dst.max_code, dst)
    shift = number.exponent - largest.exponent
    return number.significand << max(shift, 0) > largest.significand << max(-shift, 0)


def is_below_range(number: Number, dst: Format) -> bool:
    """Whether a format without zero and sign cannot reach down to a number, before any rounding."""
    if number.significand == 0 and number.kind == "finite":
        return True
    exponent = number.significand.bit_length() - 1 + number.exponent
    return number.negative or (number.kind == "finite" and exponent < dst.min_exponent)


def encode_below_range(number: Number, dst: Format, policy: Policy) -> int:
    """Encode what `is_below_range`: negative is NaN; zero and tiny saturate to the smallest value."""
    is_zero = number.kind == "finite" and number.significand == 0
    if policy.overflow is Overflow.SATURATE and (is_zero or not number.negative):
        return 0
    return nan_of_sign(dst, False)


# --------------------------------------------------------------------------- the rest


def _cast_complex(code: int, src: Format, dst: Format, policy: Policy) -> int:
    """Cast from or to a complex format; the real part is in the low bits."""
    real, imaginary, part = code, 0, src
    if src.part:
        part = src.part
        real, imaginary = code & part.mask, code >> part.bits
    if dst.kind == "bool":
        return cast_code(real, part, dst, policy) | cast_code(imaginary, part, dst, policy)
    if not dst.part:
        return cast_code(real, part, dst, policy)
    high = cast_code(imaginary, part, dst.part, policy) if src.part else 0
    return cast_code(real, part, dst.part, policy) | high << dst.part.bits


def round_to_integral_code(code: int, fmt: Format, rounding: Rounding) -> int:
    """Round one code of a float to an integral value of the same format (IEEE 754-2019 5.9).

    The sign of zero and infinity are kept; a NaN becomes quiet.
    """
    number = decode(code, fmt)
    policy = Policy(rounding, Overflow.IEEE)
    if number.kind == "nan":
        return encode_nan(number, fmt, policy)
    if number.kind == "finite" and number.exponent < 0:
        number = round_to_multiple(number, 0, rounding)
    return encode(number, fmt, policy)
