"""DLPack: what cannot be exported, and capsules that lie about their memory."""

import numpy as np
import pytest
from dlpack_structs import Given, Producer, api, name_of

import lutcast

F32 = (2, 32, 1)
BEYOND = r"^obj: shape .* reaches beyond the memory$"


def array_of_floats():
    return np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stream": 1}, r"^stream: 1 given, the CPU has none$"),
        ({"dl_device": (2, 0)}, r"^dl_device: \(2, 0\) given, the array is on \(1, 0\), the CPU$"),
    ],
)
def test_consumers_that_want_something_else(options, message):
    with pytest.raises(BufferError, match=message):
        lutcast.to_dlpack(array_of_floats()).__dlpack__(**options)


def test_arrays_that_cannot_be_exported():
    pairs = np.zeros((2, 6), np.int8).view([("a", "i2"), ("b", "i1")])["a"]
    for array, dtype, options, error, message in [
        (np.zeros(2, np.uint8), "hifloat8", {}, TypeError, r"^array: DLPack has no code for hifloat8"),
        (np.zeros(2, np.uint8), "float4_e1m2fn", {"shape": 4}, TypeError, r"^array: DLPack has no code for float4_"),
        (np.zeros(2, ">f4"), None, {}, ValueError, r"^array: dtype >f4 has a foreign byte order, which DLPack cannot"),
        (pairs, None, {}, ValueError, r"^array: strides \(6, 3\) are not multiples of its 2 bytes an element$"),
        (np.zeros(2, "M8[s]"), None, {}, TypeError, r"^array: elements of dtype datetime64\[s\] have no format"),
        (np.zeros(2, np.uint8), "float4_e2m1fn", {"shape": 5}, ValueError, r"^array: 2 bytes given, 5 elements"),
        (np.zeros(2, np.uint8), None, {"shape": 4}, ValueError, r"^src: the format of the packed elements is needed"),
        (np.zeros(2, np.int8), None, {"pairs": True}, ValueError, r"^array: int8 of shape \(2,\) given, pairs"),
        (np.zeros((), np.uint8), None, {"pairs": True}, ValueError, r"^array: uint8 of shape \(\) given, pairs"),
        (np.zeros(2, np.uint8), "int8", {"pairs": True}, ValueError, r"^pairs: 'int8' given, only float4_e2m1fn"),
    ]:  # fmt: skip
        with pytest.raises(error, match=message):
            lutcast.to_dlpack(array, dtype, **options)


@pytest.mark.parametrize(
    ("element", "fields", "error", "message"),
    [
        (F32, {"name": "dltensor_versione"}, ValueError, r"^obj: a capsule named 'dltensor_versione' given; 'dlt"),
        (F32, {"name": "used_dltensor"}, ValueError, r"^obj: a capsule named 'used_dltensor' given"),
        (F32, {"major": 2}, BufferError, r"^obj: DLPack 2\.1 given, 1\.x is read$"),
        (F32, {"major": 0}, BufferError, r"^obj: DLPack 0\.1 given, 1\.x is read$"),
        (F32, {"device": (2, 1)}, ValueError, r"^obj: memory on the DLPack device \(2, 1\) given, the CPU's"),
        (F32, {"device": 5}, TypeError, r"^obj: __dlpack_device__ gave 5, two integers are needed$"),
        (F32, {"device_type": 10}, ValueError, r"^obj: memory on the DLPack device \(10, 0\) given, the CPU's"),
        ((2, 32, 4), {}, ValueError, r"^obj: 4 lanes given; elements of 1 are read, and of 2 for float4_e2m1fn$"),
        ((2, 32, 0), {}, ValueError, r"^obj: 0 lanes given"),
        ((2, 32, 2), {}, ValueError, r"^obj: 2 lanes given"),
        ((17, 4, 4), {}, ValueError, r"^obj: 4 lanes given"),
        ((3, 64, 1), {}, TypeError, r"^obj: elements of DLPack code 3 with 64 bits have no format$"),
        ((2, 80, 1), {}, TypeError, r"^obj: elements of DLPack code 2 with 80 bits have no format$"),
        ((200, 8, 1), {}, TypeError, r"^obj: elements of DLPack code 200 with 8 bits have no format$"),
        (F32, {"ndim": 65}, ValueError, r"^obj: 65 dimensions given, 0 to 64 are read$"),
        (F32, {"ndim": 2**31 - 1}, ValueError, r"^obj: 2147483647 dimensions given"),
        (F32, {"ndim": -1}, ValueError, r"^obj: -1 dimensions given"),
        (F32, {"shape": None}, ValueError, r"^obj: a shape of NULL given for 2 dimensions$"),
        (F32, {"shape": (3, -4)}, ValueError, r"^obj: shape \(3, -4\) has a negative size$"),
        (F32, {"data": None}, ValueError, r"^obj: a data pointer of NULL given for shape \(3, 4\)$"),
        (F32, {"shape": (2**62, 2**62)}, ValueError, BEYOND),
        (F32, {"shape": (2**62, 2**62), "strides": (0, 0)}, ValueError, BEYOND),
        (F32, {"strides": (2**62, 1)}, ValueError, BEYOND),
        (F32, {"strides": (-(2**62), 1)}, ValueError, BEYOND),
        (F32, {"byte_offset": 2**64 - 1}, ValueError, BEYOND),
        (F32, {"shape": (0, 2**62)}, ValueError, BEYOND),
        ((0, 4, 1), {"strides": (8, 2)}, ValueError, r"^obj: strides \(8, 2\) given for shape \(3, 4\); packed"),
        ((0, 4, 1), {"shape": (2**62, 2**62), "strides": None}, ValueError, BEYOND),
    ],
)  # fmt: skip
def test_hostile_capsules(element, fields, error, message):
    for is_versioned in (True, False)[: 1 if "major" in fields else 2]:
        producer = Producer(array_of_floats(), element, is_versioned=is_versioned, **fields)
        with pytest.raises(error, match=message):
            lutcast.from_dlpack(producer)
        assert producer.deleted == []  # it is still the producer's
        assert name_of(producer.capsule) == producer.name.decode()


def test_other_objects():
    with pytest.raises(
        TypeError, match=r"^obj: a list given, an object with __dlpack__ and __dlpack_device__ is needed$"
    ):
        lutcast.from_dlpack([1.0])
    with pytest.raises(TypeError, match=r"^obj: a PyCapsule given, an object with"):
        lutcast.from_dlpack(lutcast.to_dlpack(array_of_floats()).__dlpack__())
    with pytest.raises(TypeError, match=r"^obj: __dlpack__ gave a int, a capsule is needed$"):
        lutcast.from_dlpack(Given(5))


def test_a_capsule_is_consumed_once():
    producer = Producer(array_of_floats(), F32)
    array, _ = lutcast.from_dlpack(producer)
    with pytest.raises(ValueError, match=r"^obj: a capsule named 'used_dltensor_versioned' given; .* not yet consumed"):
        lutcast.from_dlpack(producer)
    del array
    assert len(producer.deleted) == 1


def test_an_unnamed_capsule():
    with pytest.raises(ValueError, match=r"^obj: a capsule named None given"):
        lutcast.from_dlpack(Given(api.PyCapsule_New(1, None, None)))
