"""`round_to_integral` against its definition and against NumPy."""

import ml_dtypes
import numpy as np
import pytest

import lutcast
from lutcast.exact import round_to_integral_code
from lutcast.formats import ALL
from lutcast.names import array_dtype, dtype_of
from lutcast.policy import COMMON_ROUNDINGS

FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


def random_codes(name):
    """Return codes around integers and halves, at the ends, and anywhere."""
    fmt = lutcast.get_format(name)
    rng = np.random.default_rng(fmt.bits)
    values = np.append(np.arange(-20, 20, 0.25), 2.0 ** np.arange(-20, 60)) * np.where(rng.random(240) < 0.5, 1, -1)
    near = lutcast.cast(np.append(values, -values), fmt).view(f"u{fmt.itemsize}")
    anywhere = rng.integers(0, fmt.mask, 500, near.dtype, endpoint=True)
    ends = np.array([0, 1, fmt.max_code, fmt.infinity_code, fmt.infinity_code + 1, fmt.nan_code], near.dtype)
    codes = np.concatenate([near, near + near.dtype.type(1), near - near.dtype.type(1), ends, anywhere])
    return np.append(codes, codes ^ near.dtype.type(fmt.sign_bit))


@pytest.mark.parametrize("rounding", COMMON_ROUNDINGS)
@pytest.mark.parametrize("name", FLOATS)
def test_is_the_definition(name, rounding):
    fmt = lutcast.get_format(name)
    codes = random_codes(name)
    result = lutcast.round_to_integral(codes.view(array_dtype(fmt)), rounding=rounding)
    assert result.dtype == array_dtype(fmt)
    expected = [round_to_integral_code(code, fmt, rounding) for code in codes.tolist()]
    assert result.view(codes.dtype).tolist() == expected


@pytest.mark.parametrize(
    ("rounding", "function"),
    [("ties_to_even", np.rint), ("toward_zero", np.trunc), ("toward_negative", np.floor), ("toward_positive", np.ceil)],
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_is_what_numpy_does(dtype, rounding, function):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(100_000) * 2.0 ** rng.integers(-6, 14, 100_000)).astype(dtype)
    assert lutcast.round_to_integral(x, rounding=rounding).tobytes() == function(x).tobytes()


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        ("ties_to_even", [0, -0.0, 0, 2, 2, -2]),
        ("ties_to_away", [0, -0.0, 1, 2, 3, -3]),
        ("toward_zero", [0, -0.0, 0, 1, 2, -2]),
        ("toward_negative", [0, -1, 0, 1, 2, -3]),
        ("toward_positive", [1, -0.0, 1, 2, 3, -2]),
        ("to_odd", [1, -1, 1, 1, 3, -3]),
        ("away_from_zero", [1, -1, 1, 2, 3, -3]),
    ],
)
def test_by_hand(rounding, expected):
    x = np.array([0.25, -0.25, 0.5, 1.5, 2.5, -2.5], np.float32)
    assert lutcast.round_to_integral(x, rounding=rounding).tobytes() == np.array(expected, np.float32).tobytes()


def test_zero_infinity_and_nan():
    x = np.array([0x80000000, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFC12345], np.uint32).view(np.float32)
    expected = [0x80000000, 0x7F800000, 0xFF800000, 0x7FC00001, 0xFFC12345]
    assert lutcast.round_to_integral(x).view(np.uint32).tolist() == expected


@pytest.mark.parametrize(("name", "part"), COMPLEX.items())
def test_parts_of_complex_numbers(name, part):
    parts = random_codes(part)
    x = parts.view(array_dtype(lutcast.get_format(name)))
    expected = lutcast.round_to_integral(parts.view(part), rounding="odd")
    result = lutcast.round_to_integral(x, rounding="odd")
    assert result.dtype == x.dtype
    assert result.tobytes() == expected.tobytes()
    assert lutcast.round_to_integral(x[::-1], rounding="odd")[::-1].tobytes() == expected.tobytes()


@pytest.mark.parametrize("fmt", [f for f in ALL if f.kind in ("int", "bool")], ids=lambda f: f.name)
def test_integers_come_back_as_they_are(fmt):
    x = np.arange(fmt.max_integer % 100 + 1).astype(array_dtype(fmt))
    assert lutcast.round_to_integral(x) is x
    out = np.zeros_like(x)
    assert lutcast.round_to_integral(x, out=out) is out
    assert out.tobytes() == x.tobytes()


@pytest.mark.parametrize(
    "fmt", [f for f in ALL if f.kind == "float" and dtype_of(f) and f.bits <= 8], ids=lambda f: f.name
)
def test_narrow_floats_are_refused(fmt):
    with pytest.raises(lutcast.UnsupportedCast, match=rf"^x: {fmt.name} is not rounded to integral values; float16, "):
        lutcast.round_to_integral(np.zeros(2, array_dtype(fmt)))


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::-3], lambda a: a.reshape(8, -1).T, lambda a: np.broadcast_to(a[:5], (9, 5)), lambda a: a[3],
        lambda a: a[:0],
    ],
    ids=["strided", "transposed", "broadcast", "0-d", "empty"],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["<f4", ">f4", ">f8", ">c8", ml_dtypes.bfloat16])
def test_layouts(view, dtype):
    x = (np.arange(800) / 4 - 90).astype(dtype)
    array = view(x)
    expected = lutcast.round_to_integral(np.ascontiguousarray(array).astype(x.dtype.newbyteorder("=")))
    result = lutcast.round_to_integral(array)
    assert result.shape == array.shape
    assert result.dtype.isnative
    assert result.tobytes() == expected.tobytes()


def test_out_may_be_x():
    x = np.arange(10, dtype=np.float32) / 4
    expected = lutcast.round_to_integral(x)
    assert lutcast.round_to_integral(x, out=x) is x
    assert x.tobytes() == expected.tobytes()
    y = np.arange(20, dtype=np.float64)[::-2] / 4
    assert lutcast.round_to_integral(y, out=y) is y
    assert y.tolist() == np.rint(np.arange(20)[::-2] / 4).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_other_overlap_is_refused(dtype):
    buffer = np.arange(10, dtype=dtype)
    for x, out in ((buffer[:9], buffer[1:]), (buffer[::-1], buffer), (buffer[:5], buffer[::2])):
        with pytest.raises(ValueError, match=r"^out: overlaps x without being x$"):
            lutcast.round_to_integral(x, out=out)
    assert buffer.tolist() == list(range(10))


@pytest.mark.parametrize(
    ("x", "options", "error", "message"),
    [
        (
            [1.5],
            {"rounding": "hybrid"},
            lutcast.UnsupportedCast,
            r"^rounding: 'hybrid' exists from float16 and float32",
        ),
        ([1.5], {"rounding": "up"}, ValueError, r"^rounding: 'up' is not one of 'ties_to_even'"),
        ([1.5], {"rounding": None}, ValueError, r"^rounding: None is not one of"),
        ([1.5], {"out": np.zeros(2)}, ValueError, r"^out: shape \(2,\) given, \(1,\) is needed$"),
        ([1.5], {"out": np.zeros(1, np.float32)}, ValueError, r"^out: dtype float32 given, float64 is needed"),
        ([1], {"out": np.zeros(1)}, ValueError, r"^out: dtype float64 given, int64 is needed"),
        (["a"], {}, TypeError, r"^x: elements of dtype <U1 have no format"),
    ],
    ids=str,
)
def test_errors(x, options, error, message):
    with pytest.raises(error, match=message):
        lutcast.round_to_integral(x, **options)
