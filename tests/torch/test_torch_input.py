"""Tensors of torch are read where they lie in memory."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import lutcast
from lutcast.arrays import as_array
from lutcast.names import array_dtype

spec = importlib.util.find_spec("torch")
if spec is None or spec.origin is None:  # without torch its name finds this folder
    pytest.skip("torch is not installed", allow_module_level=True)
torch = importlib.import_module("torch")
pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")

DTYPES = [
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
    "float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128",
]  # fmt: skip
SUB_BYTE = ["int2", "uint2", "int4", "uint4"]


def random_tensor(name, shape=(5, 6)):
    """Return a tensor of random bits, and the same bits as an ndarray."""
    dtype = array_dtype(lutcast.get_format(name))
    size = int(np.prod(shape)) * dtype.itemsize
    raw = np.random.default_rng(0).integers(0, 2 if name == "bool" else 256, size, np.uint8)
    array = raw.view(dtype).reshape(shape)
    return torch.from_numpy(raw.copy()).view(getattr(torch, name)).reshape(shape), array


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_gives_the_bits_of_its_memory(name):
    tensor, array = random_tensor(name)
    assert lutcast.get_format(tensor.dtype).name == name
    found, fmt = as_array(tensor)
    assert fmt.name == name
    assert found.dtype == array.dtype
    assert found.tobytes() == array.tobytes()
    assert found.ctypes.data == tensor.data_ptr()
    for dst in ("float32", "bfloat16", "int8", "complex64", name):
        assert lutcast.cast(tensor, dst).tobytes() == lutcast.cast(array, dst).tobytes()


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize(
    "view",
    [
        lambda t: t[::2, 1:], lambda t: t.T, lambda t: t[3], lambda t: t[1, 2], lambda t: t[:, :1].expand(5, 6),
        lambda t: t[:0],
    ],
    ids=["sliced", "transposed", "row", "0-d", "expanded", "empty"],
)  # fmt: skip
def test_views(name, view):
    tensor, _ = random_tensor(name)
    x = view(tensor)
    found, _ = as_array(x)
    assert found.shape == tuple(x.shape)
    assert not found.size or found.ctypes.data == x.data_ptr()
    assert lutcast.cast(x, "float16").tobytes() == lutcast.cast(x.contiguous(), "float16").tobytes()


@pytest.mark.parametrize("name", SUB_BYTE)
def test_sub_byte_integers_lie_one_to_a_byte(name):
    codes = torch.arange(16, dtype=torch.uint8)
    x = codes.view(getattr(torch, name))
    found, fmt = as_array(x)
    assert fmt.name == name
    assert found.ctypes.data == codes.data_ptr()
    assert lutcast.cast(x, "int8").tobytes() == lutcast.cast(codes.numpy(), "int8", src=name).tobytes()


@pytest.mark.parametrize("shape", [(3, 4), (7,), (2, 0), (2, 3, 1)])
def test_packed_float4_is_unpacked_along_the_last_axis(shape):
    packed = torch.from_numpy(np.random.default_rng(0).integers(0, 256, shape, np.uint8))
    x = packed.view(torch.float4_e2m1fn_x2)
    result = lutcast.cast(x, "float32")
    assert result.shape == (*shape[:-1], 2 * shape[-1])
    expected = lutcast.unpack(packed.numpy().ravel(), "float4_e2m1fn", result.shape)
    assert result.tobytes() == lutcast.cast(expected, "float32").tobytes()
    assert lutcast.cast(x, "float4_e2m1fn").dtype == array_dtype(lutcast.get_format("float4_e2m1fn"))


def test_gradients_and_parameters():
    x = torch.tensor([1.5, -2.5], requires_grad=True)
    y = x * 2
    for tensor in (x, torch.nn.Parameter(torch.tensor([1.5, -2.5]))):
        assert lutcast.cast(tensor, "int8").tolist() == [1, -2]
    assert lutcast.cast(y, "int8").tolist() == [3, -5]
    assert y.requires_grad
    found, _ = as_array(x)
    assert found.ctypes.data == x.data_ptr()


def test_conjugate_and_negative_views():
    x = torch.tensor([1 + 2j, 3 - 4j])
    assert x.conj().is_conj()
    assert lutcast.cast(x.conj(), "complex128").tolist() == [1 - 2j, 3 + 4j]
    assert x.conj().imag.is_neg()
    assert lutcast.cast(x.conj().imag, "int8").tolist() == [-2, 4]


@pytest.mark.parametrize(
    "make",
    [lambda: torch.eye(2).to_sparse(), lambda: torch.eye(2).to_sparse_csr(), lambda: torch.zeros(2, device="meta")],
    ids=["sparse", "csr", "meta"],
)
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_other_tensors_are_refused(make):
    with pytest.raises(ValueError, match=r"^x: a torch\.\S+ tensor on \S+ given, a strided one on the CPU is needed$"):
        lutcast.cast(make(), "float16")


@pytest.mark.parametrize("name", ["bits8", "bits1x8", "int3", "uint7"])
def test_dtypes_without_format_are_refused(name):
    x = torch.zeros(4, dtype=torch.uint8).view(getattr(torch, name))
    with pytest.raises(TypeError, match=rf"^x: 'torch\.{name}' is not a format; formats are"):
        lutcast.cast(x, "float16")
    with pytest.raises(TypeError, match=rf"^dtype: torch\.{name} is not a format"):
        lutcast.cast([1.0], x.dtype)


def test_src_names_the_format_of_codes():
    codes = torch.tensor([0x38, 0xB8], dtype=torch.uint8)
    assert lutcast.cast(codes, "float32", src="float8_e4m3fn").tolist() == [1, -1]
    assert lutcast.cast(codes.view(torch.float8_e4m3fn), "float32", src=torch.float8_e4m3fn).tolist() == [1, -1]
    with pytest.raises(ValueError, match=r"^x: dtype bfloat16 given for float16; it takes float16 or codes as uint16$"):
        lutcast.cast(torch.zeros(2, dtype=torch.bfloat16), "float32", src="float16")


def test_destination_target_and_prepared_cast():
    x = torch.tensor([1.5, -300.0], dtype=torch.bfloat16)
    assert lutcast.cast(x, torch.float16).dtype == np.float16
    assert lutcast.cast_like(x, torch.empty(0, dtype=torch.int8)).tolist() == [1, -128]
    assert lutcast.caster(torch.bfloat16, torch.int8)(x).tolist() == [1, -128]
    assert lutcast.round_to_integral(x).tolist() == [2, -300]
    assert lutcast.audit(x, "int8").saturated == 1


def test_copy_false_shares_memory():
    x = torch.tensor([1.5, 2.5], dtype=torch.bfloat16)
    result = lutcast.cast(x, "bfloat16", copy=False)
    result[0] = 7
    assert x[0] == 7
    assert lutcast.cast(x, "bfloat16").ctypes.data != x.data_ptr()


def test_out_is_an_ndarray_and_may_share_the_memory_of_a_tensor():
    x = torch.tensor([1.5, -2.5])
    with pytest.raises(ValueError, match=r"^out: a Tensor given, an ndarray is needed$"):
        lutcast.cast(x, "float32", out=x)
    lutcast.cast(x, "int32", out=x.numpy().view(np.int32))
    assert x.view(torch.int32).tolist() == [1, -2]
    with pytest.raises(ValueError, match=r"^out: overlaps x"):
        lutcast.cast(x[:1].expand(2), "int32", out=x.numpy().view(np.int32))


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "bfloat16", "float16"])
def test_same_values_as_torch_where_both_are_exact(name):
    codes = torch.arange(256 if "8" in name[:6] else 65536, dtype=torch.int32)
    x = codes.to(torch.uint8 if len(codes) == 256 else torch.uint16).view(getattr(torch, name))
    finite = x.float().isfinite()
    assert np.array_equal(lutcast.cast(x, "float32")[finite], x.float()[finite].numpy())


def test_casts_after_flushing_was_switched_on():
    x = torch.tensor([1e-40, -1e-40, 1e-310], dtype=torch.float64)
    expected = [lutcast.cast(x, dst).tobytes() for dst in ("float32", "bfloat16", "float64", "bool")]
    torch.set_flush_denormal(True)
    try:
        results = [lutcast.cast(x, dst).tobytes() for dst in ("float32", "bfloat16", "float64", "bool")]
    finally:
        torch.set_flush_denormal(False)
    assert results == expected


def test_torch_is_not_imported():
    code = "import sys, lutcast; lutcast.cast([1.0], 'torch.bfloat16'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
