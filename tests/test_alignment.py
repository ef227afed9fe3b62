"""Destinations that begin anywhere in a cache line: the elements before the first whole line are cast apart."""

import numpy as np
import pytest

import lutcast
from lutcast.names import array_dtype

COUNT = 5003
LINE = 64
# One loop, two loops and more; complex numbers; packed sides.
PAIRS = [
    ("float8_e4m3fn", "float32"), ("float8_e5m2", "float64"), ("float16", "hifloat8"), ("float32", "float8_e4m3fn"),
    ("int64", "bfloat16"), ("float64", "float16"), ("complex64", "complex128"), ("float32", "complex64"),
]  # fmt: skip
PACKED = ["float4_e2m1fn", "int2", "float6_e3m2fn"]


def random_array(name, count=COUNT):
    """Return an array of random bits."""
    dtype = array_dtype(lutcast.get_format(name))
    return np.frombuffer(np.random.default_rng(0).bytes(count * dtype.itemsize), dtype)


def check_every_place(x, dst, expected, itemsize, **options):
    """Cast to every place of a line, and look at the bytes around the result."""
    expected = expected.tobytes()
    for place in range(0, LINE, itemsize):
        space = np.full(len(expected) + 4 * LINE, 99, np.uint8)
        start = -space.ctypes.data % LINE + place
        out = space[start : start + len(expected)]
        if not options.get("packed"):
            out = out.view(array_dtype(lutcast.get_format(dst)))
        lutcast.cast(x, dst, out=out, **options)
        found = space.tobytes()
        assert found[start : start + len(expected)] == expected, place
        assert found[:start] + found[start + len(expected) :] == bytes([99] * 4 * LINE), place


@pytest.mark.parametrize(("src", "dst"), PAIRS)
def test_every_place_of_a_line(src, dst):
    x = random_array(src)
    expected = np.concatenate([lutcast.cast(x[i : i + 1], dst, src=src) for i in range(len(x))])
    unit = array_dtype(lutcast.get_format(dst)).itemsize
    for array in (x, np.repeat(x, 3)[::3], np.frombuffer(b"0" + x.tobytes(), np.uint8)[1:].view(x.dtype)):
        check_every_place(array, dst, expected, unit, src=src)


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("other", ["float32", "bfloat16", "float64", "int8"])
def test_packed_sides(packed, other):
    bits = lutcast.get_format(packed).bits
    count = 16384
    values = lutcast.cast(random_array("int16", count) % 9, other)
    expected = lutcast.pack(lutcast.cast(values, packed), packed)
    check_every_place(values, packed, expected, 1, packed=True)
    codes = random_array("uint8", count * bits // 8)
    unpacked = lutcast.cast(lutcast.unpack(codes, packed, count), other, src=packed)
    check_every_place(codes, other, unpacked, unpacked.itemsize, src=packed, shape=count)
