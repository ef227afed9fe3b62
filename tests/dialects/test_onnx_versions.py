"""The type lists of every version, against the spec's table and the schemas of the installed onnx."""

import numpy as np
import onnx
import pytest

import lutcast
import lutcast.onnx
from lutcast.names import array_dtype
from lutcast.onnx.types import ELEMENT_TYPES, TENSOR_TYPES, name_of
from lutcast.onnx.versions import ATTRIBUTES, TYPES

# The opset of each Cast that changed something, with the types it brought.
CAST = {
    6: "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64",
    9: "string",
    13: "bfloat16",
    19: "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz",
    21: "int4 uint4",
    23: "float4_e2m1fn",
    24: "float8_e8m0fnu",
    25: "int2 uint2",
    28: "float6_e2m3fn float6_e3m2fn",
}
NEVER = ["complex64", "complex128", "complex32", "hifloat8", "float4_e1m2fn", "float8_e4m3", "float8_e3m4"]
OPSETS = range(6, 30)


def array_of(name):
    return np.empty(0, object if name == "string" else array_dtype(lutcast.get_format(name)))


def cast_since(name):
    return next(opset for opset, names in CAST.items() if name in names.split())


@pytest.mark.parametrize("name", [name for names in CAST.values() for name in names.split()])
def test_cast_takes_a_type_from_its_opset_on(name):
    since = cast_since(name)
    for opset in OPSETS:
        if opset >= since:
            lutcast.onnx.cast(array_of(name), "BOOL", opset=opset)
            lutcast.onnx.cast(array_of("float32"), name, opset=opset)
            continue
        message = f"Cast takes {name} from opset {since} on, not in opset {opset}$"
        with pytest.raises(TypeError, match=f"^x: {message}"):
            lutcast.onnx.cast(array_of(name), "BOOL", opset=opset)
        with pytest.raises(TypeError, match=f"^to: {message}"):
            lutcast.onnx.cast(array_of("float32"), name, opset=opset)


@pytest.mark.parametrize("name", [name for opset, names in CAST.items() if opset <= 25 for name in names.split()])
def test_cast_like_takes_a_type_from_its_opset_on(name):
    since = max(cast_since(name), 15)
    for opset in range(15, 30):
        if opset >= since:
            lutcast.onnx.cast_like(array_of(name), array_of("bool"), opset=opset)
            lutcast.onnx.cast_like(array_of("float32"), array_of(name), opset=opset)
            continue
        message = f"CastLike takes {name} from opset {since} on, not in opset {opset}$"
        with pytest.raises(TypeError, match=f"^x: {message}"):
            lutcast.onnx.cast_like(array_of(name), array_of("bool"), opset=opset)
        with pytest.raises(TypeError, match=f"^target: {message}"):
            lutcast.onnx.cast_like(array_of("float32"), array_of(name), opset=opset)


@pytest.mark.parametrize("name", ["float6_e2m3fn", "float6_e3m2fn"])
def test_no_cast_like_takes_float6(name):
    with pytest.raises(TypeError, match=f"^target: no version of CastLike takes {name}$"):
        lutcast.onnx.cast_like([1.0], array_of(name))


@pytest.mark.parametrize("name", NEVER)
def test_types_that_no_version_takes(name):
    with pytest.raises(TypeError, match=f"^to: no version of Cast takes {name}$"):
        lutcast.onnx.cast([1.0], name)
    if name.startswith("complex") and name != "complex32":
        with pytest.raises(TypeError, match=f"^x: no version of Cast takes {name}$"):
            lutcast.onnx.cast(array_of(name), "FLOAT")


@pytest.mark.parametrize(("function", "first"), [("Cast", 6), ("CastLike", 15)])
def test_opset_before_the_operator(function, first):
    call = {
        "Cast": lambda opset: lutcast.onnx.cast([1], "FLOAT", opset=opset),
        "CastLike": lambda opset: lutcast.onnx.cast_like([1], [1.0], opset=opset),
    }[function]
    for opset in (first - 1, 1, 0, -3):
        with pytest.raises(ValueError, match=rf"^opset: {opset} given, {function} begins at opset {first}$"):
            call(opset)
    with pytest.raises(ValueError, match=r"^opset: '13' given, an integer is needed$"):
        call("13")


def schemas(operator):
    """Return the versions of an operator in the installed onnx, but those before ours."""
    found = [s for s in onnx.defs.get_all_schemas_with_history() if s.name == operator and s.domain == ""]
    return sorted((s for s in found if s.since_version >= min(TYPES[operator])), key=lambda s: s.since_version)


@pytest.mark.parametrize("operator", ["Cast", "CastLike", "Tile"])
def test_type_lists_equal_the_schemas(operator):
    lower = {name.lower(): name_of(element) for name, element in ELEMENT_TYPES.items()}
    for schema in schemas(operator):
        expected = {name for opset, names in TYPES[operator].items() if opset <= schema.since_version for name in names}
        constraints = [c for c in schema.type_constraints if operator != "Tile" or c.type_param_str == "T"]
        for constraint in constraints:
            allowed = {text.removeprefix("tensor(").removesuffix(")") for text in constraint.allowed_type_strs}
            assert {lower[name] for name in allowed} == expected
        for attribute, since in ATTRIBUTES.items():
            if operator != "Tile":
                assert (attribute in schema.attributes) == (schema.since_version >= since)


def test_tensor_types_equal_those_of_onnx():
    known = dict(onnx.TensorProto.DataType.items())
    assert {name: number for number, name in enumerate(TENSOR_TYPES, 1)} == {n: k for n, k in known.items() if k}
    for name, number in known.items():
        if name in ("UNDEFINED", "STRING"):
            continue
        fmt = ELEMENT_TYPES[name]
        assert onnx.helper.tensor_dtype_to_np_dtype(number) == array_dtype(fmt)
