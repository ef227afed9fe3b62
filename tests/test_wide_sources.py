"""Casts from 32- and 64-bit sources, where no table is, against the definition, code by code."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from witnesses import REAL

import lutcast
from lutcast import exact, get_format
from lutcast.formats import formats
from lutcast.policy import COMMON_ROUNDINGS, has_hybrid, overflows, resolve

WIDE = [f for f in REAL if f.bits > 16]


@pytest.mark.parametrize("src", WIDE, ids=lambda f: f.name)
@pytest.mark.parametrize("dst", REAL, ids=lambda f: f.name)
def test_sample_of_boundaries(prove, rng, src, dst):
    if src is dst:
        codes = prove.special_codes(src)
        assert np.array_equal(lutcast.cast(codes, dst, src=src).view(codes.dtype), codes)
        return
    codes = rng.permutation(prove.boundary_codes(src, dst))[:131]
    counts = list(prove.check_codes(codes, src, dst))
    assert len(counts) == 2 * len(overflows(dst)) * (7 + has_hybrid(src, dst))
    assert [count for count in counts if count.mismatches] == []


@pytest.mark.parametrize("src", WIDE, ids=lambda f: f.name)
@pytest.mark.parametrize("dst", ["bool", "int4", "int32", "uint64", "float8_e4m3fn", "bfloat16", "float32", "float64"])
def test_any_count_of_elements(prove, src, dst):
    # Vector loops end in a tail: no element may depend on where it stands.
    codes = prove.near_ties(src, seed=1, count=40)
    whole = lutcast.cast(codes, dst, src=src)
    for count in range(80):
        part = lutcast.cast(codes[count : 2 * count], dst, src=src)
        assert part.tobytes() == whole[count : 2 * count].tobytes()


@pytest.mark.parametrize(
    "dst", ["float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "hifloat8", "float8_e8m0fnu", "int4", "bfloat16"]
)
def test_boundary_codes_hold_what_they_promise(prove, dst):
    fmt, src = get_format(dst), get_format("float32")
    codes = set(prove.boundary_codes(src, fmt).tolist())
    finite = lutcast.table(dst, "float32")
    finite = np.unique(finite[np.isfinite(finite)])
    middle = ((finite[1:].astype(np.float64) + finite[:-1]) / 2).astype(np.float32)
    for value in (*finite, *middle):
        around = {np.nextafter(value, np.float32(to)) for to in (-np.inf, np.inf)}
        assert {int(np.float32(v).view(np.uint32)) for v in (value, *around)} <= codes
    assert {0x7F800000, 0xFF800000, 0x7F800001, 0x7FC00000, 0xFFFFFFFF, 0x80000000, 1, 0x007FFFFF} <= codes


@st.composite
def casts(draw):
    """Draw one code, its source, a destination and a policy."""
    src = draw(st.sampled_from(formats()))
    dst = draw(st.sampled_from(formats()))
    if src.name in ("float32", "float64"):
        value = draw(st.floats(width=src.bits))
        code = int.from_bytes(struct.pack("<f" if src.bits == 32 else "<d", value), "little")
    else:
        code = draw(st.integers(0, src.mask))
    roundings = [*COMMON_ROUNDINGS, *(["hybrid"] if has_hybrid(src, dst) else [])]
    policy = (
        draw(st.sampled_from(roundings)),
        draw(st.sampled_from(overflows(dst))),
        draw(st.sampled_from(["keep", "zero"])),
    )
    return code, src, dst, resolve(src, dst, *policy)


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(casts())
def test_any_code_to_any_format(case):
    code, src, dst, policy = case
    array = np.frombuffer(code.to_bytes(src.itemsize, "little"), lutcast.cast([0.0], src).dtype)
    got = lutcast.cast(array, dst, rounding=policy.rounding, overflow=policy.overflow, nan=policy.nan, src=src)
    assert int.from_bytes(got.tobytes(), "little") == exact.cast_code(code, src, dst, policy)
