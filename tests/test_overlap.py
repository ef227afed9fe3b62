"""Results over their own source: right where it is safe, refused and untouched elsewhere."""

import ml_dtypes
import numpy as np
import pytest

import lutcast
from lutcast.names import array_dtype

SAME_WIDTH = [
    ("float32", "int32"), ("int32", "float32"), ("float32", "float32"), ("float16", "bfloat16"), ("float64", "int64"),
    ("uint8", "float8_e4m3fn"), ("int8", "int4"), ("int4", "float4_e2m1fn"), ("complex64", "float64"),
    ("float32", "complex32"), ("uint16", "float16"),
]  # fmt: skip
NARROWING = [
    ("float32", "float16"), ("float32", "float8_e5m2"), ("float64", "float32"), ("float64", "bool"), ("int64", "int8"),
    ("bfloat16", "int8"), ("complex128", "complex32"), ("complex64", "float32"), ("complex64", "bool"),
    ("float64", "hifloat8"), ("uint64", "bfloat16"),
]  # fmt: skip


def dtype_of(name):
    return array_dtype(lutcast.get_format(name))


def random_array(n, name):
    """Return an array of random bits."""
    dtype = dtype_of(name)
    return np.random.default_rng(3).integers(0, 256, n * dtype.itemsize, np.uint8).view(dtype)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n", [1, 1000, 1_000_003])
@pytest.mark.parametrize(("src", "dst"), SAME_WIDTH, ids=["-".join(pair) for pair in SAME_WIDTH])
def test_in_place_at_the_same_width(src, dst, n, threads):
    x = random_array(n, src)
    expected = lutcast.cast(x, dst).tobytes()
    out = x.view(dtype_of(dst))
    lutcast.cast(x, dst, src=src, out=out, threads=threads)
    assert out.tobytes() == expected


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n", [1, 1000, 1_000_003])
@pytest.mark.parametrize(("src", "dst"), NARROWING, ids=["-".join(pair) for pair in NARROWING])
def test_narrower_results_at_the_start_of_the_source(src, dst, n, threads):
    x = random_array(n, src)
    expected = lutcast.cast(x, dst).tobytes()
    rest = x.view(np.uint8)[n * dtype_of(dst).itemsize :].copy()
    out = x.view(dtype_of(dst))[:n]
    lutcast.cast(x, dst, out=out, threads=threads)
    assert out.tobytes() == expected
    assert np.array_equal(x.view(np.uint8)[n * dtype_of(dst).itemsize :], rest)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::3],
        lambda a: a[::-1],
        lambda a: a.reshape(50, 60)[::2, 5:-5].T,
        lambda a: a.reshape(60, 50, order="F"),
        lambda a: a[::2][None, :, None],
    ],
    ids=["strided", "reversed", "transposed", "fortran", "unit axes"],
)
def test_in_place_through_one_view(view):
    buffer = random_array(3000, "float32")
    x, out = view(buffer), view(buffer.view(np.int32))
    expected = buffer.view(np.int32).copy()
    view(expected)[...] = lutcast.cast(x.copy(), "int32")
    lutcast.cast(x, "int32", out=out)
    assert np.array_equal(buffer.view(np.int32), expected)


def test_in_place_change_of_byte_order():
    x = random_array(3000, "int32").view(">i4")
    expected = lutcast.cast(x, "float32")
    lutcast.cast(x, "float32", out=x.view(np.float32))
    assert x.tobytes() == expected.tobytes()


def test_narrower_in_fortran_order():
    x = np.asfortranarray(random_array(3000, "int64").reshape(50, 60))
    expected = lutcast.cast(x, "int8")
    out = x.reshape(-1, order="F").view(np.int8)[:3000].reshape(50, 60, order="F")
    lutcast.cast(x, "int8", out=out)
    assert np.array_equal(out, expected)


def test_neighbours_that_share_nothing():
    buffer = random_array(2000, "float32")
    x, out = buffer[::2], buffer[1::2].view(np.int32)
    expected = lutcast.cast(x, "int32")
    lutcast.cast(x, "int32", out=out)
    assert np.array_equal(out, expected)
    record = np.zeros(100, [("a", "f4"), ("b", "f2")])
    record["a"] = np.arange(100)
    lutcast.cast(record["a"], "float16", out=record["b"])
    assert record["b"].tolist() == list(range(100))
    halves = random_array(2000, "float32")
    expected = lutcast.cast(halves[1000:], "float32")
    lutcast.cast(halves[1000:], "float32", out=halves[:1000])
    assert halves[:1000].tobytes() == expected.tobytes()


def windows(a):
    return np.lib.stride_tricks.as_strided(a, (100, 100), (a.itemsize, a.itemsize))


UNSAFE = {
    "shifted by one": lambda b: (b[:-1], "float32", b[1:]),
    "shifted back": lambda b: (b[1:], "float32", b[:-1]),
    "shifted narrower": lambda b: (b[:1000], "float16", b.view(np.float16)[1:1001]),
    "narrower at the end": lambda b: (b[:1000], "float16", b[:1000].view(np.float16)[1000:]),
    "wider": lambda b: (b.view(np.float16)[:1000], "float32", b[:1000]),
    "wider, last byte": lambda b: (b.view(np.int8)[3999:4999], "float32", b[:1000]),
    "reversed": lambda b: (b, "int32", b.view(np.int32)[::-1]),
    "transposed": lambda b: (b[:1600].reshape(40, 40), "int32", b[:1600].reshape(40, 40).T.view(np.int32)),
    "narrower, strided": lambda b: (b[::2], "float16", b.view(np.float16)[:2000][::2]),
    "orders differ": lambda b: (
        b[:1600].reshape(40, 40),
        "int16",
        b.view(np.int16)[:1600].reshape(40, 40, order="F"),
    ),
    "broadcast source": lambda b: (np.broadcast_to(b[:1], (100,)), "float32", b[:100]),
    "overlapping windows": lambda b: (windows(b), "int32", windows(b.view(np.int32))),
    "zero strides": lambda b: (
        np.lib.stride_tricks.as_strided(b, (9, 9), (0, 4)),
        "int32",
        np.lib.stride_tricks.as_strided(b.view(np.int32), (9, 9), (0, 4)),
    ),
}


@pytest.mark.parametrize("case", UNSAFE)
def test_unsafe_overlap_is_refused(case):
    buffer = random_array(2000, "float32")
    before = buffer.tobytes()
    x, dst, out = UNSAFE[case](buffer)
    out = out.view(dtype_of(dst))
    for call in (
        lambda: lutcast.cast(x, dst, out=out),
        lambda: lutcast.cast(x, dst, out=out, threads=2),
        lambda: lutcast.caster(x.dtype, dst)(x, out),
    ):
        with pytest.raises(
            ValueError, match=r"^out: overlaps x in a way that is not safe; both must begin at the same"
        ):
            call()
    assert buffer.tobytes() == before


def test_packed_result_over_its_source_is_refused():
    x = np.arange(16, dtype=np.uint8)
    with pytest.raises(ValueError, match=r"^out: overlaps x$"):
        lutcast.cast(x, "uint4", packed=True, out=x[:8])
    assert x.tolist() == list(range(16))


@pytest.mark.parametrize(("offset", "dst"), [(0, "uint4"), (0, "float32"), (1, "uint4")])
def test_unpacked_result_over_its_source(offset, dst):
    buffer = np.arange(64, dtype=np.uint8)
    out = buffer[offset : offset + 8].view(ml_dtypes.uint4) if dst == "uint4" else buffer[:32].view(np.float32)
    with pytest.raises(ValueError, match=r"^out: overlaps x"):
        lutcast.cast(buffer[:4], dst, src="uint4", shape=8, out=out)
    assert buffer.tolist() == list(range(64))
