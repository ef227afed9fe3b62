"""The loops through their faces, in every variant that this processor runs."""

import importlib

import numpy as np
import pytest

import lutcast
from lutcast import _kernels, exact
from lutcast._kernels import faces
from lutcast.plan import _chain
from lutcast.policy import COMMON_ROUNDINGS, overflows, resolve

# Around the widths of vectors, and long enough for several.
LENGTHS = [*range(35), 63, 64, 65, 127, 128, 129, 1000]
SIZES = (1, 2, 4, 8)

# What plans use only where the vector unit has it.
VECTOR_ONLY = {f"{name}_to_bfloat16" for name in ("float16", "int16", "uint16")}
VECTOR_ONLY |= {f"{name}_to_float64" for name in ("float16", "bfloat16")}


def loops_of(variant):
    """Return the loops of a variant by name."""
    suffix = "" if variant == "baseline" else f"_{variant}"
    modules = [importlib.import_module(f"lutcast._kernels.{family}{suffix}") for family in _kernels.FAMILIES]
    return {name: address for module in modules for name, address in module.LOOPS.items()}


@pytest.fixture(params=_kernels.supported())
def loops(request):
    """Return the loops of one variant."""
    return loops_of(request.param)


def words(n, size, seed=0):
    """Return random words at an odd address."""
    raw = np.random.default_rng(seed).integers(0, 256, n * size + 64, np.uint8)
    return np.frombuffer(raw, f"u{size}", n, offset=-raw.ctypes.data % 64 + size if n else 0)


def test_baseline_is_everywhere():
    assert _kernels.supported()[0] == "baseline"
    assert _kernels.VARIANT in _kernels.supported()
    assert set(loops_of("baseline")) | VECTOR_ONLY >= set(_kernels.LOOPS)
    assert set(loops_of("baseline")) <= set(_kernels.LOOPS)


@pytest.mark.parametrize("value_size", SIZES)
@pytest.mark.parametrize("code_size", [1, 2])
def test_lookup(loops, code_size, value_size):
    table = np.random.default_rng(1).integers(0, 1 << 62, 1 << (8 * code_size)).astype(f"u{value_size}")
    for n in LENGTHS:
        src = words(n, code_size, n)
        dst = np.full(n + 1, 99, table.dtype)
        faces.lookup(loops, src, table, dst[:n])
        assert np.array_equal(dst, np.append(table[src], table.dtype.type(99)))


def test_lookup_refuses_other_lengths(loops):
    codes, table, values = np.zeros(3, np.uint8), np.zeros(256, np.uint16), np.zeros(3, np.uint16)
    with pytest.raises(ValueError, match=r"^dst: 2 elements given, 3 are needed$"):
        faces.lookup(loops, codes, table, values[:2])
    with pytest.raises(ValueError, match=r"^table: 255 entries given, 256 are needed$"):
        faces.lookup(loops, codes, table[:255], values)
    with pytest.raises(ValueError, match=r"^dst: 2 elements given, 3 are needed$"):
        faces.bitcode(loops, "bool_32", np.zeros(3, np.uint32), np.zeros(2, np.uint8), {})
    with pytest.raises(ValueError, match="not C-contiguous"):
        faces.lookup(loops, np.zeros(6, np.uint8)[::2], table, values)
    with pytest.raises(ValueError, match="read-only"):
        faces.lookup(loops, codes, table, np.frombuffer(bytes(6), np.uint16))


@pytest.mark.parametrize("bits", [2, 4, 6])
def test_pack_and_unpack(loops, bits):
    for n in LENGTHS:
        codes = words(n, 1, n)
        clean = codes & ((1 << bits) - 1)
        stream = np.unpackbits(clean[:, None], axis=1, bitorder="little")[:, :bits].ravel()
        expected = np.packbits(stream, bitorder="little")
        packed = np.full(len(expected) + 1, 99, np.uint8)
        faces.pack(loops, codes, packed[:-1], bits)
        assert packed.tolist() == [*expected.tolist(), 99]
        back = np.full(n + 1, 99, np.uint8)
        faces.unpack(loops, packed[:-1], back[:n], bits)
        assert back.tolist() == [*clean.tolist(), 99]


def test_pack_refuses_other_lengths(loops):
    with pytest.raises(ValueError, match=r"^dst: 3 bytes given for 3 codes of 6 bits$|^dst: 2 bytes given for 3 codes"):
        faces.pack(loops, np.zeros(3, np.uint8), np.zeros(2, np.uint8), 6)
    with pytest.raises(ValueError, match=r"^src: 2 bytes given for 3 codes of 6 bits$"):
        faces.unpack(loops, np.zeros(2, np.uint8), np.zeros(3, np.uint8), 6)


def single_loops(loops):
    """Return the casts from wide formats that are one loop of bit code, where a variant has it."""
    wide = [f for f in lutcast.formats() if f.bits >= 16 and f.kind in ("int", "float")]
    for src in wide:
        for dst in wide:
            for rounding in COMMON_ROUNDINGS if src is not dst else ():
                for overflow in overflows(dst):
                    policy = resolve(src, dst, rounding, overflow, "keep")
                    chain = _chain(src, dst, policy)
                    if len(chain) == 1 and chain[0].table is None and chain[0].loop in loops:
                        yield src, dst, policy, chain[0]


def test_bit_code(loops):
    seen = set()
    for src, dst, policy, link in single_loops(loops):
        codes = np.append(words(37, src.itemsize, 2), words(4, src.itemsize, 3) >> 3)
        values = np.zeros(len(codes), f"u{dst.itemsize}")
        faces.bitcode(loops, link.loop, codes, values, link.params)
        expected = [exact.cast_code(code, src, dst, policy) for code in codes.tolist()]
        assert values.tolist() == expected, (link.loop, policy)
        seen.add(link.loop)
    assert len(seen) > 30


def test_every_length_gives_the_same(loops):
    names = {}
    for src, dst, _, link in single_loops(loops):
        names.setdefault(link.loop, (src, dst, link.params))
    for name, (src, dst, params) in names.items():
        codes = words(1000, src.itemsize)
        whole = np.zeros(1000, f"u{dst.itemsize}")
        faces.bitcode(loops, name, codes, whole, params)
        for n in LENGTHS:
            part = np.full(n + 1, 99, whole.dtype)
            faces.bitcode(loops, name, codes[1000 - n :], part[:n], params)
            assert part.tolist() == [*whole[1000 - n :].tolist(), 99], (name, n)


def test_plans_of_arrays_and_faces_agree():
    x = words(1000, 4).view(np.float32)
    policy = resolve(lutcast.get_format("float32"), lutcast.get_format("int32"), None, None, "keep")
    link = _chain(lutcast.get_format("float32"), lutcast.get_format("int32"), policy)[0]
    values = np.zeros(1000, np.uint32)
    faces.bitcode(_kernels.LOOPS, link.loop, x.view(np.uint32), values, link.params)
    assert values.tobytes() == lutcast.cast(x, "int32").tobytes()
