"""`out=`: what it must be, and how results land in arrays of any layout."""

import en_dtypes
import ml_dtypes
import numpy as np
import pytest

import lutcast

RNG = np.random.default_rng(5)
X = RNG.standard_normal((6, 8)).astype(np.float32)

BAD_OUTS = [
    ([0.0] * 48, r"^out: a list given, an ndarray is needed$"),
    (np.float16(0), r"^out: a float16 given, an ndarray is needed$"),
    (np.zeros((6, 8), np.float32), r"^out: dtype float32 given, float16 is needed for float16$"),
    (np.zeros((6, 8), np.uint16), r"^out: dtype uint16 given, float16 is needed for float16$"),
    (np.zeros((6, 8), ml_dtypes.bfloat16), r"^out: dtype bfloat16 given, float16 is needed for float16$"),
    (np.zeros((6, 8), object), r"^out: dtype object given, float16 is needed"),
    (np.zeros((8, 6), np.float16), r"^out: shape \(8, 6\) given, \(6, 8\) is needed$"),
    (np.zeros(48, np.float16), r"^out: shape \(48,\) given, \(6, 8\) is needed$"),
    (np.zeros((1, 6, 8), np.float16), r"^out: shape \(1, 6, 8\) given, \(6, 8\) is needed$"),
    (np.broadcast_to(np.float16(0), (6, 8)), r"^out: the array is read-only$"),
]


@pytest.mark.parametrize(("out", "message"), BAD_OUTS, ids=[m[6:30] for _, m in BAD_OUTS])
def test_refused_outs_are_left_alone(out, message):
    before = np.array(out)
    for call in (
        lambda: lutcast.cast(X, "float16", out=out),
        lambda: lutcast.cast_like(X, np.float16(0), out=out),
        lambda: lutcast.caster("float32", "float16")(X, out),
        lambda: lutcast.round_to_integral(X.astype(np.float16), out=out),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert np.array_equal(np.array(out), before)


OUTS = {
    "contiguous": lambda d: (a := np.zeros((6, 8), d), a),
    "strided": lambda d: (a := np.zeros((12, 24), d), a[::2, 1::3]),
    "reversed": lambda d: (a := np.zeros((6, 8), d), a[::-1, ::-1]),
    "fortran": lambda d: (a := np.zeros((6, 8), d, "F"), a),
    "transposed": lambda d: (a := np.zeros((16, 6), d), a[::2].T),
    "big-endian": lambda d: (a := np.zeros((6, 8), np.dtype(d).newbyteorder(">")), a),
    "big-endian strided": lambda d: (a := np.zeros((6, 16), np.dtype(d).newbyteorder(">")), a[:, ::-2]),
    "unaligned": lambda d: (a := np.zeros((6, 8), [("pad", "u1"), ("v", d), ("end", "u1")]), a["v"]),
    "middle": lambda d: (a := np.zeros((20, 20), d), a[3:9, 5:13]),
}


@pytest.mark.parametrize("layout", OUTS)
@pytest.mark.parametrize(
    "dst", ["float32", "float16", "bfloat16", "float8_e5m2", "int4", "bool", "int64", "complex128"]
)
def test_results_land_in_any_layout_and_nowhere_else(dst, layout):
    expected = lutcast.cast(X, dst)
    base, out = OUTS[layout](expected.dtype)
    assert lutcast.cast(X, dst, out=out) is out
    assert out.astype(expected.dtype).tobytes() == expected.tobytes()
    out[...] = 0
    assert not any(base.tobytes())


def test_two_strided_sides_with_different_orders():
    x = np.asfortranarray(X)[:, ::-1]
    out = np.zeros((8, 12), np.float16).T[::2]
    lutcast.cast(x, "float16", out=out)
    assert np.array_equal(out, lutcast.cast(np.ascontiguousarray(x), "float16"))


def test_0d_and_empty_outs():
    out = np.zeros((), np.int8)
    assert lutcast.cast(3.7, "int8", out=out) is out
    assert out == 3
    empty = np.zeros((0, 3), np.int8)
    assert lutcast.cast(np.zeros((0, 3)), "int8", out=empty) is empty


@pytest.mark.parametrize("dtype", [np.uint8, en_dtypes.hifloat8])
def test_a_format_without_dtype_takes_codes_or_en_dtypes(dtype):
    out = np.zeros(3, dtype)
    lutcast.cast([1.0, -2.0, 40960.0], "hifloat8", out=out)
    assert out.tobytes() == lutcast.cast([1.0, -2.0, 40960.0], "hifloat8").tobytes()
    with pytest.raises(ValueError, match=r"^out: dtype int8 given, uint8 is needed for hifloat8$"):
        lutcast.cast([1.0, 2.0, 3.0], "hifloat8", out=np.zeros(3, np.int8))


def test_packed_source_into_out():
    out = np.zeros((2, 6), np.float32)[:, ::2]
    assert lutcast.cast(b"\x21\x43\x65", "float32", src="uint4", shape=(2, 3), out=out) is out
    assert out.tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(ValueError, match=r"^out: shape \(2, 3\) given, \(3, 2\) is needed$"):
        lutcast.cast(b"\x21\x43\x65", "float32", src="uint4", shape=(3, 2), out=out)


@pytest.mark.parametrize(
    "out",
    [
        np.zeros(3, np.uint8), np.zeros(1, np.uint8), np.zeros((2, 1), np.uint8), np.zeros(2, np.int8), bytearray(2),
        np.zeros(4, np.uint8)[::2], np.frombuffer(b"\0\0", np.uint8),
    ],
    ids=["long", "short", "2-D", "int8", "bytearray", "strided", "read-only"],
)  # fmt: skip
def test_refused_outs_of_packed_results(out):
    with pytest.raises(ValueError, match=r"^out: a .* needed for the packed result$"):
        lutcast.cast([1, 2, 3], "uint4", packed=True, out=out)
    assert not any(bytes(out))


def test_packed_result_into_out():
    buffer = np.full(4, 255, np.uint8)
    result = lutcast.cast([1, 2, 3], "uint4", packed=True, out=buffer[1:3])
    assert np.shares_memory(result, buffer)
    assert buffer.tolist() == [255, 0x21, 0x03, 255]
