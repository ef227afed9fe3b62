"""`lutcast.torch`: the bits of `lutcast.cast`, in tensors."""

import doctest
import importlib.util

import numpy as np
import pytest

import lutcast
from lutcast.names import array_dtype

spec = importlib.util.find_spec("torch")
if spec is None or spec.origin is None:  # without torch its name finds this folder
    pytest.skip("torch is not installed", allow_module_level=True)
torch = importlib.import_module("torch")
module = importlib.import_module("lutcast.torch")
cast, cast_like, torch_dtype = module.cast, module.cast_like, module.torch_dtype
pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")

FLOATS = [
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float16", "bfloat16",
]  # fmt: skip
FORMATS = [fmt.name for fmt in lutcast.formats()]
PAIRS = torch.float4_e2m1fn_x2


def raw(tensor):
    """Return the bytes of the elements of a tensor, in C order."""
    contiguous = tensor.detach().resolve_conj().contiguous()
    return contiguous.flatten().view(torch.uint8).numpy().tobytes()


def all_codes(name):
    """Return a tensor of every code of a format, and the same as an array."""
    fmt = lutcast.get_format(name)
    codes = np.arange(1 << fmt.bits, dtype=f"u{fmt.itemsize}")
    return torch.from_numpy(codes.copy()).view(torch_dtype(fmt)), codes.view(array_dtype(fmt))


@pytest.mark.parametrize("src", FLOATS)
@pytest.mark.parametrize("dst", FORMATS)
def test_all_codes_of_torch_s_narrow_floats(src, dst):
    tensor, array = all_codes(src)
    result = cast(tensor, dst, packed=False)
    assert result.dtype is torch_dtype(dst)
    assert result.shape == tensor.shape
    assert raw(result) == lutcast.cast(array, dst).tobytes()


@pytest.mark.parametrize("src", ["hifloat8", "float6_e3m2fn", "float6_e2m3fn", "float4_e1m2fn", "float8_e3m4", "int4"])
@pytest.mark.parametrize("dst", [*FLOATS, "float32", "int8"])
def test_all_codes_of_formats_that_torch_lacks(src, dst):
    _, array = all_codes(src)
    codes = torch.from_numpy(array.view(np.uint8).copy())
    assert raw(cast(codes, dst, src=src)) == lutcast.cast(array, dst, src=src).tobytes()


@pytest.mark.parametrize(("rounding", "overflow", "nan"), [("floor", "ieee", "zero"), ("to_odd", "saturate", "keep")])
def test_the_policy(rounding, overflow, nan):
    x = torch.from_numpy(np.random.default_rng(0).integers(0, 1 << 32, 10_000, np.uint32)).view(torch.float32)
    policy = {"rounding": rounding, "overflow": overflow, "nan": nan}
    for dst in (torch.float8_e5m2, "float16", torch.bfloat16, "float6_e3m2fn"):
        expected = lutcast.cast(x.numpy(), dst, **policy).tobytes()
        assert raw(cast(x, dst, **policy)) == expected
        assert raw(cast(x, dst, threads=2, **policy)) == expected


@pytest.mark.parametrize("src", FLOATS)
@pytest.mark.parametrize("dst", ["float32", "float64"])
def test_torch_agrees_where_it_is_exact(src, dst):
    tensor, _ = all_codes(src)
    ours, theirs = cast(tensor, dst), tensor.to(torch.float32).to(getattr(torch, dst))
    is_number = ~theirs.isnan()
    assert torch.equal(ours.isnan(), theirs.isnan())
    assert raw(ours[is_number]) == raw(theirs[is_number])


@pytest.mark.parametrize("dst", ["float16", "bfloat16", "float8_e5m2", "float64", "int64"])
def test_torch_agrees_on_numbers_that_fit(dst):
    x = torch.randn(100_000, generator=torch.Generator().manual_seed(0)) * 100
    assert raw(cast(x, dst)) == raw(x.to(getattr(torch, dst)))


# --------------------------------------------------------------------------- layouts


VIEWS = [
    lambda t: t[::2, 1:], lambda t: t.T, lambda t: t[3], lambda t: t[1, 2], lambda t: t[:, :1].expand(6, 8),
    lambda t: t[:0], lambda t: t.reshape(2, 3, 8).permute(2, 0, 1), lambda t: t[:, ::3],
]  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e4m3fn", "complex64", "complex128", "bool", "uint16"])
def test_views(view, name):
    size = torch.empty(0, dtype=getattr(torch, name)).element_size()
    noise = np.random.default_rng(0).integers(0, 2 if name == "bool" else 256, 48 * size, np.uint8)
    x = view(torch.from_numpy(noise).view(getattr(torch, name)).reshape(6, 8))
    for dst in (torch.float16, torch.float8_e5m2, "complex64", name):
        result = cast(x, dst)
        assert result.shape == x.shape
        assert raw(result) == raw(cast(x.contiguous(), dst))


def test_the_result_has_the_layout_of_the_source():
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    result = cast(x, torch.bfloat16)
    assert result.is_contiguous(memory_format=torch.channels_last)
    assert cast(torch.randn(3, 4).T, torch.float8_e5m2).stride() == (1, 4)


def test_the_result_is_torch_s_own_memory():
    x = torch.randn(4)
    for tensor in (x, cast(x, torch.bfloat16), cast(x, PAIRS)):
        assert tensor.resize_(100).numel() == 100


def test_conjugate_and_negative_views():
    x = torch.tensor([1 + 2j, 3 - 4j])
    assert cast(x.conj(), torch.complex128).tolist() == [1 - 2j, 3 + 4j]
    assert cast(x.conj(), torch.complex64).tolist() == [1 - 2j, 3 + 4j]
    assert cast(x.conj().imag, torch.int8).tolist() == [-2, 4]
    assert cast(x.conj().imag, torch.float32).tolist() == [-2, 4]


# --------------------------------------------------------------------------- packed elements


@pytest.mark.parametrize("shape", [(16,), (3, 6), (2, 0), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["float4_e2m1fn", "F4", PAIRS])
def test_float4_is_packed_as_in_torch(shape, dtype):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0)) * 4
    result = cast(x, dtype)
    assert result.dtype is PAIRS
    assert result.shape == (*shape[:-1], shape[-1] // 2)
    assert raw(result) == lutcast.cast(x.numpy(), "float4_e2m1fn", packed=True).tobytes()
    back = cast(result, torch.float32)
    assert back.shape == shape
    assert raw(back) == lutcast.cast(lutcast.cast(x.numpy(), "float4_e2m1fn"), "float32").tobytes()
    assert raw(cast(result, PAIRS)) == raw(result)
    assert cast_like(x, torch.empty(0, dtype=PAIRS)).dtype is PAIRS


def test_every_pair_of_float4_to_every_format():
    codes = torch.arange(256, dtype=torch.uint8).reshape(4, 64)
    array = lutcast.unpack(codes.numpy().ravel(), "float4_e2m1fn", (4, 128))
    for dst in FORMATS:
        assert raw(cast(codes.view(PAIRS), dst, packed=False)) == lutcast.cast(array, dst).tobytes()


def test_views_of_pairs():
    codes = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (4, 6), np.uint8))
    for view in (lambda t: t[::2], lambda t: t[:, 1::2], lambda t: t.T, lambda t: t[1]):
        result = cast(view(codes).view(PAIRS), torch.bfloat16)
        assert raw(result) == raw(cast(view(codes).contiguous().view(PAIRS), torch.bfloat16))


@pytest.mark.parametrize("name", ["float6_e2m3fn", "float6_e3m2fn", "float4_e1m2fn", "int4", "uint4", "int2", "uint2"])
def test_other_formats_pack_into_bytes(name):
    x = torch.randn(3, 8, generator=torch.Generator().manual_seed(0)) * 4
    result = cast(x, name, packed=True)
    assert result.dtype is torch.uint8
    assert result.shape == (3, lutcast.get_format(name).bits)
    assert raw(result) == lutcast.cast(x.numpy(), name, packed=True).tobytes()
    assert torch_dtype(name, packed=True) is torch.uint8
    assert cast(x, name).dtype is torch_dtype(name)


def test_what_cannot_be_packed():
    for x, dst, message in [
        (torch.zeros(2, 3), PAIRS, r"^tensor: shape \(2, 3\) given; packed float4_e2m1fn needs a last dimension"),
        (torch.zeros(()), "float4_e2m1fn", r"^tensor: shape \(\) given; packed float4_e2m1fn needs a .* multiple of 2"),
        (torch.zeros(6), "float6_e2m3fn", r"^tensor: shape \(6,\) given; packed float6_e2m3fn .* multiple of 4"),
        (torch.zeros(8), "int8", r"^packed: int8 is not packed; formats of 2, 4 and 6 bits are$"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            cast(x, dst, packed=True)
    assert cast(torch.tensor([1.0, 2.0, 3.0]), "float4_e2m1fn", packed=False).tolist() == [2, 4, 5]
    with pytest.raises(ValueError, match=r"^packed: False given for torch\.float4_e2m1fn_x2, which is packed"):
        cast(torch.zeros(2), PAIRS, packed=False)


# --------------------------------------------------------------------------- out


@pytest.mark.parametrize(
    "dst", ["float8_e4m3fn", "bfloat16", "hifloat8", "float6_e2m3fn", "float4_e2m1fn", "complex128"]
)
def test_out(dst):
    x = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
    expected = cast(x, dst)
    out = torch.zeros_like(expected.view(torch.uint8)).view(expected.dtype)
    assert cast(x, dst, out=out) is out
    assert raw(out) == raw(expected)


def test_out_by_strides_and_in_place():
    x = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
    out = torch.zeros(8, 12, dtype=torch.bfloat16)
    cast(x, torch.bfloat16, out=out.T[::2])
    assert torch.equal(out.T[::2], x.to(torch.bfloat16))
    assert not out.T[1::2].any()
    expected = x.to(torch.float16)
    half = x.view(torch.float16).flatten()[: x.numel()].view(x.shape)
    assert torch.equal(cast(x, torch.float16, out=half), expected)


def test_out_is_checked():
    x = torch.zeros(2, 4)
    for dst, out, message in [
        ("bfloat16", np.zeros((2, 4)), r"^out: a ndarray given, a torch\.Tensor is needed$"),
        ("bfloat16", torch.zeros(2, 4), r"^out: dtype torch\.float32 given, torch\.bfloat16 is needed for bfloat16$"),
        ("hifloat8", torch.zeros(2, 4), r"^out: dtype torch\.float32 given, torch\.uint8 is needed for hifloat8$"),
        ("float32", torch.zeros(8), r"^out: shape \(8,\) given, \(2, 4\) is needed$"),
        ("float32", torch.zeros(2, 4, device="meta"), r"^out: a torch\.strided tensor on meta given, a strided"),
        ("float32", torch.zeros(2, 4, requires_grad=True), r"^out: requires a gradient, which a cast does not"),
        ("float32", torch.zeros(4).expand(2, 4), r"^out: elements lie in the same memory, as those of an"),
        ("complex64", torch.zeros(2, 4, dtype=torch.complex64).conj(), r"^out: a conjugate or negative view given"),
        ("float32", torch.zeros(2, 4, dtype=torch.complex64).conj().imag, r"^out: a conjugate or negative view given"),
        ("float32", x[:1].expand(2, 4), r"^out: elements lie in the same memory"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            cast(x, dst, out=out)
    with pytest.raises(ValueError, match=r"^out: a contiguous tensor is needed for the packed result$"):
        cast(x, "float6_e2m3fn", packed=True, out=torch.zeros(2, 6, dtype=torch.uint8)[:, ::2])
    memory = torch.zeros(9)
    with pytest.raises(ValueError, match=r"^out: overlaps x in a way that is not safe"):
        cast(memory[:8], "float32", out=memory[1:])
    with pytest.raises(ValueError, match=r"^out: overlaps x$"):
        cast(memory[:8], PAIRS, out=memory.view(torch.uint8)[:4].view(PAIRS))


# --------------------------------------------------------------------------- gradients and other tensors


def test_gradients_are_not_lost_in_silence():
    x = torch.tensor([1.5, -2.5], requires_grad=True)
    message = (
        r"^tensor: requires a gradient, which a cast does not pass on; give tensor\.detach\(\), or cast under torch\.no"
    )
    for tensor in (x, x * 2, torch.nn.Parameter(torch.ones(2))):
        with pytest.raises(ValueError, match=message):
            cast(tensor, torch.bfloat16)
    assert cast(x.detach(), torch.int8).tolist() == [1, -2]
    with torch.no_grad():
        result = cast(x, torch.bfloat16)
        assert result.tolist() == [1.5, -2.5]
        assert not result.requires_grad
        assert type(cast(torch.nn.Parameter(torch.ones(2)), torch.bfloat16)) is torch.Tensor
        parameter = torch.nn.Parameter(torch.ones(2))
        assert cast(torch.zeros(2), torch.float32, out=parameter) is parameter
        assert parameter.tolist() == [0, 0]
    with torch.inference_mode():
        assert cast(torch.ones(2), torch.bfloat16, out=torch.empty(2, dtype=torch.bfloat16)).tolist() == [1, 1]


def test_a_graph_notices_that_out_was_written():
    w = torch.tensor([2.0], requires_grad=True)
    saved = torch.tensor([3.0])
    y = w * saved
    cast(torch.tensor([5.0], dtype=torch.float64), torch.float32, out=saved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta", "ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda: torch.zeros(2, device="meta"), r"torch\.strided tensor on meta"),
        (lambda: torch.eye(2).to_sparse(), r"torch\.sparse_coo tensor on cpu"),
        (lambda: torch.eye(2).to_sparse_csr(), r"torch\.sparse_csr tensor on cpu"),
        (lambda: torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]), r"nested tensor on cpu"),
    ],
)
def test_tensors_elsewhere_are_refused(make, shown):
    with pytest.raises(ValueError, match=rf"^tensor: a {shown} given, a strided one on the CPU is needed$"):
        cast(make(), torch.bfloat16)


def test_tensors_without_memory_are_refused():
    zeros = torch._efficientzerotensor(3)
    with pytest.raises(ValueError, match=r"^tensor: a tensor without memory given, such as a fake one$"):
        cast(zeros, torch.bfloat16)
    with pytest.raises(ValueError, match=r"^out: a tensor without memory given"):
        cast(torch.ones(3), torch.float32, out=zeros)


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor", "ignore:.*quantized")
def test_quantized_tensors_are_refused():
    x = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8)
    with pytest.raises(TypeError, match=r"^tensor: 'torch\.quint8' is not a format"):
        cast(x, torch.float32)


def test_other_arguments():
    with pytest.raises(TypeError, match=r"^tensor: a list given, a torch\.Tensor is needed$"):
        cast([1.0], torch.bfloat16)
    with pytest.raises(TypeError, match=r"^dtype: torch\.quint8 is not a format"):
        cast(torch.zeros(2), torch.quint8)
    with pytest.raises(
        ValueError, match=r"^tensor: dtype float32 given for hifloat8; it takes uint8 or codes as uint8$"
    ):
        cast(torch.zeros(2), torch.float32, src="hifloat8")
    with pytest.raises(ValueError, match=r"^threads: 0 given"):
        cast(torch.zeros(2), torch.float32, threads=0)


def test_other_arguments_are_named_at_every_call():
    x = torch.zeros(2)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"^dtype: \[\] is not a format"):
            cast(x, [])
        with pytest.raises(ValueError, match=r"^rounding: 'up' is not one of"):
            cast(x, torch.bfloat16, rounding="up")
        with pytest.raises(ValueError, match=r"^overflow: 'up' is not one of"):
            cast(x, torch.bfloat16, overflow="up")
        with pytest.raises(ValueError, match=r"^nan: 'up' is not one of"):
            cast(x, torch.bfloat16, nan="up")


def test_memory_that_is_not_aligned():
    numbers = torch.arange(5, dtype=torch.float64)
    memory = torch.zeros(41, dtype=torch.uint8)
    memory[1:] = numbers.view(torch.uint8)
    for offset, x in ((0, numbers), (1, torch.frombuffer(memory.numpy(), dtype=torch.float64, offset=1))):
        assert x.data_ptr() % 8 == offset
        assert cast(x, torch.bfloat16).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_trace_is_refused():
    with pytest.raises(ValueError, match=r"^tensor: is traced by torch\.jit, which cannot record a cast"):
        torch.jit.trace(lambda x: cast(x, torch.bfloat16), torch.ones(2))


def test_cast_like():
    x = torch.tensor([1.5, -300.0], dtype=torch.bfloat16)
    assert cast_like(x, torch.empty(0, dtype=torch.int8, device="meta")).tolist() == [1, -128]
    assert cast_like(x, np.empty(0, np.int8), overflow="wrap").tolist() == [1, -44]
    with pytest.raises(TypeError, match=r"^like: elements of dtype datetime64\[s\] have no format"):
        cast_like(x, np.empty(0, "M8[s]"))


def test_a_default_device_changes_nothing():
    with torch.device("meta"):
        assert cast(torch.ones(2, device="cpu"), PAIRS).device.type == "cpu"
        assert cast(torch.ones(2, device="cpu"), torch.int8).tolist() == [1, 1]


def test_examples():
    assert doctest.testmod(module).failed == 0
    assert lutcast.torch is module
