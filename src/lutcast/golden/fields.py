"""The fields of a code: which bits mean what."""

from __future__ import annotations

from typing import NamedTuple

from .. import exact
from ..formats import Format


class Field(NamedTuple):
    """Some bits of a code.

    Attributes
    ----------
    name : str
        "sign", "prefix", "exponent", "fraction" or "integer".
    bits : str
        The bits, the most significant first.
    meaning : str
    """

    name: str
    bits: str
    meaning: str


def fields_of(code: int, fmt: Format) -> tuple[Field, ...]:
    """Divide a code of a format that is not complex into its fields.

    Examples
    --------
    >>> import lutcast
    >>> from lutcast.golden.fields import fields_of
    >>> [(field.name, field.bits) for field in fields_of(0x3A, lutcast.get_format("float8_e4m3fn"))]
    [('sign', '0'), ('exponent', '0111'), ('fraction', '010')]
    """
    if fmt.kind != "float":
        return (Field("integer", f"{code:0{fmt.bits}b}", "two's complement" if fmt.is_signed else "unsigned"),)
    magnitude = code & fmt.magnitude_mask
    number = exact.decode(code, fmt)
    sign = (Field("sign", str(code >> (fmt.bits - 1)), "-" if code & fmt.sign_bit else "+"),) if fmt.is_signed else ()
    special = {"nan": "NaN", "infinite": "infinity"}.get(number.kind)
    if fmt.is_tapered:
        return (*sign, *_tapered(magnitude, number, special))
    exponent, fraction = divmod(magnitude, 1 << fmt.fraction_bits)
    is_subnormal = exponent == 0 and fmt.has_zero
    power = max(exponent - fmt.bias, fmt.min_exponent)
    meaning = special or ("zero" if magnitude == 0 and fmt.has_zero else f"2**{power}")
    fields = [*sign, Field("exponent", f"{exponent:0{fmt.exponent_bits}b}", meaning)]
    if fmt.fraction_bits:
        leading = "0" if is_subnormal else "1"
        bits = f"{fraction:0{fmt.fraction_bits}b}"
        fields.append(Field("fraction", bits, "payload" if number.kind == "nan" else f"{leading}.{bits}"))
    return tuple(fields)


def _tapered(magnitude: int, number: exact.Number, special: str | None) -> tuple[Field, ...]:
    """Divide the magnitude of a hifloat8: prefix, exponent in sign and magnitude without its first bit, fraction."""
    bits = f"{magnitude:07b}"
    prefix = next(p for p in ("11", "10", "01", "001", "0001", "0000") if bits.startswith(p))
    width = {"11": 4, "10": 3, "01": 2, "001": 1}.get(prefix, 0)
    if prefix == "0000":
        power = "zero" if magnitude == 0 else f"2**{magnitude - 23}"
        return (Field("prefix", prefix, "subnormal"), Field("exponent", bits[4:], special or power))
    exponent, fraction = bits[len(prefix) : len(prefix) + width], bits[len(prefix) + width :]
    power = f"2**{number.significand.bit_length() - 1 + number.exponent}"
    fields = [Field("prefix", prefix, f"{width} bits of exponent")]
    if width:
        fields.append(Field("exponent", exponent, special or power))
    return (*fields, Field("fraction", fraction, special or f"1.{fraction}"))
