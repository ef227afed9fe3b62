"""Casts from and to packed elements, called again: the short way gives what the careful one gave."""

import numpy as np
import pytest

import lutcast
from lutcast.names import array_dtype

COUNTS = [0, 1, 2, 3, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 5001]
PACKED = ["float4_e2m1fn", "float4_e1m2fn", "int4", "uint4", "int2", "float6_e2m3fn"]
POLICIES = [{}, {"rounding": "floor"}, {"rounding": "odd", "nan": "zero"}]


def stream(codes, bits):
    """Return codes packed, by way of single bits."""
    return np.packbits(np.unpackbits(codes[:, None], axis=1, bitorder="little")[:, :bits].ravel(), bitorder="little")


def normal(count, fmt):
    x = np.random.default_rng(count).normal(0, 3, count)
    x[::17] = np.nan
    return lutcast.cast(x, fmt)


@pytest.mark.parametrize("src", ["float32", "bfloat16", "float16", "int16", "int8", "float64"])
@pytest.mark.parametrize("dst", PACKED)
def test_to_packed(src, dst):
    bits = lutcast.get_format(dst).bits
    for count in COUNTS:
        x = normal(count, src)
        for policy in POLICIES:
            expected = stream(lutcast.cast(x, dst, **policy).view(np.uint8), bits)
            for _ in range(2):
                assert lutcast.cast(x, dst, packed=True, **policy).tolist() == expected.tolist()
                space = np.full(len(expected) + 1, 99, np.uint8)
                assert lutcast.cast(x, dst, packed=True, out=space[:-1], **policy).base is space
                assert space.tolist() == [*expected.tolist(), 99]


@pytest.mark.parametrize("dst", ["float32", "bfloat16", "float64", "int32", "int8", "complex64", "float4_e2m1fn"])
@pytest.mark.parametrize("src", PACKED)
def test_from_packed(src, dst):
    bits = lutcast.get_format(src).bits
    for count in COUNTS:
        codes = np.random.default_rng(count).integers(0, 1 << bits, count, np.uint8)
        packed, expected = stream(codes, bits), lutcast.cast(codes, dst, src=src)
        for _ in range(2):
            assert lutcast.cast(packed, dst, src=src, shape=count).tobytes() == expected.tobytes()
            space = np.full(count + 1, 99, np.uint8).astype(expected.dtype)
            last = space[-1:].tobytes()
            assert lutcast.cast(packed, dst, src=src, shape=(count,), out=space[:-1]).base is space
            assert space.tobytes() == expected.tobytes() + last


def test_shapes_of_unpacked_elements():
    packed = np.arange(60, dtype=np.uint8)
    expected = lutcast.cast(lutcast.unpack(packed, "int4", 120), "float32", src="int4")
    for shape in [(2, 3, 20), [2, 3, 20], (120,), 120, np.int64(120), (np.int32(1), 120), (1,) * 60 + (2, 60)] * 2:
        result = lutcast.cast(packed, "float32", src="int4", shape=shape)
        assert result.shape == (tuple(shape) if isinstance(shape, (tuple, list)) else (120,))
        assert result.tobytes() == expected.tobytes()
    assert lutcast.cast(packed[:1], "float32", src="int4", shape=()).tolist() == 0.0
    assert lutcast.cast(packed[:0], "float32", src="int4", shape=(1 << 20, 0, 1 << 40)).shape == (1 << 20, 0, 1 << 40)


def test_unusual_arrays():
    x = normal(40, "float32")
    expected = lutcast.cast(x, "int4", packed=True)
    assert lutcast.cast(x.reshape(5, 8).T.copy().T, "int4", packed=True).tolist() == expected.tolist()
    assert lutcast.cast(x.astype(">f4"), "int4", packed=True).tolist() == expected.tolist()
    assert lutcast.cast(np.repeat(x, 2)[::2], "int4", packed=True).tolist() == expected.tolist()
    wide = lutcast.cast(expected, "float32", src="int4", shape=40)
    assert lutcast.cast(np.repeat(expected, 2)[::2], "float32", src="int4", shape=40).tolist() == wide.tolist()
    assert (
        lutcast.cast(expected, "float32", src="int4", shape=40, out=np.zeros(80, "f4")[::2]).tolist() == wide.tolist()
    )


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"out": np.zeros(3, np.uint8)}, r"^out: a uint8 array of shape \(4,\) is needed for the packed result$"),
        ({"out": np.zeros(4, np.int8)}, r"^out: a uint8 array of shape \(4,\) is needed"),
        ({"out": np.zeros(8, np.uint8)[::2]}, r"^out: a contiguous, writable array is needed for the packed result$"),
        ({"threads": 0}, r"^threads: 0 given"),
        ({"rounding": "up"}, r"^rounding: 'up'"),
    ],
)
def test_errors_to_packed(again, options, message):
    x = np.zeros(8, np.float32)
    for _ in range(2 * again):
        lutcast.cast(x, "float4_e2m1fn", packed=True)
    with pytest.raises(ValueError, match=message):
        lutcast.cast(x, "float4_e2m1fn", packed=True, **options)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (np.zeros(4, np.uint8), {"shape": 9}, r"^x: 4 bytes given, 9 elements of int4 take 5$"),
        (np.zeros(4, np.uint8), {"shape": -8}, r"^shape: \(-8,\) has a negative size$"),
        (np.zeros(4, np.uint8), {"shape": (2, 4.0)}, r"^shape: \(2, 4.0\) given"),
        (np.zeros(4, np.uint8), {"shape": (1 << 40, 1 << 40)}, r"^x: 4 bytes given, .* elements of int4 take"),
        (np.zeros(4, np.int8), {"shape": 8}, r"^x: int8 of shape \(4,\) given, packed elements are 1-D uint8$"),
        (np.zeros((2, 2), np.uint8), {"shape": 8}, r"^x: uint8 of shape \(2, 2\) given, packed elements are 1-D"),
        (np.zeros(4, np.uint8), {"shape": 8, "out": np.zeros(7, np.float32)}, r"^out: "),
        (np.zeros(4, np.uint8), {"shape": 8, "out": np.zeros((8, 1), np.float32)}, r"^out: "),
    ],
)
def test_errors_from_packed(again, x, options, message):
    for _ in range(2 * again):
        lutcast.cast(np.zeros(4, np.uint8), "float32", src="int4", shape=8)
    with pytest.raises(ValueError, match=message):
        lutcast.cast(x, "float32", src="int4", **options)


def test_overlaps_are_seen():
    space = np.zeros(64, np.uint8)
    for _ in range(2):
        lutcast.cast(np.zeros(8, np.int16), "int4", packed=True)
        lutcast.cast(space[:8], "int16", src="int4", shape=16)
    with pytest.raises(ValueError, match=r"^out: overlaps x$"):
        lutcast.cast(space[:16].view(np.int16), "int4", packed=True, out=space[4:8])
    with pytest.raises(ValueError, match=r"^out: overlaps x, which is packed$"):
        lutcast.cast(space[:8], "int16", src="int4", shape=16, out=space[4:36].view(np.int16))


def test_packed_is_not_taken_for_the_plain_call():
    x = np.ones(8, np.float32)
    for _ in range(2):
        assert lutcast.cast(x, "int4").dtype == array_dtype(lutcast.get_format("int4"))
        assert lutcast.cast(x, "int4", packed=True).tolist() == [0x11] * 4
        assert lutcast.cast(x, "int4", packed=False).shape == (8,)
        assert lutcast.cast(x, "int4", packed=1).tolist() == [0x11] * 4
