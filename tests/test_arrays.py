"""What is taken for an array, which format its elements have, and how refusals read."""

import sys
import types

import en_dtypes
import ml_dtypes
import numpy as np
import pytest
from labels import label

import lutcast
from lutcast.arrays import share_memory
from lutcast.formats import ALL
from lutcast.names import array_dtype

REAL = [f for f in ALL if f.kind != "complex"]


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (True, np.float16(1)),
        (7, np.float16(7)),
        (1.5, np.float16(1.5)),
        (2 + 3j, np.float16(2)),
        (np.float32(0.1), np.float16(0.1)),
        (ml_dtypes.bfloat16(3), np.float16(3)),
        ([], np.zeros(0, np.float16)),
        ([1, 2.5], np.array([1, 2.5], np.float16)),
        (((True,), (False,)), np.array([[1], [0]], np.float16)),
        (range(3), np.array([0, 1, 2], np.float16)),
        (memoryview(b"\x01\x80"), np.array([1, 128], np.float16)),
        (np.zeros((2, 0, 3)), np.zeros((2, 0, 3), np.float16)),
        (np.array(5, np.int64), np.array(5, np.float16)),
    ],
    ids=label,
)
def test_array_likes(x, expected):
    result = lutcast.cast(x, "float16")
    assert type(result) is np.ndarray
    assert result.dtype == np.float16
    assert result.shape == expected.shape
    assert result.tobytes() == expected.tobytes()


def test_python_integers_keep_all_their_bits():
    assert lutcast.cast([2**63 + 1], "uint64").tolist() == [2**63 + 1]
    assert lutcast.cast(-(2**63), "int64").item() == -(2**63)


def test_object_with_array_protocol():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, -2.0], np.float32)

    assert lutcast.cast(Wrapped(), "int8").tolist() == [1, -2]


@pytest.mark.parametrize("subclass", [np.matrix, np.ma.MaskedArray])
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_subclasses_give_plain_arrays(subclass):
    x = np.array([[1.0, 2.0]]).view(subclass)
    assert type(lutcast.cast(x, "float32")) is np.ndarray


def test_while_another_thread_imports_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    assert lutcast.cast([1.5], "int8").tolist() == [1]
    assert lutcast.caster("float64", "int8")([1.5]).tolist() == [1]


@pytest.mark.parametrize(
    "x",
    [
        "1.0", b"1", ["a"], None, [None], object(), [2**64], np.array([1, 2.0], object), np.longdouble(1),
        np.datetime64("2026-01-01"), np.timedelta64(1, "s"), np.zeros(2, "i4,f4"), np.zeros(2, "V4"),
        np.array(["a"], np.dtypes.StringDType()),
    ],
    ids=label,
)  # fmt: skip
def test_elements_without_format(x):
    with pytest.raises(TypeError, match=r"^x: elements of dtype .* have no format; src= names that of codes$"):
        lutcast.cast(x, "float32")
    with pytest.raises(TypeError, match=r"^target: elements of dtype .* have no format"):
        lutcast.cast_like([1.0], x)


@pytest.mark.parametrize("fmt", REAL, ids=lambda f: f.name)
def test_src_names_the_format_of_codes(fmt):
    codes = np.random.default_rng(1).integers(0, fmt.mask, 100, f"u{fmt.itemsize}", endpoint=True)
    typed = codes.view(array_dtype(fmt))
    expected = lutcast.cast(typed, "float64", src=fmt)
    for x in (codes, codes.astype(codes.dtype.newbyteorder(">"))):
        assert lutcast.cast(x, "float64", src=fmt.name).tobytes() == expected.tobytes()


@pytest.mark.parametrize("fmt", ALL, ids=lambda f: f.name)
def test_src_that_contradicts_the_dtype(fmt):
    for dtype in ("i1", "u1", "u2", "u4", "u8", "f4", "f8", ml_dtypes.bfloat16, "c8", "M8[s]"):
        x = np.zeros(2, dtype)
        is_own = x.dtype == array_dtype(fmt)
        if is_own or (x.dtype.kind == "u" and x.itemsize == fmt.itemsize and fmt.kind != "complex"):
            assert lutcast.cast(x, fmt, src=fmt).dtype == array_dtype(fmt)
        else:
            with pytest.raises(ValueError, match=rf"^x: dtype \S+ given for {fmt.name}; it takes .* or codes as uint"):
                lutcast.cast(x, fmt, src=fmt)


@pytest.mark.parametrize(
    ("name", "fmt"),
    [
        ("hifloat8", "hifloat8"), ("float4_e1m2", "float4_e1m2fn"), ("float4_e2m1", "float4_e2m1fn"),
        ("float6_e2m3", "float6_e2m3fn"), ("float6_e3m2", "float6_e3m2fn"), ("float8_e8m0", "float8_e8m0fnu"),
    ],
)  # fmt: skip
def test_arrays_of_en_dtypes(name, fmt):
    codes = np.arange(1 << lutcast.get_format(fmt).bits, dtype=np.uint8)
    x = codes.view(getattr(en_dtypes, name))
    assert lutcast.cast(x, "float32").tobytes() == lutcast.cast(codes, "float32", src=fmt).tobytes()
    assert lutcast.cast_like([1.0], x).dtype == array_dtype(lutcast.get_format(fmt))
    out = np.empty_like(x)
    assert lutcast.cast(codes, fmt, src=fmt, out=out) is out
    assert out.tobytes() == codes.tobytes()


def test_high_bits_of_sub_byte_elements_are_not_read():
    for fmt in (f for f in REAL if f.bits < 8 and f.kind != "bool"):
        codes = np.arange(256, dtype=np.uint8)
        clean = codes & fmt.mask
        for dst in ("float32", "int8", fmt):
            dirty = lutcast.cast(codes.view(array_dtype(fmt)), dst, src=fmt)
            assert dirty.tobytes() == lutcast.cast(clean, dst, src=fmt).tobytes()
        assert lutcast.cast(codes, fmt, src=fmt).tobytes() == clean.tobytes()


def test_a_bool_is_true_when_its_byte_is_not_zero():
    raw = np.arange(256, dtype=np.uint8)
    for x, src in ((raw.view(bool), None), (raw, "bool")):
        assert lutcast.cast(x, "bool", src=src).tobytes() == b"\0" + b"\1" * 255
        assert lutcast.cast(x, "int32", src=src).tolist() == [0] + [1] * 255
        assert lutcast.cast(x, "complex64", src=src).tolist() == [0] + [1] * 255


def test_share_memory_counts_the_unclear_as_shared():
    buffer = np.zeros(1000)
    assert not share_memory(buffer[::2], buffer[1::2])
    assert share_memory(buffer[::2], buffer[::3])
    assert not share_memory(buffer, np.zeros(1000))


def test_overlap_that_is_too_hard_to_tell_is_taken_for_one():
    # The hard case of NumPy's documentation; nothing touches the 192 MB.
    memory = np.zeros(192_163_377, np.int8)
    as_strided = np.lib.stride_tricks.as_strided
    a = as_strided(memory, (1049, 1049, 1049), (36674, 61119, 85569))
    b = as_strided(memory[64_023_025:], (1049, 1049, 1), (12223, 12224, 1))
    with pytest.raises(np.exceptions.TooHardError):
        np.shares_memory(a, b, max_work=100_000)
    assert share_memory(a, b)
