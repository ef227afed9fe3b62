"""What tf.cast takes, gives and refuses, without TensorFlow."""

import sys

import ml_dtypes
import numpy as np
import pytest
import scipy.sparse

import lutcast.tf

cast = lutcast.tf.cast
DTYPES = [
    "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
    "bfloat16", "complex64", "complex128", "bool", "float8_e5m2", "float8_e4m3fn", "int4", "uint4",
]  # fmt: skip
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "int4", "uint4"]


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def test_examples():
    x = np.array([1.8, 2.2], np.float32)
    for function in (lutcast.tf.cast, lutcast.tf.dtypes.cast):
        result = function(x, np.int32)
        assert result.dtype == np.int32
        assert result.tolist() == [1, 2]
    assert lutcast.tf.dtypes.cast is lutcast.tf.cast
    assert "tensorflow" not in sys.modules


def test_name_is_ignored():
    assert cast(np.array([1.5]), "int8", "an operation").tolist() == [1]
    assert cast(np.array([1.5]), "int8", name="an operation").tolist() == [1]


@pytest.mark.parametrize("name", DTYPES)
def test_same_dtype_is_the_same_object(name):
    x = np.zeros((2, 3), dtype_of(name))
    assert cast(x, name) is x
    assert cast(x, dtype_of(name)) is x
    scalar = x[0, 0]
    assert cast(scalar, name) is scalar
    assert cast(x.astype(x.dtype.newbyteorder(">")), name).dtype == x.dtype


@pytest.mark.parametrize("dst", DTYPES)
@pytest.mark.parametrize("src", DTYPES)
def test_every_pair(src, dst):
    x = np.array([0, 1, 2, 3]).astype(dtype_of(src))
    expected = x.real.astype(np.int64).astype(dtype_of(dst))
    assert cast(x, dst).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("half", "float16"), ("float", "float32"), ("double", "float64"), (float, "float32"), (bool, "bool"),
        (np.float16, "float16"), (np.dtype(">i4"), "int32"), (ml_dtypes.bfloat16, "bfloat16"), (np.bool, "bool"),
    ],
)  # fmt: skip
def test_ways_to_name_a_dtype(dtype, name):
    assert cast(np.array([1, 0]), dtype).dtype == dtype_of(name)


class FakeDType:
    """What is known of a tf.DType: its module and its name."""

    def __init__(self, name):
        self.name = name


FakeDType.__module__ = "tensorflow.python.framework.dtypes"


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float32_ref"])
def test_dtypes_of_tensorflow(name):
    assert cast(np.array([1, 0]), FakeDType(name)).dtype == dtype_of(name.removesuffix("_ref"))


@pytest.mark.parametrize(
    "dtype",
    [
        "foo", "f4", "FLOAT32", "int", "string", "F8_E4M3", "float8_e4m3fnuz", "int2", "hifloat8", "complex32", "qint8",
        None, int, complex, str, object, list, 1, 3.5, np.str_, np.dtype("M8[s]"), np.longdouble, ml_dtypes.int2,
        FakeDType("string"), FakeDType("qint8"), [],
    ],
)  # fmt: skip
def test_no_such_dtype(dtype):
    with pytest.raises(TypeError, match=r"^Cannot convert the argument `dtype`: .* to a TensorFlow DType"):
        cast(np.array([1.0]), dtype)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (1.1, 1.100000023841858), (1, 1.0), (True, 1.0), (1 + 2j, 1.0), (2**31, 2.0**31), (2**62 + 1, 2.0**62),
        (-(2**63), -(2.0**63)), (float("inf"), float("inf")), ([1.1, 2], [1.100000023841858, 2.0]),
        ([1, 2.5], [1.0, 2.5]), ([2**24 + 1, 0.5], [2.0**24, 0.5]), ([2**40, 0.5], [2.0**40, 0.5]),
        ([1, True], [1.0, 1.0]), ([1.0, True], [1.0, 1.0]), ([], []), ([[], []], [[], []]), ((1, 2), [1.0, 2.0]),
        (((1, 2), (3, 4)), [[1, 2], [3, 4]]), (range(3), [0, 1, 2]), (bytearray(b"ab"), [97, 98]),
        (np.float64(1.1), 1.1), (np.float32(1.1), 1.100000023841858), ([np.float64(1.1)], [1.1]),
        ([np.float64(1.1), 2.1], [1.1, 2.1]), ([2.0, np.float64(1.1)], [2.0, 1.100000023841858]),
        ([1, np.float64(1.1)], [1.0, 1.100000023841858]),
        ([np.float32(1.0), np.float64(1.1)], [1.0, 1.100000023841858]), ([np.int8(1), np.int16(300)], [1, 300]),
        ([np.int8(1), 2.5], [1.0, 2.5]), ([np.True_, False], [1.0, 0.0]),
        ([np.array([1.0, 2.0]), np.array([3.1, 4.0])], [[1.0, 2.0], [3.1, 4.0]]),
        ([[1.5], np.array([2.5])], [[1.5], [2.5]]),
        (np.array(1.1), 1.1),
    ],
)  # fmt: skip
def test_python_values(x, expected):
    """As TensorFlow 2.21 converts them."""
    result = cast(x, "float64")
    assert isinstance(result, np.float64 if isinstance(x, np.float64) else np.ndarray)
    assert result.dtype == np.float64
    assert result.tolist() == expected


def test_python_complex_stays_double():
    assert cast(1.1 + 2.2j, "complex128").tolist() == 1.1 + 2.2j
    assert cast([1.1, 2], "complex128").tolist() == [1.100000023841858, 2]


def test_lists_always_give_a_new_array():
    x = [1.0, 2.0]
    assert isinstance(cast(x, "float32"), np.ndarray)
    assert cast(x, "float32") is not cast(x, "float32")


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (1e300, r"^x: 1e\+300 is out of range for float32$"),
        ([0.5, -1e39], r"^x: -1e\+39 is out of range for float32$"),
        (2**63, r"^x: an integer does not fit int32 or int64$"),
        (-(2**63) - 1, r"^x: an integer does not fit int32 or int64$"),
        ([2**70, 0.5], r"^x: an integer does not fit int64$"),
        ([True, 1], r"^x: Python values of mixed types cannot be converted: bool first, then int$"),
        ([True, 1.0], r"^x: Python values of mixed types cannot be converted: bool first, then float$"),
        ([np.True_, 1], r"^x: Python values of mixed types cannot be converted: bool first, then int$"),
        ([1, 2j], r"^x: Python values of mixed types cannot be converted: int first, then complex$"),
        ([1.5, 2j], r"^x: Python values of mixed types cannot be converted: float first, then complex$"),
        ([[1], [2, 3]], r"^x: a ragged sequence cannot be converted"),
        ([[1], 2], r"^x: a ragged sequence cannot be converted"),
        ([1, [2]], r"^x: a ragged sequence cannot be converted"),
        (None, r"^x: a value of type NoneType cannot be converted to a tensor"),
        ([None], r"^x: a value of type NoneType cannot be converted to a tensor"),
        ([1, None], r"^x: a value of type NoneType cannot be converted to a tensor"),
        (object(), r"^x: a value of type object cannot be converted to a tensor"),
        ({1}, r"^x: a value of type set cannot be converted to a tensor"),
        ({1: 2}, r"^x: a value of type dict cannot be converted to a tensor"),
        (iter([1]), r"^x: a value of type list_iterator cannot be converted to a tensor"),
        (np.array([1, 2], object), r"^x: an array of object cannot be converted to a tensor"),
        (np.zeros(2, "M8[s]"), r"^x: an array of datetime64\[s\] cannot be converted to a tensor"),
        (np.zeros(2, "V4"), r"^x: an array of \|V4 cannot be converted to a tensor"),
    ],
)
def test_what_cannot_be_converted(x, message):
    with pytest.raises(ValueError, match=message):
        cast(x, "float64")


@pytest.mark.parametrize("x", ["a", ["a"], [b"a"], np.array("a"), np.array(["a", "b"]), np.array([b"a"])])
def test_strings(x):
    with pytest.raises(TypeError, match=r"^x: strings cannot be cast"):
        cast(x, "float64")


@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3fnuz, ml_dtypes.int2, ml_dtypes.float4_e2m1fn])
def test_elements_that_tensorflow_does_not_cast(dtype):
    with pytest.raises(TypeError, match=rf"^x: TensorFlow does not cast {np.dtype(dtype).name}; it casts uint8, "):
        cast(np.zeros(2, dtype), "float64")


def test_floats_follow_ieee():
    x = np.array([464.0, 464.1, np.inf, -1e9, 448.0], np.float32)
    assert np.isnan(cast(x, "float8_e4m3fn").astype(float)).tolist() == [False, True, True, True, False]
    assert cast(np.array([61440.0, 1e9, -np.inf]), "float8_e5m2").astype(float).tolist() == [np.inf, np.inf, -np.inf]
    assert np.isnan(cast(np.array([1000]), "float8_e4m3fn").astype(float)).all()
    assert cast(np.array([1e300, -1e300]), "float32").tolist() == [np.inf, -np.inf]
    assert cast(np.array([5e-324, 1e-40]), "float32").tolist() == [0.0, np.float32(1e-40)]  # kept, not flushed


def test_integers_keep_their_low_bits():
    x = np.array([200, -129, 70000, -1], np.int64)
    for name in INTEGERS:
        bits = int(name.lstrip("uint"))
        low = [int(v) % 2**bits for v in x]
        expected = low if name.startswith("u") else [v - 2**bits if v >= 2 ** (bits - 1) else v for v in low]
        assert cast(x, name).astype(object).tolist() == [int(v) for v in expected]


@pytest.mark.parametrize("dst", INTEGERS)
@pytest.mark.parametrize("src", ["float16", "float32", "float64", "bfloat16", "complex64"])
def test_undefined_cases_are_fixed_at_every_position(src, dst):
    bits, is_signed = int(dst.lstrip("uint")), not dst.startswith("u")
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)
    for value in (np.nan, np.inf, -np.inf, 300.0, -1.0, 70000.0):
        with np.errstate(over="ignore"):
            element = np.array([value]).astype(dtype_of(src))
        number = complex(element[0]).real
        expected = 0 if np.isnan(number) else min(max(number, low), high)
        for length in range(1, 201):
            result = cast(np.repeat(element, length), dst).astype(object)
            assert set(result.tolist()) == {int(expected)}


def test_complex():
    x = np.array([1.9 + 5j, 0 + 1j, 0j, np.nan + 0j])
    assert cast(x, "float32").tolist()[:3] == [np.float32(1.9), 0, 0]
    assert cast(x, "int8").tolist() == [1, 0, 0, 0]
    assert cast(x, "bool").tolist() == [True, True, False, True]
    assert cast(np.array([1.5]), "complex64").tolist() == [1.5 + 0j]


@pytest.mark.parametrize("record", ["SparseTensor", "IndexedSlices"])
def test_sparse_records(record):
    values = np.array([1.8, -2.2], np.float32)
    indices, shape = np.array([[0, 1], [2, 0]]), np.array([3, 4])
    if record == "SparseTensor":
        x = lutcast.tf.SparseTensor(indices, values, shape)
    else:
        x = lutcast.tf.IndexedSlices(values, indices, shape)
    result = cast(x, "int32")
    assert type(result) is type(x)
    assert result is not x
    assert result.values.tolist() == [1, -2]
    assert result.indices is indices
    assert result.dense_shape is shape
    same = cast(x, "float32")
    assert same is not x
    assert same.values is values
    assert lutcast.tf.IndexedSlices([1.0], [0]).dense_shape is None
    with pytest.raises(AttributeError):
        x.values = values
    assert lutcast.tf.cast(lutcast.tf.SparseTensor([[0]], [1.1], [1]), "float64").values.tolist() == [1.100000023841858]


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_scipy_sparse(format, kind):
    x = kind(np.diag([1.9, -2.9, 0.0, 300.0])).asformat(format)
    before = x.toarray()
    result = cast(x, "int8")
    assert result.format == format
    assert isinstance(result, scipy.sparse.sparray) == isinstance(x, scipy.sparse.sparray)
    assert result.toarray().tolist() == np.diag([1, -2, 0, 127]).tolist()
    assert np.array_equal(x.toarray(), before)
    assert cast(x, "float64") is x
    narrow = cast(x, "bfloat16")
    assert narrow.dtype == ml_dtypes.bfloat16
    assert narrow.shape == x.shape
    assert scipy.sparse.issparse(narrow)
    assert sorted(narrow.data.astype(float).ravel().tolist())[-1] == 300.0
