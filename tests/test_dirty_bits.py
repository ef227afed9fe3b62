"""What the high bits of a sub-byte code or a bool hold makes no difference."""

from __future__ import annotations

import numpy as np
import pytest
from witnesses import REAL

import lutcast
from lutcast.names import array_dtype

SUB_BYTE = [f for f in REAL if f.bits < 8 and f.kind != "bool"]
BYTES = np.arange(256, dtype=np.uint8)
ALL = [f.name for f in lutcast.formats()]


@pytest.mark.parametrize("src", SUB_BYTE, ids=lambda f: f.name)
@pytest.mark.parametrize("dst", ALL)
@pytest.mark.parametrize("repeats", [1, 50])
def test_sub_byte_sources(src, dst, repeats):
    codes = np.tile(BYTES, repeats)
    dirty = lutcast.cast(codes.view(array_dtype(src)), dst, src=src)
    clean = lutcast.cast((codes & src.mask).view(array_dtype(src)), dst, src=src)
    assert dirty.tobytes() == clean.tobytes()


@pytest.mark.parametrize("dst", ALL)
def test_bool_sources(dst):
    dirty = lutcast.cast(BYTES.view(bool), dst)
    clean = lutcast.cast(BYTES != 0, dst)
    assert dirty.tobytes() == clean.tobytes()


@pytest.mark.parametrize("dst", [*SUB_BYTE, lutcast.get_format("bool")], ids=lambda f: f.name)
@pytest.mark.parametrize("src", REAL, ids=lambda f: f.name)
def test_written_bytes_are_clean(src, dst, rng):
    codes = rng.integers(0, 256, 64 * src.itemsize, dtype=np.uint8).view(f"u{src.itemsize}")
    given = codes.view(bool) if src.kind == "bool" else codes
    for overflow in ("saturate", "wrap") if dst.kind == "int" else ("saturate", "ieee"):
        got = lutcast.cast(given, dst, src=src, overflow=overflow).view(np.uint8)
        assert got.max() <= dst.mask
