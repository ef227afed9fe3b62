"""Every name of a format leads to the one record, and nothing else does."""

import copy
import pickle

import en_dtypes
import ml_dtypes
import numpy as np
import pytest
from labels import label

import lutcast
from lutcast.formats import ALL
from lutcast.names import array_dtype, dtype_of, format_of_dtype

ALIASES = [(system, alias, f.name) for f in ALL for system, alias in f.aliases.items()]
WITHOUT_DTYPE = ("hifloat8", "float4_e1m2fn")
WITH_DTYPE = [f.name for f in ALL if f.name not in WITHOUT_DTYPE]


@pytest.mark.parametrize("fmt", ALL, ids=lambda f: f.name)
def test_canonical_name_and_record(fmt):
    assert lutcast.get_format(fmt.name) is fmt
    assert lutcast.get_format(fmt) is fmt


@pytest.mark.parametrize(("system", "alias", "name"), ALIASES, ids=[f"{s}-{a}" for s, a, _ in ALIASES])
def test_alias_of_every_system(system, alias, name):
    assert lutcast.get_format(alias).name == name


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("I8", "int8"), ("U8", "uint8"), ("I64", "int64"), ("F16", "float16"), ("BF16", "bfloat16"), ("F64", "float64"),
        ("F8_E4M3", "float8_e4m3fn"), ("F8_E8M0", "float8_e8m0fnu"), ("C64", "complex64"), ("BOOL", "bool"),
        ("float", "float32"), ("double", "float64"), ("half", "float16"), ("FLOAT", "float32"), ("DOUBLE", "float64"),
        ("FLOAT4E2M1", "float4_e2m1fn"), ("torch.float8_e5m2fnuz", "float8_e5m2fnuz"), ("torch.bool", "bool"),
        ("fp8_e4m3fn_t", "float8_e4m3fn"), ("int4b_t", "int4"), ("hifloat8_t", "hifloat8"),
        ("fp4x2_e1m2_t", "float4_e1m2fn"), ("bfloat16_t", "bfloat16"), ("COMPLEX128", "complex128"),
    ],
)  # fmt: skip
def test_names_whose_meaning_is_promised(alias, name):
    assert lutcast.get_format(alias).name == name


def test_no_name_means_two_formats():
    names = [f.name for f in ALL] + [alias for f in ALL for alias in set(f.aliases.values()) - {f.name}]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", WITH_DTYPE)
def test_scalar_type_dtype_and_foreign_byte_order(name):
    scalar = getattr(np, name, None) or getattr(ml_dtypes, name)
    dtype = np.dtype(scalar)
    for given in (scalar, dtype, dtype.newbyteorder(">"), dtype.newbyteorder("<")):
        assert lutcast.get_format(given).name == name
    fmt = lutcast.get_format(name)
    assert dtype_of(fmt) == array_dtype(fmt) == dtype
    assert format_of_dtype(dtype) is fmt
    assert dtype.itemsize == fmt.itemsize


@pytest.mark.parametrize("name", WITHOUT_DTYPE)
def test_formats_without_dtype_travel_as_bytes(name):
    fmt = lutcast.get_format(name)
    assert dtype_of(fmt) is None
    assert array_dtype(fmt) == np.uint8


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hifloat8", "hifloat8"), ("float4_e1m2", "float4_e1m2fn"), ("float4_e2m1", "float4_e2m1fn"),
        ("float6_e2m3", "float6_e2m3fn"), ("float6_e3m2", "float6_e3m2fn"), ("float8_e8m0", "float8_e8m0fnu"),
    ],
)  # fmt: skip
def test_types_of_en_dtypes(name, expected):
    scalar = getattr(en_dtypes, name)
    assert lutcast.get_format(scalar).name == expected
    assert lutcast.get_format(np.dtype(scalar)).name == expected


@pytest.mark.parametrize(
    ("given", "name"), [(float, "float64"), (int, "int64"), (bool, "bool"), (complex, "complex128")]
)
def test_python_types_are_what_numpy_makes_of_them(given, name):
    assert lutcast.get_format(given).name == name


def test_tensorflow_dtype_by_its_name():
    dtype = type("DType", (), {"__module__": "tensorflow.python.framework.dtypes", "name": "bfloat16"})()
    assert lutcast.get_format(dtype).name == "bfloat16"
    dtype.name = "string"
    with pytest.raises(TypeError, match="is not a format"):
        lutcast.get_format(dtype)


def test_torch_dtype_by_its_string():
    dtype = type("dtype", (), {"__module__": "torch", "__str__": lambda self: "torch.float8_e4m3fn"})()
    assert lutcast.get_format(dtype).name == "float8_e4m3fn"


@pytest.mark.parametrize(
    "given",
    [
        "Float32", "FLOAT32", "i8", "bf16", "", " float32", "float128", "f4", ">f4", "object", "str", "torch.float99",
        None, 1, 1.5, b"float32", [], {}, ("float32",), object(), str, object, bytes, dict, np.void, np.datetime64,
        np.dtype("U3"), np.dtype("M8[s]"), np.dtype("i4,f4"), np.dtype((np.float32, 3)), np.dtype(np.longdouble),
        np.float32(1), np.zeros(2),
    ],
    ids=label,
)  # fmt: skip
def test_anything_else_is_a_type_error_that_lists_the_formats(given):
    with pytest.raises(TypeError, match=r"^name: .* is not a format; formats are bool, int2, .*complex128, and their"):
        lutcast.get_format(given)


@pytest.mark.parametrize("fmt", ALL, ids=lambda f: f.name)
def test_copies_and_pickles_are_the_same_object(fmt):
    assert copy.copy(fmt) is fmt
    assert copy.deepcopy([fmt])[0] is fmt
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(fmt, protocol)) is fmt


def test_formats_lists_all_once():
    assert lutcast.formats() == ALL
    assert len({f.name for f in ALL}) == len(ALL) == 33
