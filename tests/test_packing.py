"""Sub-byte storage against an independent packer that moves single bits."""

import math

import ml_dtypes
import numpy as np
import pytest

import lutcast
from lutcast.formats import ALL
from lutcast.names import array_dtype

SUB_BYTE = [f for f in ALL if f.bits < 8 and f.kind != "bool"]
WHOLE_BYTES = [f for f in ALL if f.bits >= 8 or f.kind == "bool"]
# Around the blocks of the loops, and every remainder of a byte and of three bytes.
COUNTS = [*range(10), 63, 64, 65, 1021, 1022, 1023, 1024, 1025, 1026, 1027, 2047, 2048, 2049, 5000, 65_537]


def pack_bits(codes, bits):
    """Pack codes as one stream of bits, the lowest first."""
    stream = [(code >> i) & 1 for code in codes for i in range(bits)]
    stream += [0] * (-len(stream) % 8)
    return bytes(sum(bit << i for i, bit in enumerate(stream[at : at + 8])) for at in range(0, len(stream), 8))


def random_codes(n, fmt, seed=0):
    return np.random.default_rng(seed).integers(0, fmt.mask, n, np.uint8, endpoint=True)


each_format = pytest.mark.parametrize("fmt", SUB_BYTE, ids=lambda f: f.name)


def test_which_formats_are_packed():
    assert [f.bits for f in SUB_BYTE] == [2, 2, 4, 4, 4, 4, 6, 6]


@pytest.mark.parametrize(
    ("fmt", "codes", "packed"),
    [
        ("uint4", [1, 2, 3], b"\x21\x03"),
        ("int4", [15, 0, 8], b"\x0f\x08"),
        ("uint2", [1, 2, 3, 0, 1], b"\x39\x01"),
        ("float6_e2m3fn", [0b000001, 0b000010, 0b000011, 0b100000], b"\x81\x30\x80"),
        ("float6_e3m2fn", [0b111111], b"\x3f"),
        ("float6_e3m2fn", [0b111111, 0b111111], b"\xff\x0f"),
    ],
)
def test_layout_by_hand(fmt, codes, packed):
    assert lutcast.pack(np.array(codes, np.uint8), fmt).tobytes() == packed
    assert lutcast.unpack(packed, fmt, len(codes)).tobytes() == bytes(codes)


@each_format
@pytest.mark.parametrize("n", COUNTS)
def test_pack_and_unpack_every_count(fmt, n):
    codes = random_codes(n, fmt, n)
    expected = pack_bits(codes.tolist(), fmt.bits)
    packed = lutcast.pack(codes, fmt)
    assert packed.dtype == np.uint8
    assert packed.shape == (math.ceil(n * fmt.bits / 8),)
    assert packed.tobytes() == expected
    x = codes.view(array_dtype(fmt))
    assert lutcast.cast(x, fmt, src=fmt, packed=True).tobytes() == expected
    back = lutcast.unpack(packed, fmt, n)
    assert back.dtype == array_dtype(fmt)
    assert back.tobytes() == codes.tobytes()


@each_format
def test_cast_to_packed_is_cast_then_packed(fmt):
    x = np.random.default_rng(1).standard_normal(3001).astype(np.float32) * 4
    for source in (x, x.astype(np.float64), x.astype(ml_dtypes.bfloat16), x.astype(np.int32), x.astype(np.complex64)):
        codes = lutcast.cast(source, fmt, rounding="ceil").view(np.uint8)
        packed = lutcast.cast(source, fmt, rounding="ceil", packed=True)
        assert packed.tobytes() == pack_bits(codes.tolist(), fmt.bits)


@each_format
@pytest.mark.parametrize("dst", ["float32", "float8_e4m3fn", "bfloat16", "int64", "bool", "complex128", "uint2"])
def test_cast_from_packed_is_unpacked_then_cast(fmt, dst):
    codes = random_codes(3 * 1027, fmt)
    packed = np.frombuffer(pack_bits(codes.tolist(), fmt.bits), np.uint8)
    result = lutcast.cast(packed, dst, src=fmt, shape=(3, 1027))
    assert result.shape == (3, 1027)
    assert result.tobytes() == lutcast.cast(codes, dst, src=fmt).tobytes()


@each_format
@pytest.mark.parametrize("dst", SUB_BYTE, ids=lambda f: f.name)
def test_packed_to_packed(fmt, dst):
    codes = random_codes(2051, fmt)
    packed = lutcast.pack(codes, fmt)
    result = lutcast.cast(packed, dst, src=fmt, shape=(7, 293), packed=True)
    assert result.tobytes() == pack_bits(lutcast.cast(codes, dst, src=fmt).view(np.uint8).tolist(), dst.bits)


@each_format
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::2], lambda a: a[::-1], lambda a: a.reshape(40, 50).T, lambda a: a.reshape(2, 20, 50)[:, ::3, 1:],
        lambda a: np.asfortranarray(a.reshape(40, 50)), lambda a: np.broadcast_to(a[:33], (70, 33)),
        lambda a: a[7], lambda a: a[:0],
    ],
    ids=["strided", "reversed", "transposed", "sliced", "fortran", "broadcast", "0-d", "empty"],
)  # fmt: skip
def test_packed_in_c_order_whatever_the_layout(fmt, view):
    codes = random_codes(2000, fmt)
    x = view(codes.view(array_dtype(fmt)))
    expected = pack_bits(np.array(view(codes)).ravel().tolist(), fmt.bits)
    assert lutcast.pack(x, fmt).tobytes() == expected
    wide = view(lutcast.cast(codes, "float32", src=fmt).astype(">f4"))
    assert lutcast.cast(wide, fmt, packed=True).tobytes() == expected


@each_format
def test_high_bits_of_what_is_packed_are_cut_off(fmt):
    dirty = np.random.default_rng(2).integers(0, 256, 1030, np.uint8)
    assert lutcast.pack(dirty, fmt).tobytes() == pack_bits((dirty & fmt.mask).tolist(), fmt.bits)


@pytest.mark.parametrize("n", [1, 3, 5])
def test_padding_is_not_read(n):
    packed = np.frombuffer(b"\xff" * math.ceil(n * 6 / 8), np.uint8)
    assert lutcast.unpack(packed, "float6_e2m3fn", n).view(np.uint8).tolist() == [63] * n


@pytest.mark.parametrize(
    "make", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8), lambda b: spread(b)]
)
def test_buffers_of_every_kind(make):
    buffer = make(b"\x21\x43\x05")
    assert lutcast.unpack(buffer, "uint4", 5).astype(int).tolist() == [1, 2, 3, 4, 5]
    assert lutcast.cast(buffer, "float32", src="uint4", shape=(5, 1)).ravel().tolist() == [1, 2, 3, 4, 5]


def spread(buffer):
    """Return the bytes as a strided array."""
    return np.repeat(np.frombuffer(buffer, np.uint8), 3)[::3]


@pytest.mark.parametrize(
    ("shape", "expected"), [(6, (6,)), ((), ()), ((2, 3), (2, 3)), ([3, 2], (3, 2)), ((0, 4), (0, 4))]
)
def test_shapes(shape, expected):
    n = math.prod(expected)
    result = lutcast.unpack(bytes(math.ceil(n / 2)), "int4", shape)
    assert result.shape == expected
    assert lutcast.unpack(bytes(math.ceil(n / 2)), "int4", tuple(np.int32(m) for m in expected)).shape == expected


@pytest.mark.parametrize("fmt", WHOLE_BYTES, ids=lambda f: f.name)
def test_formats_of_whole_bytes_are_not_packed(fmt):
    message = rf"{fmt.name} is not packed; formats of 2, 4 and 6 bits are$"
    x = np.zeros(4, array_dtype(fmt))
    with pytest.raises(ValueError, match="^packed: " + message):
        lutcast.cast([1.0], fmt, packed=True)
    with pytest.raises(ValueError, match="^format: " + message):
        lutcast.pack(x, fmt)
    if fmt.name != "hifloat8":
        with pytest.raises(ValueError, match="^x: " + message):
            lutcast.pack(x)
    with pytest.raises(ValueError, match="^src: " + message):
        lutcast.cast(b"\0" * fmt.itemsize, "float32", src=fmt, shape=1)
    with pytest.raises(ValueError, match="^format: " + message):
        lutcast.unpack(b"\0" * fmt.itemsize, fmt, 1)


BAD_SOURCES = [
    (b"\0\0", {"src": None, "shape": 3}, r"^src: the format of the packed elements is needed with shape=$"),
    (b"\0\0\0", {"src": "int4", "shape": 3}, r"^x: 3 bytes given, 3 elements of int4 take 2$"),
    (b"\0", {"src": "int4", "shape": 3}, r"^x: 1 bytes given, 3 elements of int4 take 2$"),
    (b"", {"src": "float6_e2m3fn", "shape": ()}, r"^x: 0 bytes given, 1 elements of float6_e2m3fn take 1$"),
    (
        np.zeros(2, np.int8),
        {"src": "int4", "shape": 3},
        r"^x: int8 of shape \(2,\) given, packed elements are 1-D uint8$",
    ),
    (np.zeros(2, ml_dtypes.int4), {"src": "int4", "shape": 3}, r"^x: int4 of shape \(2,\) given, packed elements"),
    (np.zeros((1, 2), np.uint8), {"src": "int4", "shape": 3}, r"^x: uint8 of shape \(1, 2\) given, packed elements"),
    (np.uint8(0), {"src": "int4", "shape": 1}, r"^x: uint8 of shape \(\) given, packed elements"),
    ([1, 2], {"src": "int4", "shape": 3}, r"^x: int64 of shape \(2,\) given, packed elements"),
    (b"\0\0", {"src": "int4", "shape": 3.0}, r"^shape: 3\.0 given, an integer or a sequence of integers is needed$"),
    (b"\0\0", {"src": "int4", "shape": (3, "a")}, r"^shape: \(3, 'a'\) given, an integer or a sequence"),
    (b"\0\0", {"src": "int4", "shape": "3"}, r"^shape: '3' given, an integer or a sequence"),
    (b"\0\0", {"src": "int4", "shape": (3, -1)}, r"^shape: \(3, -1\) has a negative size$"),
    (b"\0\0", {"src": "int4", "shape": -3}, r"^shape: \(-3,\) has a negative size$"),
    (b"\0\0", {"src": "int4", "shape": (1 << 40, 1 << 40)}, r"^x: 2 bytes given, \d+ elements of int4 take \d+$"),
]


@pytest.mark.parametrize(("x", "options", "message"), BAD_SOURCES, ids=[m[1:30] for _, _, m in BAD_SOURCES])
def test_bad_packed_sources(x, options, message):
    with pytest.raises(ValueError, match=message):
        lutcast.cast(x, "float32", **options)
    if options["src"] is not None:
        with pytest.raises(ValueError, match=message.replace("^x", "^buffer")):
            lutcast.unpack(x, options["src"], options["shape"])


@each_format
@pytest.mark.parametrize("odd", [0, 3])
def test_threads_share_packed_elements(fmt, odd):
    n = 32_000_000 // fmt.bits + odd
    codes = random_codes(n, fmt)
    packed = lutcast.pack(codes, fmt)
    assert lutcast.unpack(packed, fmt, n).tobytes() == codes.tobytes()
    for threads in (2, 3):
        assert np.array_equal(lutcast.cast(codes, fmt, src=fmt, packed=True, threads=threads), packed)
        back = lutcast.cast(packed, "float16", src=fmt, shape=n, threads=threads)
        assert np.array_equal(back, lutcast.cast(codes, "float16", src=fmt))
        again = lutcast.cast(packed, fmt, src=fmt, shape=n, packed=True, threads=threads)
        assert np.array_equal(again, packed)


def test_pack_by_dtype_and_its_errors():
    assert lutcast.pack(np.array([1, -1], ml_dtypes.int4)).tolist() == [0xF1]
    with pytest.raises(ValueError, match=r"^x: dtype float32 given for int4; it takes int4 or codes as uint8$"):
        lutcast.pack(np.zeros(3, np.float32), "int4")
