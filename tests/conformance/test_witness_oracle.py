"""Every table into a narrow float, all codes, against a search among all values."""

from __future__ import annotations

import pytest
from oracle import LESS, MORE, ROUNDINGS, TIE, oracle
from witnesses import NARROW, NARROW_FLOATS, same_codes

import lutcast

NAMES = [f.name for f in NARROW_FLOATS]


@pytest.mark.parametrize("dst", NAMES)
@pytest.mark.parametrize("overflow", ["saturate", "ieee"])
def test_tables_into_floats(dst, overflow):
    wrong = []
    for src in [f.name for f in NARROW if f.name != dst]:
        for rounding in ROUNDINGS:
            table = lutcast.table(src, dst, rounding=rounding, overflow=overflow)
            expected = oracle(dst).table(src, rounding, overflow)
            if not same_codes(table.view(f"u{table.itemsize}"), expected, dst):
                wrong.append((src, rounding))
    assert wrong == []


def test_the_oracle_itself():
    # Values typed from the published tables of the formats, so that the search is not trusted blindly.
    e4m3fn, e8m0, hifloat8 = oracle("float8_e4m3fn"), oracle("float8_e8m0fnu"), oracle("hifloat8")
    assert e4m3fn.neighbour(464.0) == (126, TIE)
    assert e4m3fn.outcome(126, TIE, True, False, "ties_to_even", "ieee") == 0xFE
    assert e4m3fn.outcome(126, MORE, True, False, "ties_to_even", "ieee") == e4m3fn.nan == 0x7F
    assert e4m3fn.outcome(125, LESS, True, False, "to_odd", "ieee") == 0xFD
    assert e8m0.outcome(*e8m0.neighbour(1.5), False, False, "ties_to_even", "saturate") == 0x80
    assert hifloat8.outcome(*hifloat8.neighbour(40960.0), True, False, "ties_to_away", "ieee") == 0xEF
    assert hifloat8.outcome(*hifloat8.neighbour(2.0**-23), False, False, "ties_to_away", "saturate") == 0x01
