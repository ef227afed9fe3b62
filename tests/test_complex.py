"""Casts from and to complex formats, part by part, against the definition."""

from __future__ import annotations

import numpy as np
import pytest

import lutcast
from lutcast import exact, get_format
from lutcast.formats import formats
from lutcast.policy import COMMON_ROUNDINGS, overflows, resolve

COMPLEX = [f for f in formats() if f.part]
REAL = [f for f in formats() if not f.part]


def parts_of(fmt, rng, count=20):
    """Return special codes of a real format, and others."""
    if fmt.kind == "bool":
        return np.arange(2, dtype=np.uint8)
    random = rng.integers(0, fmt.mask, count, dtype=f"u{fmt.itemsize}", endpoint=True)
    special = {0, 1, fmt.mask, fmt.max_code, fmt.sign_bit, fmt.exponent_mask | 1}
    special |= {code for code in (fmt.infinity_code, fmt.nan_code) if code is not None}
    return np.concatenate([random, np.array(sorted(special), random.dtype)])


def joined(codes, size):
    """Return codes of complex numbers as integers, the real part in the low bits."""
    return [int.from_bytes(row.tobytes(), "little") for row in codes.reshape(-1, size)]


def check(array, codes, src, dst):
    for rounding in COMMON_ROUNDINGS:
        for overflow in overflows(dst):
            for nan in ("keep", "zero"):
                policy = resolve(src, dst, rounding, overflow, nan)
                got = lutcast.cast(array, dst, src=src, rounding=rounding, overflow=overflow, nan=nan)
                assert got.shape == array.shape
                expected = [exact.cast_code(code, src, dst, policy) for code in codes]
                assert joined(got.view(np.uint8), dst.itemsize) == expected, policy


@pytest.mark.parametrize("src", COMPLEX, ids=lambda f: f.name)
@pytest.mark.parametrize("dst", formats(), ids=lambda f: f.name)
def test_from_complex(src, dst, rng):
    parts = parts_of(src.part, rng)
    pairs = np.stack([rng.permutation(parts), parts], axis=-1)
    pairs[0] = 0
    array = pairs.view(lutcast.cast([0], src).dtype)[:, 0]
    check(array, joined(pairs.view(np.uint8), src.itemsize), src, dst)


@pytest.mark.parametrize("src", REAL, ids=lambda f: f.name)
@pytest.mark.parametrize("dst", COMPLEX, ids=lambda f: f.name)
def test_to_complex(src, dst, rng):
    codes = parts_of(src, rng) & np.array(src.mask).astype(f"u{src.itemsize}")
    check(codes, codes.tolist(), src, dst)


def test_numpy_agrees():
    given = np.array([1 - 2j, 0, 3j, 2.5 + 1e-9j, -0.0])
    assert lutcast.cast(given, "bool").tolist() == given.astype(bool).tolist()
    assert lutcast.cast(given, "complex64").tolist() == given.astype(np.complex64).tolist()
    assert lutcast.cast(given, "float64").tolist() == given.real.tolist()
    assert lutcast.cast(given.real, "complex128").tolist() == given.real.astype(complex).tolist()


def test_imaginary_nan_is_true():
    given = np.array([complex(0, np.nan), complex(np.nan, 0), complex(-0.0, -0.0)])
    assert lutcast.cast(given, "bool").tolist() == [True, True, False]
    assert lutcast.cast(given, get_format("bool"), nan="zero").tolist() == [False, False, False]
