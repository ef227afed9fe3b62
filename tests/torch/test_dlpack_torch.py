"""DLPack between lutcast and torch: memory is shared both ways, in every dtype that torch has."""

import gc
import importlib.util
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import lutcast
from lutcast.names import array_dtype

spec = importlib.util.find_spec("torch")
if spec is None or spec.origin is None:  # without torch its name finds this folder
    pytest.skip("torch is not installed", allow_module_level=True)
torch = importlib.import_module("torch")

DTYPES = [
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def some(name, shape=(4, 6)):
    dtype = array_dtype(lutcast.get_format(name))
    size = int(np.prod(shape)) * dtype.itemsize
    return np.random.default_rng(0).integers(0, 2 if name == "bool" else 256, size, np.uint8).view(dtype).reshape(shape)


def raw(tensor):
    return tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes()


@pytest.mark.parametrize("name", DTYPES)
def test_torch_takes_what_numpy_does_not_export(name):
    array = some(name)
    tensor = torch.from_dlpack(lutcast.to_dlpack(array))
    assert tensor.dtype is getattr(torch, name)
    assert tensor.data_ptr() == array.ctypes.data
    assert raw(tensor) == array.tobytes()
    part = torch.from_dlpack(lutcast.to_dlpack(array[::2, 1:].T))
    assert part.stride() == (1, 12)
    assert raw(part) == array[::2, 1:].T.tobytes()


@pytest.mark.parametrize("name", DTYPES)
def test_lutcast_takes_what_torch_exports(name):
    tensor = torch.from_numpy(some(name).view(np.uint8)).view(getattr(torch, name))
    for x in (tensor, tensor[::2, 1:], tensor.T, tensor[1, 2], tensor[:0]):
        array, fmt = lutcast.from_dlpack(x)
        assert fmt.name == name
        assert array.dtype == array_dtype(fmt)
        assert array.shape == tuple(x.shape)
        assert array.tobytes() == raw(x)
        assert not array.size or array.ctypes.data == x.data_ptr()
        assert array.flags.writeable


def test_pairs_of_float4():
    codes = np.random.default_rng(0).integers(0, 256, (3, 4), np.uint8)
    tensor = torch.from_dlpack(lutcast.to_dlpack(codes, pairs=True))
    assert tensor.dtype is torch.float4_e2m1fn_x2
    assert tensor.data_ptr() == codes.ctypes.data
    array, fmt = lutcast.from_dlpack(tensor)
    assert fmt.name == "float4_e2m1fn"
    assert array.tobytes() == lutcast.unpack(codes.ravel(), "float4_e2m1fn", (3, 8)).tobytes()


def test_legacy_capsules():
    array = some("bfloat16")
    capsule = lutcast.to_dlpack(array).__dlpack__()
    assert raw(torch.from_dlpack(capsule)) == array.tobytes()
    with pytest.raises(RuntimeError, match="can be consumed only once"):
        torch.from_dlpack(capsule)
    gc.collect()


def test_memory_is_shared_and_outlives_either_side():
    array = np.arange(1000).astype(ml_dtypes.bfloat16)
    tensor = torch.from_dlpack(lutcast.to_dlpack(array))
    before = sys.getrefcount(array)
    tensor[0] = 7
    assert array[0] == 7
    del tensor
    gc.collect()
    assert sys.getrefcount(array) == before - 1
    tensor = torch.from_dlpack(lutcast.to_dlpack(np.arange(1000).astype(ml_dtypes.bfloat16)))
    gc.collect()
    np.full(1000, 7, np.uint16)  # would be given the freed memory
    assert tensor[:4].tolist() == [0, 1, 2, 3]
    back, _ = lutcast.from_dlpack(torch.arange(1000).to(torch.bfloat16))
    gc.collect()
    torch.full((1000,), 7, dtype=torch.int16)
    assert back[:4].tolist() == [0, 1, 2, 3]


def test_a_copy_is_the_consumer_s():
    array = some("bfloat16")
    array.flags.writeable = False
    tensor = torch.from_dlpack(lutcast.to_dlpack(array), copy=True)
    assert tensor.data_ptr() != array.ctypes.data
    assert raw(tensor) == array.tobytes()


def test_what_torch_cannot_say_is_refused():
    with pytest.raises(BufferError, match=r"^max_version: \(1, 0\) given; int4 one to a byte can be told from packed"):
        torch.from_dlpack(lutcast.to_dlpack(np.zeros(4, ml_dtypes.int4)))
    with pytest.raises(BufferError, match="require gradient"):
        lutcast.from_dlpack(torch.zeros(2, requires_grad=True))


def test_a_tensor_that_still_lives_at_exit():
    code = (
        "import torch, lutcast, ml_dtypes, numpy as np\n"
        "x = torch.from_dlpack(lutcast.to_dlpack(np.ones(9, ml_dtypes.bfloat16)))\n"
        "y = lutcast.from_dlpack(torch.ones(9, dtype=torch.float8_e5m2))\n"
        "torch.kept, np.kept = [x], [y]\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
