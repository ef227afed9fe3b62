"""Whatever way an array lies in memory, its cast is that of the contiguous native copy."""

import tracemalloc

import ml_dtypes
import numpy as np
import pytest

import lutcast
from lutcast.formats import ALL
from lutcast.names import array_dtype

# By width of the source, destinations whose chains have no, one, two and three links.
PAIRS = [
    ("int4", "int4"), ("bool", "float32"), ("float8_e5m2", "complex64"), ("float8_e4m3fn", "float16"),
    ("bfloat16", "bfloat16"), ("float16", "float64"), ("bfloat16", "int32"), ("int16", "float8_e8m0fnu"),
    ("float32", "float32"), ("float32", "float8_e4m3fn"), ("int32", "complex128"), ("float32", "bfloat16"),
    ("float64", "bool"), ("uint64", "float16"), ("int64", "hifloat8"), ("float64", "float4_e2m1fn"),
    ("complex32", "complex128"), ("complex64", "bool"), ("complex128", "float8_e5m2"), ("complex128", "complex32"),
]  # fmt: skip


def random_array(shape, name, seed=0):
    """Return an array of random bits."""
    dtype = array_dtype(lutcast.get_format(name))
    raw = np.random.default_rng(seed).integers(0, 256, (*shape, dtype.itemsize), np.uint8)
    return raw.view(dtype).reshape(shape)


def unaligned(x):
    """Return a copy whose elements lie at odd addresses, as fields of a packed structure do."""
    record = np.zeros(x.shape, np.dtype([("pad", "u1"), ("value", x.dtype)]))
    view = record["value"]
    view[...] = x
    return view


def big_endian(x):
    """Return the same values in the other byte order."""
    unit = x.dtype.itemsize // (2 if lutcast.get_format(x.dtype).kind == "complex" else 1)
    swapped = np.ascontiguousarray(x).reshape(-1).view(np.uint8).reshape(-1, unit)[:, ::-1].copy()
    return swapped.reshape(-1).view(x.dtype.newbyteorder(">")).reshape(x.shape)


def native(x):
    """Return a contiguous copy in native byte order, bits intact."""
    unit = x.dtype.itemsize // (2 if lutcast.get_format(x.dtype).kind == "complex" else 1)
    raw = np.frombuffer(x.tobytes(), np.uint8).reshape(-1, unit)
    raw = raw if x.dtype.isnative else raw[:, ::-1]
    return raw.reshape(-1).copy().view(x.dtype.newbyteorder("=")).reshape(x.shape)


def windows(x):
    """Return overlapping windows of seven elements."""
    raw = np.ascontiguousarray(x).view(np.uint8).reshape(-1)
    size = x.dtype.itemsize
    return np.lib.stride_tricks.as_strided(raw, (50, 7 * size), (size, 1)).view(x.dtype)


LAYOUTS = {
    "reversed": lambda x: x[::-1, :, ::-1],
    "transposed": lambda x: x.transpose(2, 0, 1),
    "fortran": np.asfortranarray,
    "sliced": lambda x: x[1::2, ::3, 5:-2],
    "every other": lambda x: x[..., ::2],
    "one column": lambda x: x[:, 2, 3],
    "broadcast inside": lambda x: np.broadcast_to(x[:, :1, :], x.shape),
    "broadcast last": lambda x: np.broadcast_to(x[:, :, :1], x.shape),
    "broadcast all": lambda x: np.broadcast_to(x[0, 0, 0], (40, 50)),
    "overlapping windows": windows,
    "unit axes": lambda x: x[:, None, :1, :, None],
    "unaligned": unaligned,
    "unaligned reversed": lambda x: unaligned(x)[::-1],
    "big-endian": big_endian,
    "big-endian strided": lambda x: big_endian(x)[:, ::-2],
    "big-endian unaligned": lambda x: unaligned(big_endian(x)),
    "0-d": lambda x: x[1, 2, 3],
    "0-d view": lambda x: x[1, 2, 3, ...],
    "many dimensions": lambda x: x[:8, :8, :32].reshape((2,) * 11).transpose(range(10, -1, -1)),
    "empty": lambda x: x[:, 4:4],
    "empty reversed": lambda x: x[::-1, :, :0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("src", "dst"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_cast_is_that_of_the_contiguous_copy(src, dst, layout):
    x = LAYOUTS[layout](random_array((11, 9, 33), src))
    expected = lutcast.cast(native(x), dst)
    before = x.tobytes()
    result = lutcast.cast(x, dst)
    assert result.shape == x.shape
    assert result.dtype == expected.dtype
    assert result.tobytes() == expected.tobytes()
    assert x.tobytes() == before


@pytest.mark.parametrize("fmt", ALL, ids=lambda f: f.name)
def test_other_byte_order_of_every_format(fmt):
    x = random_array((3, 700), fmt.name)
    for dst in ("float64", "complex64", fmt):
        assert lutcast.cast(big_endian(x), dst, src=fmt).tobytes() == lutcast.cast(x, dst, src=fmt).tobytes()


def test_a_read_only_array_is_read():
    x = random_array((100,), "float32")
    x.setflags(write=False)
    assert lutcast.cast(x, "int8").tobytes() == lutcast.cast(x.copy(), "int8").tobytes()


def test_64_dimensions():
    x = random_array((16,), "float32").reshape((1,) * 30 + (2,) * 4 + (1,) * 30)
    result = lutcast.cast(x.transpose(range(63, -1, -1)), "bfloat16")
    assert result.tobytes() == lutcast.cast(np.ascontiguousarray(x.T), "bfloat16").tobytes()


@pytest.mark.parametrize("dst", ["float32", "bfloat16", "int4", "complex128"])
def test_memory_order_is_kept(dst):
    x = np.asfortranarray(random_array((5, 6, 7), "float32"))
    result = lutcast.cast(x, dst)
    assert result.flags.f_contiguous
    assert not result.flags.c_contiguous
    assert lutcast.cast(np.ascontiguousarray(x), dst).flags.c_contiguous
    swapped = lutcast.cast(np.ascontiguousarray(x).transpose(1, 0, 2), dst)
    assert swapped.transpose(1, 0, 2).flags.c_contiguous


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.zeros((3000, 2000), np.float32)[:, ::2],
        lambda: np.zeros((2000, 1500), ">f4"),
        lambda: np.zeros((3000, 1000), np.float32)[::-1].T,
        lambda: np.broadcast_to(np.float32(1), (3000, 1000)),
        lambda: np.zeros(3_000_000, np.dtype([("pad", "u1"), ("value", "f4")]))["value"],
        lambda: np.zeros((3000, 1000), np.float32),
    ],
    ids=["strided", "big-endian", "transposed", "broadcast", "unaligned", "contiguous"],
)
def test_no_copy_of_the_source_is_made(make):
    x = make()
    lutcast.cast(x[:2], "float8_e4m3fn")
    tracemalloc.start()
    try:
        result = lutcast.cast(x, "float8_e4m3fn")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.nbytes <= peak < result.nbytes + 50_000


def test_bfloat16_scalar_keeps_no_dimension():
    result = lutcast.cast(ml_dtypes.bfloat16(1.5), "float32")
    assert result.shape == ()
    assert result == 1.5
