"""From (source, destination, policy) to a plan: which loops, with which tables or parameters.

Every chain rounds once, because every link but one is exact:

- A source of 8 bits or fewer is one look-up, whatever the destination. (Integers to wider
  integers or float64 are widened: that is faster than any table.)
- A 16-bit source to a destination of 16 bits or fewer is one look-up too. To a wider one it is
  first decoded to float32, which holds every float16, bfloat16 and 16-bit integer; only the next
  link rounds. Where the processor converts faster than a table can be read, narrow destinations
  are reached so as well; AVX-512 does both steps in one loop to bfloat16 and float64.
- A wide source to a float of 8 bits or fewer is rounded to odd at bfloat16 and looked up in the
  bfloat16 table of the same policy. bfloat16 has float32's range and at least two bits more than
  the destination, so the odd last bit keeps the value on its side of every destination value and
  every midpoint. What lies outside that range ends in bfloat16's smallest or largest numbers,
  which no such destination can tell from what was lost.
- In the same way float64 and the integers are rounded to odd at float32 on their way to any float
  of 16 bits or fewer, where the floating-point unit does that.
- All else is one loop.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from . import exact, tables
from ._kernels import LOOPS, USES_AVX512, USES_F16C, USES_PIECES, Plan
from .formats import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, UINT64, Format
from .policy import Overflow, Policy, Rounding, resolve
from .store import Table

ONES = (1 << 64) - 1
Params = dict[str, Any]
EXACT = Policy(Rounding.TIES_TO_EVEN, Overflow.IEEE)
TO_ODD = Policy(Rounding.TO_ODD, Overflow.IEEE)
# What the control word of the floating-point unit calls the directions of IEEE 754.
DIRECTIONS = {
    Rounding.TIES_TO_EVEN: 0,
    Rounding.TOWARD_NEGATIVE: 1,
    Rounding.TOWARD_POSITIVE: 2,
    Rounding.TOWARD_ZERO: 3,
}


# Policies under which the processor's conversion to float16 is the definition's.
CONVERTED = tuple(Policy(rounding, Overflow.IEEE) for rounding in DIRECTIONS)

# Loops that do the same from or to packed codes of 4 bits.
FROM_PACKED = {f"lookup_8_{bits}": f"lookup_4_{bits}" for bits in (16, 32, 64)}
TO_PACKED = {"lookup_16_8": "lookup_16_4", "odd_lookup": "odd_lookup_4"}


class Link(NamedTuple):
    """One loop of a chain."""

    loop: str
    params: Params
    table: Table | None = None
    pieces: Table | None = None


@cache
def plan(src: Format, dst: Format, rounding: object, overflow: object, nan: object) -> Plan:
    """Return the plan of a cast; the three parts of the policy are names, aliases or None."""
    policy = resolve(src, dst, rounding, overflow, nan)
    source, destination = src.part or src, dst.part or dst
    links = [] if src is dst and src.bits >= 8 else _chain(source, destination, policy)
    keeps_parts = src.part is not None and (dst.part is not None or dst.kind == "bool")
    stages = [_stage(link, 2 if keeps_parts else 1) for link in links]
    if src.part and not keeps_parts:
        stages.insert(0, _stage(Link(f"real_part_{source.bits}", NOTHING), 1))
    if dst.part and not src.part:
        stages.append(_stage(Link(f"zero_imaginary_{destination.bits}", NOTHING), 1))
    if dst.kind == "bool" and src.part:
        stages.append(_stage(Link("either_true", NOTHING), 1))
    from_packed, to_packed = _packed_loops(source, destination, links)
    return Plan(stages, source.itemsize, destination.itemsize, from_packed, to_packed)


@cache
def integral_plan(fmt: Format, rounding: Rounding) -> Plan:
    """Return the plan of `round_to_integral` for a float or complex format."""
    part = fmt.part or fmt
    link = Link(f"integral_{part.bits}", NOTHING | _rounding(rounding) | _source(part))
    return Plan([_stage(link, 2 if fmt.part else 1)], part.itemsize, part.itemsize)


def _stage(link: Link, parts: int) -> tuple[int, int, Params, Table | None, Table | None]:
    return LOOPS[link.loop], parts, link.params, link.table, link.pieces


def _packed_loops(src: Format, dst: Format, links: list[Link]) -> tuple[int, int]:
    """Return the loops that read or write packed codes where there are such for the only link of a chain, else 0."""
    loop = links[0].loop if len(links) == 1 else ""
    reads = FROM_PACKED.get(loop) if src.bits == 4 else None
    writes = TO_PACKED.get(loop) if dst.bits == 4 else None
    return LOOPS[reads] if reads else 0, LOOPS[writes] if writes else 0


def _chain(src: Format, dst: Format, policy: Policy) -> list[Link]:
    if src is dst and src.bits >= 8:
        return []
    if f"{src.name}_to_integer_{dst.bits}" in LOOPS and dst.kind == "int":
        return _to_integer(src, dst, policy)
    if src.bits <= 8 and not (dst is FLOAT64 and f"{src.name}_to_float64" in LOOPS):
        return [_look_up(src, dst, policy)]
    if src.bits == 16:
        return _from_16_bits(src, dst, policy)
    if dst.kind == "bool":
        return [_to_bool(src, policy)]
    if dst.kind == "int":
        return _to_integer(src, dst, policy)
    if dst.bits <= 16:
        return _to_narrow_float(src, dst, policy)
    return [_to_wide_float(src, dst, policy)]


# --------------------------------------------------------------------------- 16-bit sources


def _from_16_bits(src: Format, dst: Format, policy: Policy) -> list[Link]:
    if dst is FLOAT32:
        return [_decode(src, policy)]
    if dst is BFLOAT16 and f"{src.name}_to_bfloat16" in LOOPS:
        return _to_narrow_float(src, dst, policy)
    if dst is FLOAT64 and f"{src.name}_to_float64" in LOOPS and (policy.overflow, policy.nan) == ("ieee", "keep"):
        return [Link(f"{src.name}_to_float64", NOTHING | {"direction": 0})]
    if src is BFLOAT16 and dst.kind == "int" and USES_F16C and _fast_integer_loop(src, dst, policy):
        return _to_integer(src, dst, policy)
    if dst.is_narrow and not _converts(dst, policy):
        link = _look_up(src, dst, policy)
        if link.pieces is None and USES_PIECES and dst.kind == "float" and policy.rounding is not Rounding.HYBRID:
            # Where float16 and integers are too dense for steps, bfloat16 may not be.
            wide = _chain(FLOAT32, dst, policy)
            if wide[-1].pieces is not None:
                return [_decode(src, EXACT), *wide]
        return [link]
    if src.kind == "int" and dst is FLOAT64:
        return [_to_wide_float(src, dst, policy)]
    return [_decode(src, EXACT), *_chain(FLOAT32, dst, policy)]


def _converts(dst: Format, policy: Policy) -> bool:
    """Whether the processor converts to a format, by way of float32, faster than a table is read."""
    if not USES_F16C:
        return False
    if dst is FLOAT16:
        return policy.rounding in DIRECTIONS
    return dst is BFLOAT16 or (dst.kind == "int" and _fast_integer_loop(FLOAT32, dst, policy) is not None)


def _decode(src: Format, policy: Policy) -> Link:
    """Decode a 16-bit format to float32; infinity and NaN as the policy says."""
    if f"{src.name}_to_float32" in LOOPS and (src.kind == "int" or (policy.overflow, policy.nan) == ("ieee", "keep")):
        return Link(f"{src.name}_to_float32", NOTHING | {"direction": 0})
    link = _look_up(src, FLOAT32, policy)
    if src is FLOAT16 and (policy.overflow, policy.nan) == ("ieee", "keep"):
        return link._replace(params=NOTHING | {"direction": 0})
    return link


def _look_up(src: Format, dst: Format, policy: Policy) -> Link:
    table = tables.codes(src, dst, policy)
    pieces = None
    if USES_PIECES and src.bits == 16 and dst.bits <= 8:
        from .steps import steps  # here, as importing lutcast should cost little

        pieces = steps(src, dst, table)
    if USES_PIECES and src.bits <= 8 and dst.bits > 8:
        from .planes import planes

        pieces = planes(table)
    return Link(f"lookup_{8 * src.itemsize}_{8 * dst.itemsize}", NOTHING, table, pieces)


# --------------------------------------------------------------------------- wide sources


def _to_narrow_float(src: Format, dst: Format, policy: Policy) -> list[Link]:
    """To a float of 16 bits or fewer."""
    direct = f"{src.name}_to_{dst.name}"
    is_fast = USES_AVX512 and direct in LOOPS and (dst is BFLOAT16 or policy in CONVERTED)
    if src is not FLOAT32 and not is_fast and f"{src.name}_to_odd_float32" in LOOPS:
        return [Link(f"{src.name}_to_odd_float32", NOTHING), *_to_narrow_float(FLOAT32, dst, policy)]
    if dst.bits <= 8:
        return _by_way_of_odd(src, dst, policy)
    params = NOTHING | _rounding(policy.rounding) | _float_limits(dst, policy)
    if src.kind == "float":
        params |= _source(src)
    return [Link(direct if direct in LOOPS else f"{src.name}_to_float_16", params)]


def _by_way_of_odd(src: Format, dst: Format, policy: Policy) -> list[Link]:
    """To a float of 8 bits or fewer: round to odd at bfloat16, then look up."""
    if policy.rounding is Rounding.HYBRID:
        first = [Link("hybrid_bfloat16", NOTHING)]
        policy = policy._replace(rounding=Rounding.TIES_TO_AWAY)
    elif src is FLOAT32:
        last = _look_up(BFLOAT16, dst, policy)
        if last.pieces is not None:
            return [last._replace(loop="odd_lookup")]
        return [Link("odd_bfloat16", NOTHING), last]
    else:
        first = _to_narrow_float(src, BFLOAT16, TO_ODD)
    return [*first, _look_up(BFLOAT16, dst, policy)]


def _to_wide_float(src: Format, dst: Format, policy: Policy) -> Link:
    params = NOTHING | _rounding(policy.rounding) | _float_limits(dst, policy)
    if src.kind == "float":
        params |= _source(src)
        if dst is FLOAT64:
            return Link("float32_to_float64", params)
    fast = f"{src.name}_to_{dst.name}"
    if fast in LOOPS and params["direction"] >= 0:
        return Link(fast, params)
    if fast in LOOPS and dst is FLOAT64 and src.bits <= 32:
        return Link(fast, params | {"direction": 0})
    return Link("float_to_float_64_32" if src.kind == "float" else f"{src.name}_to_float_{dst.bits}", params)


def _to_bool(src: Format, policy: Policy) -> Link:
    is_float = src.kind == "float"
    largest = src.infinity_code if is_float and policy.nan == "zero" else ONES
    params = NOTHING | {"mask": src.magnitude_mask if is_float else src.mask, "max_code": largest}
    return Link(f"bool_{src.bits}", params)


def _to_integer(src: Format, dst: Format, policy: Policy) -> list[Link]:
    saturates = policy.overflow is Overflow.SATURATE
    params = NOTHING | {"mask": dst.mask}
    if src.kind == "int":
        params["low"] = max(src.min_integer, dst.min_integer) if saturates else src.min_integer
        params["high"] = _as_signed(min(src.max_integer, dst.max_integer) if saturates else src.max_integer)
        return [Link(f"{src.name}_to_integer_{8 * dst.itemsize}", params)]
    params |= _rounding(policy.rounding) | _source(src) | _integer_limits(dst, policy)
    fast = _fast_integer_loop(src, dst, policy)
    if fast:
        return [Link(fast, params)]
    return [Link(f"float_to_integer_{src.bits}_{8 * dst.itemsize}", params)]


# --------------------------------------------------------------------------- parameters

NOTHING: Params = {
    "nearest": 0, "tie_even": 0, "tie_away": 0, "away": [0, 0], "odd": 0, "direction": -1,
    "src_fraction_bits": 0, "src_sign_shift": 0, "src_infinity": 0, "src_bias": 0,
    "dst_fraction_bits": 0, "dst_sign_shift": 0, "dst_bias": 0, "max_code": 0,
    "overflow": [0, 0], "infinity": [0, 0], "nan": 0, "nan_keep": 0,
    "limit": [0, 0], "saturate": 0, "low": 0, "high": 0, "mask": 0,
}  # fmt: skip


def _rounding(rounding: Rounding) -> Params:
    """Rounding as masks: what is added to the bits that fall off, by sign; and as a direction."""
    masks: dict[Rounding, Params] = {
        Rounding.TIES_TO_EVEN: {"nearest": ONES, "tie_even": ONES},
        Rounding.TIES_TO_AWAY: {"nearest": ONES, "tie_away": ONES},
        Rounding.TOWARD_ZERO: {},
        Rounding.TOWARD_NEGATIVE: {"away": [0, ONES]},
        Rounding.TOWARD_POSITIVE: {"away": [ONES, 0]},
        Rounding.TO_ODD: {"odd": 1},
        Rounding.AWAY_FROM_ZERO: {"away": [ONES, ONES]},
    }
    return masks[rounding] | {"direction": DIRECTIONS.get(rounding, -1)}


def _source(src: Format) -> Params:
    return {
        "src_fraction_bits": src.fraction_bits,
        "src_sign_shift": src.bits - 1,
        "src_infinity": src.infinity_code,
        "src_bias": src.bias,
    }


def _float_limits(dst: Format, policy: Policy) -> Params:
    """Codes for overflow and infinity come from the definition, sign by sign."""
    beyond = [exact.Number(negative, 1, 1 << 16) for negative in (False, True)]
    infinite = [exact.Number(negative, 0, 0, "infinite") for negative in (False, True)]
    return {
        "dst_fraction_bits": dst.fraction_bits,
        "dst_sign_shift": dst.bits - 1,
        "dst_bias": dst.bias,
        "max_code": dst.max_code,
        "overflow": [exact.encode_overflow(number, dst, policy) for number in beyond],
        "infinity": [exact.encode_overflow(number, dst, policy) for number in infinite],
        "nan": dst.nan_code,
        "nan_keep": ONES if policy.nan == "keep" else 0,
    }


def _integer_limits(dst: Format, policy: Policy) -> Params:
    return {
        "limit": [dst.max_integer, -dst.min_integer],
        "saturate": ONES if policy.overflow is Overflow.SATURATE else 0,
        "low": dst.min_integer,
        "high": _as_signed(dst.max_integer),
    }


def _fast_integer_loop(src: Format, dst: Format, policy: Policy) -> str | None:
    """Return the loop of the floating-point unit from a float to an integer, where there is one."""
    name = f"{src.name}_to_{'uint32' if dst.name == 'uint32' else f'int{8 * dst.itemsize}'}"
    saturates = policy.overflow is Overflow.SATURATE
    return name if saturates and name in LOOPS and dst is not UINT64 else None


def _as_signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word
