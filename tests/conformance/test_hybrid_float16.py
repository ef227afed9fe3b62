"""CAST_HYBRID from float16, all codes, as the vendor's rule reads: head of the lost bits against a threshold."""

from __future__ import annotations

import numpy as np
import pytest
from witnesses import codes, values

import lutcast

# Exponents in magnitude, and the two bits of the normalised mantissa that are compared there.
HEADS = {
    **{e: lambda m: m >> 6 & 3 for e in (4, 5, 6, 7, -4, -5, -6, -7)},
    **{e: lambda m: m >> 7 & 3 for e in (*range(8, 16), *range(-15, -7))},
    **{e: lambda m: m >> 8 & 3 for e in range(-22, -15)},
    -23: lambda m: 2 | m >> 9,
}

# Codes of the finite magnitudes of hifloat8, the smallest first.
IN_ORDER = sorted((c for c in range(128) if np.isfinite(values("hifloat8")[c])), key=values("hifloat8").item)
MAGNITUDES = values("hifloat8")[IN_ORDER]


def hybrid(code, magnitude, infinite):
    """Return the code without sign of a finite float16 without sign."""
    exponent = int(np.floor(np.log2(magnitude)))
    mantissa = int(np.ldexp(magnitude, 10 - exponent)) & 0x3FF
    lower = int(np.searchsorted(MAGNITUDES, magnitude, side="right")) - 1
    up = HEADS[exponent](mantissa) >= (code & 1) * 2 + 1
    return [*IN_ORDER, infinite][lower + up]


@pytest.mark.parametrize(("overflow", "infinite"), [("ieee", 0x6F), ("saturate", 0x6E)])
def test_all_codes(overflow, infinite):
    options = {"overflow": overflow, "nan": "zero"}
    expected = lutcast.table("float16", "hifloat8", rounding="ties_to_away", **options).copy()
    magnitudes = np.abs(values("float16"))
    for code in codes("float16")[:0x7C00].tolist():
        magnitude = magnitudes[code]
        if 2.0**-23 <= magnitude < 40960 and not 2.0**-3 <= magnitude < 2.0**4:
            expected[code] = result = hybrid(code, magnitude, infinite)
            expected[code | 0x8000] = result | 0x80 if result else 0
    got = lutcast.table("float16", "hifloat8", rounding="hybrid", **options)
    assert np.array_equal(got, expected)
    assert np.array_equal(
        lutcast.cast(codes("float16"), "hifloat8", src="float16", rounding="hybrid", **options), expected
    )
