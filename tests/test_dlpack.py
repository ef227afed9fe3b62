"""DLPack: capsules say what the header says, own what they hold once, and hostile ones are refused."""

import ctypes
import gc
import resource
import sys

import ml_dtypes
import numpy as np
import pytest
from dlpack_structs import Given, Legacy, Producer, Versioned, name_of, struct_of

import lutcast
from lutcast.names import array_dtype

# By hand from the header: code, bits, format.
ELEMENTS = [
    (6, 8, "bool"), (0, 8, "int8"), (1, 8, "uint8"), (0, 16, "int16"), (1, 16, "uint16"), (0, 32, "int32"),
    (1, 32, "uint32"), (0, 64, "int64"), (1, 64, "uint64"), (2, 16, "float16"), (2, 32, "float32"),
    (2, 64, "float64"), (5, 64, "complex64"), (5, 128, "complex128"), (4, 16, "bfloat16"),
    (7, 8, "float8_e3m4"), (8, 8, "float8_e4m3"), (9, 8, "float8_e4m3b11fnuz"), (10, 8, "float8_e4m3fn"),
    (11, 8, "float8_e4m3fnuz"), (12, 8, "float8_e5m2"), (13, 8, "float8_e5m2fnuz"), (14, 8, "float8_e8m0fnu"),
]  # fmt: skip
SUB_BYTE = [
    (15, 6, "float6_e2m3fn"), (16, 6, "float6_e3m2fn"), (17, 4, "float4_e2m1fn"),
    (0, 4, "int4"), (1, 4, "uint4"), (0, 2, "int2"), (1, 2, "uint2"),
]  # fmt: skip
READ_ONLY, IS_COPIED, IS_PADDED = 1, 2, 4


def some(name, shape=(3, 4)):
    """Return an array of a format, of random bits."""
    fmt = lutcast.get_format(name)
    dtype = array_dtype(fmt)
    raw = np.random.default_rng(0).integers(0, 1 << min(fmt.bits, 8), int(np.prod(shape)) * dtype.itemsize, np.uint8)
    return raw.view(dtype).reshape(shape)


@pytest.mark.parametrize(("code", "bits", "name"), [*ELEMENTS, *SUB_BYTE])
@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 1), (1, 3), (2, 0)])
def test_capsules_say_what_the_header_says(code, bits, name, version):
    array = some(name)
    export = lutcast.to_dlpack(array)
    assert export.__dlpack_device__() == (1, 0)
    is_sub_byte = bits < 8
    if is_sub_byte and (version is None or version < (1, 1)):
        with pytest.raises(BufferError, match=rf"^max_version: .* given; {name} one to a byte can be told from packed"):
            export.__dlpack__(max_version=version)
        return
    capsule = export.__dlpack__(max_version=version)
    struct = struct_of(capsule)
    if version is None or version[0] < 1:
        assert (type(struct), name_of(capsule)) == (Legacy, "dltensor")
    else:
        assert (type(struct), name_of(capsule)) == (Versioned, "dltensor_versioned")
        assert (struct.major, struct.minor) == min(version, (1, 3))
        assert struct.flags == IS_PADDED * is_sub_byte
    tensor = struct.tensor
    assert (tensor.code, tensor.bits, tensor.lanes) == (code, bits, 1)
    assert (tensor.device_type, tensor.device_id, tensor.byte_offset) == (1, 0, 0)
    assert (tensor.data, tensor.ndim, tensor.shape[:2], tensor.strides[:2]) == (array.ctypes.data, 2, [3, 4], [4, 1])


@pytest.mark.parametrize("name", [name for _, _, name in ELEMENTS + SUB_BYTE])
def test_there_and_back_shares_the_memory(name):
    array = some(name)
    back, fmt = lutcast.from_dlpack(lutcast.to_dlpack(array))
    assert fmt is lutcast.get_format(name)
    assert back.dtype == array.dtype
    assert back.tobytes() == array.tobytes()
    assert back.ctypes.data == array.ctypes.data
    assert back.flags.writeable


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::2, 1:], lambda a: a.T, lambda a: a[::-1, ::-1], lambda a: a[1], lambda a: a[1, 2, ...],
        lambda a: a[:0], lambda a: a[:, None, :1], lambda a: np.broadcast_to(a[0], (5, 4)),
    ],
)  # fmt: skip
def test_views_and_empty_arrays(view):
    array = view(some("bfloat16"))
    back, _ = lutcast.from_dlpack(lutcast.to_dlpack(array))
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()
    assert not array.size or back.ctypes.data == array.ctypes.data
    assert back.flags.writeable == array.flags.writeable


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64", "float16"])
def test_numpy_as_consumer_and_producer(dtype):
    array = some(dtype)
    taken = np.from_dlpack(lutcast.to_dlpack(array))
    assert taken.dtype == array.dtype
    assert taken.tobytes() == array.tobytes()
    assert np.shares_memory(taken, array)
    back, fmt = lutcast.from_dlpack(array[:, ::2])
    assert fmt.name == dtype
    assert back.strides == array[:, ::2].strides
    assert np.shares_memory(back, array)


def test_codes_are_exported_under_the_name_of_their_format():
    codes = np.arange(8, dtype=np.uint8)
    tensor = struct_of(lutcast.to_dlpack(codes, "float8_e5m2").__dlpack__()).tensor
    assert (tensor.code, tensor.bits, tensor.data) == (12, 8, codes.ctypes.data)
    array, fmt = lutcast.from_dlpack(lutcast.to_dlpack(codes, "F8_E4M3"))
    assert (fmt.name, array.dtype) == ("float8_e4m3fn", ml_dtypes.float8_e4m3fn)


@pytest.mark.parametrize(("code", "bits", "name"), SUB_BYTE)
def test_packed_elements(code, bits, name):
    codes = some(name, (3, 5))
    packed = lutcast.pack(codes)
    export = lutcast.to_dlpack(packed, name, shape=(3, 5))
    for version in (None, (1, 1)):
        tensor = struct_of(export.__dlpack__(max_version=version)).tensor
        assert (tensor.code, tensor.bits, tensor.lanes) == (code, bits, 1)
        assert (tensor.data, tensor.shape[:2], tensor.strides[:2]) == (packed.ctypes.data, [3, 5], [5, 1])
    back, fmt = lutcast.from_dlpack(export)
    assert fmt.name == name
    assert back.tobytes() == codes.tobytes()
    foreign = Producer(packed, (code, bits, 1), ndim=2, shape=(3, 5), strides=None)
    back, _ = lutcast.from_dlpack(foreign)
    assert back.tobytes() == codes.tobytes()
    assert len(foreign.deleted) == 1  # the bytes are not needed any more


def test_pairs_of_float4_are_two_lanes():
    pairs = np.random.default_rng(0).integers(0, 256, (3, 4), np.uint8)
    for array in (pairs, pairs[:, ::2]):
        export = lutcast.to_dlpack(array, pairs=True)
        tensor = struct_of(export.__dlpack__(max_version=(1, 0))).tensor
        assert (tensor.code, tensor.bits, tensor.lanes) == (17, 4, 2)
        assert (tensor.data, tensor.shape[:2]) == (pairs.ctypes.data, list(array.shape))
        back, fmt = lutcast.from_dlpack(export)
        assert fmt.name == "float4_e2m1fn"
        assert back.view(np.uint8)[:, ::2].tolist() == (array & 15).tolist()
        assert back.view(np.uint8)[:, 1::2].tolist() == (array >> 4).tolist()


# --------------------------------------------------------------------------- lifetimes


@pytest.mark.parametrize("version", [None, (1, 1)])
def test_a_capsule_owns_its_array_once(version):
    array = some("float8_e5m2")
    export = lutcast.to_dlpack(array)
    before = sys.getrefcount(array)
    capsule = export.__dlpack__(max_version=version)
    assert sys.getrefcount(array) == before + 1
    del capsule  # nobody consumed it
    assert sys.getrefcount(array) == before
    capsule = export.__dlpack__(max_version=version)
    back, _ = lutcast.from_dlpack(Given(capsule))
    assert name_of(capsule).startswith("used_dltensor")
    view = back[1:]
    del capsule, back
    gc.collect()
    assert sys.getrefcount(array) > before  # a view is left
    del view
    assert sys.getrefcount(array) == before


@pytest.mark.parametrize("is_versioned", [False, True])
def test_the_deleter_of_a_foreign_capsule_is_called_once_when_the_last_view_goes(is_versioned):
    producer = Producer(some("bfloat16"), (4, 16, 1), is_versioned=is_versioned)
    array, _ = lutcast.from_dlpack(producer)
    view = array.T[1:]
    producer.capsule = None
    del array
    gc.collect()
    assert producer.deleted == []
    assert view.tobytes() == producer.array.T[1:].tobytes()
    del view
    gc.collect()
    assert len(producer.deleted) == 1
    # What the deleter gets is the struct itself.
    assert producer.deleted[0] == ctypes.addressof(producer.struct)


def test_a_producer_may_have_no_deleter():
    producer = Producer(some("float32"), (2, 32, 1))
    producer.struct.deleter = type(producer.struct.deleter)()
    array, _ = lutcast.from_dlpack(producer)
    assert array.tobytes() == producer.array.tobytes()
    del array
    assert producer.deleted == []


def test_exported_memory_outlives_its_array():
    back, _ = lutcast.from_dlpack(lutcast.to_dlpack(np.arange(1000, dtype=np.float32).astype(ml_dtypes.bfloat16)))
    gc.collect()
    np.full(1000, 7, np.uint16)  # would be given the freed memory
    assert back[:5].tolist() == [0, 1, 2, 3, 4]


def test_nothing_leaks():
    array = some("bfloat16", (2, 2, 2, 2))
    export = lutcast.to_dlpack(array)

    def make(times):
        for _ in range(times):
            export.__dlpack__()
            export.__dlpack__(max_version=(1, 1))
            lutcast.from_dlpack(export)

    make(1000)
    before, references = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, sys.getrefcount(array)
    make(50_000)
    assert sys.getrefcount(array) == references
    # In KiB. A block that is not freed takes 150 bytes, 15,000 KiB in 100,000 of them.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 5000


# --------------------------------------------------------------------------- read-only arrays


def test_read_only_arrays():
    array = some("bfloat16")
    array.flags.writeable = False
    export = lutcast.to_dlpack(array)
    assert struct_of(export.__dlpack__(max_version=(1, 0))).flags == READ_ONLY
    for version in (None, (0, 8)):
        with pytest.raises(BufferError, match=r"^max_version: .* given; a read-only array needs DLPack 1\.0 or copy="):
            export.__dlpack__(max_version=version)
    back, _ = lutcast.from_dlpack(export)
    assert not back.flags.writeable
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        back[0] = 1


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_copies(version):
    array = some("bfloat16")[:, ::2]
    array.flags.writeable = False
    capsule = lutcast.to_dlpack(array).__dlpack__(max_version=version, copy=True)
    struct = struct_of(capsule)
    assert struct.tensor.data != array.ctypes.data
    assert struct.tensor.strides[:2] == [2, 1]
    assert version is None or struct.flags == IS_COPIED
    back, _ = lutcast.from_dlpack(Given(capsule))
    assert back.tobytes() == array.tobytes()
    assert back.flags.writeable is (version is not None)


def test_legacy_capsules_are_taken_as_read_only():
    array, _ = lutcast.from_dlpack(Producer(some("float32"), (2, 32, 1), is_versioned=False))
    assert not array.flags.writeable


def test_a_producer_from_before_versions():
    class Old(Producer):
        def __dlpack__(self):
            return self.capsule

    array, _ = lutcast.from_dlpack(Old(some("float32"), (2, 32, 1), is_versioned=False))
    assert array.tobytes() == some("float32").tobytes()


@pytest.mark.parametrize("device", [3, 11])
def test_pinned_memory_is_read(device):
    producer = Producer(some("float32"), (2, 32, 1), device=(device, 0), device_type=device)
    assert lutcast.from_dlpack(producer)[0].tobytes() == producer.array.tobytes()


def test_strides_of_null_byte_offset_and_memory_that_is_not_aligned():
    raw = np.random.default_rng(0).integers(0, 256, 64, np.uint8)
    producer = Producer(raw, (2, 32, 1), ndim=2, shape=(3, 4), strides=None, byte_offset=5)
    array, _ = lutcast.from_dlpack(producer)
    assert array.tobytes() == raw[5:53].tobytes()
    assert not array.flags.aligned
    assert lutcast.cast(array, "float16").tobytes() == lutcast.cast(array.copy(), "float16").tobytes()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 5)])
def test_empty_tensors_may_lie_nowhere(shape):
    producer = Producer(np.empty(shape, np.float32), (2, 32, 1), data=None)
    assert lutcast.from_dlpack(producer)[0].shape == shape


def test_what_an_export_shows():
    array = some("bfloat16")
    export = lutcast.to_dlpack(array)
    assert repr(export) == "<Export of bfloat16, shape (3, 4)>"
    assert export.array is array
    assert export.format.name == "bfloat16"
