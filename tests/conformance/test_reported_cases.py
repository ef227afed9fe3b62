"""Casts that other libraries were reported to get wrong, with the right bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lutcast
from lutcast import exact, get_format
from lutcast.policy import resolve

LINES = (Path(__file__).parents[1] / "data" / "reported_cases.tsv").read_text(encoding="utf-8").splitlines()
CASES = [line.split("\t") for line in LINES[1:]]


def is_right(code, dst, right):
    if right == "nan":
        return exact.decode(code, dst).kind == "nan"
    return code == int(right, 16)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2]}-{case[3]}")
def test_right_bits(case):
    _, src, bits, dst, rounding, overflow, right = case
    src, dst, code = get_format(src), get_format(dst), int(bits, 16)
    options = {"rounding": rounding, "overflow": overflow}
    policy = resolve(src, dst, rounding, overflow, "keep")
    assert is_right(exact.cast_code(code, src, dst, policy), dst, right)
    # One element and many take different ways through the library.
    for count in (1, 1000):
        given = np.full(count, code, f"u{src.itemsize}")
        got = lutcast.cast(given, dst, src=src, **options).view(f"u{dst.itemsize}")
        assert all(is_right(g, dst, right) for g in set(got.tolist()))
    if src.is_narrow:
        table = lutcast.table(src, dst, **options).view(f"u{dst.itemsize}")
        assert is_right(int(table[code]), dst, right)


def test_file_has_every_column():
    assert LINES[0].split("\t") == ["report", "src", "src_bits_hex", "dst", "rounding", "overflow", "right_bits_hex"]
    assert len(CASES) == 58
