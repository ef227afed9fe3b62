"""round_to_integral against its definition: all codes of the narrow floats, boundaries of the wide."""

from __future__ import annotations

import numpy as np
import pytest
from witnesses import codes, dtype

import lutcast
from lutcast import exact, get_format
from lutcast.policy import COMMON_ROUNDINGS


def rounded(bits, fmt, rounding):
    """Return codes of bits rounded by the library."""
    return lutcast.round_to_integral(bits.view(dtype(fmt.name)), rounding=rounding).view(bits.dtype)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.parametrize("rounding", COMMON_ROUNDINGS)
def test_all_codes(name, rounding):
    fmt = get_format(name)
    expected = [exact.round_to_integral_code(code, fmt, rounding) for code in range(1 << 16)]
    assert np.array_equal(rounded(codes(name), fmt, rounding), expected)


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("rounding", COMMON_ROUNDINGS)
def test_boundaries(prove, name, rounding):
    fmt = get_format(name)
    halves = np.arange(600) / 2
    far = 2.0 ** np.arange(fmt.fraction_bits + 3)
    points = np.concatenate([halves, far, far - 0.5, far + 0.5, far - 1, far + 1])
    parts = [prove.special_codes(fmt), prove.near_ties(fmt, seed=2), prove.float_neighbours(points, fmt)]
    bits = np.unique(np.concatenate(parts))
    expected = [exact.round_to_integral_code(code, fmt, rounding) for code in bits.tolist()]
    assert np.array_equal(rounded(bits, fmt, rounding), np.array(expected, bits.dtype))
