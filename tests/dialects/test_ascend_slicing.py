"""LocalTensors and slicing, against a model of the addressing that walks lane by lane."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lutcast
from lutcast import ascend
from lutcast.ascend.types import TYPES
from lutcast.names import array_dtype

ROWS = [
    row
    for row in ascend.supported("950")
    if row.src not in ("double", "complex32", "complex64") and row.dst != "double"
]
PACKED = ("int4b_t", "fp4x2_e2m1_t", "fp4x2_e1m2_t")
BYTES = {name: 0.5 if name in PACKED else fmt.itemsize for name, fmt in TYPES.items()}


def lanes_of(row):
    return 128 if row.src in PACKED or row.dst in PACKED else 256 // int(max(BYTES[row.src], BYTES[row.dst]))


def get(buffer, type_name, element):
    """Read one element as its code."""
    if type_name in PACKED:
        return buffer[element // 2] >> 4 * (element % 2) & 15
    size = int(BYTES[type_name])
    return int.from_bytes(buffer[element * size : (element + 1) * size], "little")


def put(buffer, type_name, element, code):
    if type_name in PACKED:
        shift = 4 * (element % 2)
        buffer[element // 2] = buffer[element // 2] & ~(15 << shift) | code << shift
        return
    size = int(BYTES[type_name])
    buffer[element * size : (element + 1) * size] = code.to_bytes(size, "little")


def cast_code(code, row, mode):
    fmt, dst = TYPES[row.src], TYPES[row.dst]
    x = np.array([code], f"u{fmt.itemsize}").view(array_dtype(fmt))
    result = ascend.cast(x, row.dst, mode, src_type=row.src, deq_scale=1)
    return int(result.view(f"u{dst.itemsize}")[0])


def element(type_name, repeat, lane, blk_stride, rep_stride):
    per_block = int(32 / BYTES[type_name])
    return (repeat * rep_stride + lane // per_block * blk_stride) * per_block + lane % per_block


def model(dst, src, row, mode, lanes, repeats, params):
    """Cast lane by lane in a copy of the destination's bytes."""
    after = bytearray(dst)
    for repeat in range(repeats):
        for lane in lanes:
            code = get(src, row.src, element(row.src, repeat, lane, params.src_blk_stride, params.src_rep_stride))
            place = element(row.dst, repeat, lane, params.dst_blk_stride, params.dst_rep_stride)
            put(after, row.dst, place, cast_code(code, row, mode))
    return bytes(after)


def buffer_of(row_type, elements, rng):
    size = int(-(-elements * BYTES[row_type] // 32) * 32) + 32
    return bytearray(rng.integers(0, 256, size, np.uint8).tobytes())


@st.composite
def slices(draw):
    row = draw(st.sampled_from(ROWS))
    mode = draw(st.sampled_from(row.round_modes))
    total = lanes_of(row)
    is_packed = row.src in PACKED or row.dst in PACKED
    kind = draw(st.sampled_from(["contiguous", "bits", "register"]))
    if kind == "contiguous":
        mask = draw(st.integers(1, total))
        mask += is_packed and mask % 2
        lanes = range(mask)
    else:
        chosen = draw(st.sets(st.integers(0, total - 1), min_size=1, max_size=12))
        if is_packed:
            chosen |= {lane ^ 1 for lane in chosen}
        bits = sum(1 << lane for lane in chosen)
        mask = [bits & (1 << 64) - 1, bits >> 64] if total > 64 or draw(st.booleans()) else [bits]
        lanes = sorted(chosen)
    strides = st.integers(0, 3)
    params = ascend.UnaryRepeatParams(draw(strides), draw(strides), draw(st.integers(0, 9)), draw(st.integers(0, 9)))
    return row, mode, kind, mask, lanes, draw(st.integers(0, 3)), params


@given(slices(), st.integers(0, 1000))
@settings(max_examples=150, deadline=None)
def test_slicing_equals_the_model(case, seed):
    row, mode, kind, mask, lanes, repeats, params = case
    rng = np.random.default_rng(seed)
    far = {
        t: max((element(t, r, lane, b, s) for r in range(max(repeats, 1)) for lane in lanes), default=0) + 2
        for t, b, s in (
            (row.src, params.src_blk_stride, params.src_rep_stride),
            (row.dst, params.dst_blk_stride, params.dst_rep_stride),
        )
    }
    if row.src == row.dst:
        far[row.src] = 4096
    src, dst = buffer_of(row.src, far[row.src], rng), buffer_of(row.dst, far[row.dst], rng)
    expected = model(dst, src, row, mode, lanes, repeats, params)
    before = bytes(src)
    tensors = ascend.LocalTensor(dst, row.dst), ascend.LocalTensor(src, row.src)
    if kind == "register":
        ascend.set_vector_mask(mask)
        ascend.Cast(*tensors, mode, ascend.MASK_PLACEHOLDER, repeats, params, is_set_mask=False, deq_scale=1)
        ascend.set_vector_mask(None)
    else:
        ascend.Cast(*tensors, mode, mask, repeats, params, deq_scale=1)
    assert bytes(dst) == expected
    assert bytes(src) == before


@pytest.mark.parametrize("row", ascend.supported("950"), ids=lambda row: f"{row.src}-{row.dst}")
def test_count_form(row, rng):
    src, dst = buffer_of(row.src, 100, rng), buffer_of(row.dst, 100, rng)
    before = bytes(dst)
    source, target = ascend.LocalTensor(src, row.src), ascend.LocalTensor(dst, row.dst)
    want = ascend.cast(source.numpy()[:70], row.dst, row.round_modes[0], src_type=row.src, deq_scale=1)
    ascend.Cast(target, source, row.round_modes[0], 70, deq_scale=1)
    assert target.numpy()[:70].tobytes() == want.tobytes()
    done = int(70 * BYTES[row.dst])
    assert bytes(dst)[done:] == before[done:]
    ascend.Cast(target, source, row.round_modes[0], 0, deq_scale=1)
    assert target.numpy()[:70].tobytes() == want.tobytes()


def test_the_documents_last_example(rng):
    """Mask 32 with 8 repeats of half to int32: 256 lanes are converted, the other 256 keep their bytes."""
    x = np.round(rng.uniform(0, 100, 512), 2).astype(np.float16)
    y = rng.integers(0, 256, 2048, np.uint8)
    before = y.view(np.int32).copy()
    src, dst = ascend.LocalTensor(x, "half"), ascend.LocalTensor(y, "int32_t")
    ascend.Cast(dst, src, ascend.RoundMode.CAST_CEIL, 32, 8, ascend.UnaryRepeatParams(1, 1, 8, 4))
    result = dst.numpy().reshape(8, 64)
    expected = np.ceil(x.astype(np.float64)).astype(np.int32).reshape(8, 64)
    assert np.array_equal(result[:, :32], expected[:, :32])
    assert np.array_equal(result[:, 32:], before.reshape(8, 64)[:, 32:])


def test_the_documents_calling_examples():
    values = np.array([1.4, 1.5, 1.6, 2.4, 2.5, 2.6], np.float16)
    x = np.tile(values, 86)[:512]
    expected = {
        "CAST_CEIL": [2, 2, 2, 3, 3, 3], "CAST_RINT": [1, 2, 2, 2, 2, 3], "CAST_FLOOR": [1, 1, 1, 2, 2, 2],
        "CAST_ROUND": [1, 2, 2, 2, 3, 3], "CAST_TRUNC": [1, 1, 1, 2, 2, 2],
    }  # fmt: skip
    for mode, numbers in expected.items():
        want = np.tile(numbers, 86)[:512].tolist()
        for arguments in (
            (512,),
            (64, 8, ascend.UnaryRepeatParams(1, 1, 8, 4)),
            ([2**64 - 1, 0], 8, ascend.UnaryRepeatParams(1, 1, 8, 4)),
        ):
            dst = ascend.LocalTensor(bytearray(2048), "int32_t")
            ascend.Cast(dst, ascend.LocalTensor(x, "half"), mode, *arguments)
            assert dst.numpy().tolist() == want


def test_int4_through_reinterpret_cast():
    x = ascend.LocalTensor(np.linspace(-9, 9, 128).astype(np.float16), "half")
    bytes_ = ascend.LocalTensor(bytearray(64), "int8_t").set_size(64)
    nibbles = bytes_.reinterpret_cast("int4b_t")
    assert nibbles.size == 128
    ascend.Cast(nibbles, x, ascend.RoundMode.CAST_CEIL, 128, 1, ascend.UnaryRepeatParams(1, 1, 2, 8))
    want = np.clip(np.ceil(x.numpy().astype(float)), -8, 7).astype(int)
    assert nibbles.numpy().astype(int).tolist() == want.tolist()
    packed = lutcast.pack(lutcast.cast(want, "int4"), "int4")
    assert bytes_.buffer.tobytes() == packed.tobytes()


def test_in_place():
    buffer = np.arange(0.5, 64.5, dtype=np.float32)
    want = np.rint(buffer).astype(np.int32)
    tensor = ascend.LocalTensor(buffer, "float")
    ascend.Cast(tensor.reinterpret_cast("int32_t"), tensor, "CAST_RINT", 64)
    assert buffer.view(np.int32).tolist() == want.tolist()


def test_in_place_repeats_read_what_earlier_ones_wrote():
    x = np.array([1.7] * 64, np.float32)
    tensor = ascend.LocalTensor(x, "float")
    ascend.Cast(tensor.reinterpret_cast("int32_t"), tensor, "CAST_TRUNC", 64, 1)
    assert x.view(np.int32).tolist() == [1] * 64
    ascend.Cast(tensor, tensor.reinterpret_cast("int32_t"), "CAST_RINT", 64, 2, ascend.UnaryRepeatParams(1, 1, 0, 0))
    ones = np.array([1.0], np.float32).view(np.int32)[0]  # the second repeat takes the float for an integer
    assert x.tolist() == [float(np.float32(ones))] * 64


# --------------------------------------------------------------------------- rules

HALF = np.zeros(4096, np.float16)


def tensors(src="half", dst="int32_t", size=16384):
    return ascend.LocalTensor(bytearray(b"\xa5" * size), dst), ascend.LocalTensor(bytearray(size), src)


@pytest.mark.parametrize(
    ("types", "arguments", "message"),
    [
        (("half", "int4b_t"), (3,), r"^count: 3 given; 4-bit elements are cast in pairs, an even number is needed$"),
        (("fp4x2_e2m1_t", "bfloat16_t"), (5,), r"^count: 5 given; 4-bit elements are cast in pairs"),
        (("half", "int32_t"), (-1,), r"^count: -1 given, an integer from 0 to 4096 is needed$"),
        (("half", "int32_t"), (4097,), r"^count: 4097 given, an integer from 0 to 4096 is needed$"),
        (("half", "int32_t"), ("many",), r"^count: 'many' given, an integer from 0 to 4096 is needed$"),
        (("half", "int4b_t"), (31, 1), r"^mask: 4-bit elements are cast in pairs"),
        (("half", "int4b_t"), ([0b0111, 0], 1), r"^mask: 4-bit elements are cast in pairs"),
        (("half", "int32_t"), (0, 1), r"^mask: 0 given, 1 to 64 lanes can be cast in one repeat of these types$"),
        (("half", "int32_t"), (65, 1), r"^mask: 65 given, 1 to 64 lanes"),
        (("half", "int16_t"), (129, 1), r"^mask: 129 given, 1 to 128 lanes"),
        (("int32_t", "int64_t"), (33, 1), r"^mask: 33 given, 1 to 32 lanes"),
        (("half", "int32_t"), ([0, 0], 1), r"^mask: no bit is set$"),
        (
            ("half", "int32_t"),
            ([0, 2**64 - 1], 1),
            r"^mask: bit 127 is set; one repeat of these types has lanes 0 to 63$",
        ),
        (("half", "int32_t"), ([1, 1], 1), r"^mask: bit 64 is set; one repeat of these types has lanes 0 to 63$"),
        (("int32_t", "int64_t"), ([2**32], 1), r"^mask: bit 32 is set; one repeat of these types has lanes 0 to 31$"),
        (("half", "int32_t"), ([1, 0, 0], 1), r"^mask: 3 words given, one or two are needed$"),
        (
            ("half", "int32_t"),
            ([2**64], 1),
            r"^mask\[0\]: 18446744073709551616 given, an integer from 0 to 18446744073709551615",
        ),
        (("half", "int32_t"), (1.5, 1), r"^mask: 1.5 given, an integer or one or two 64-bit words are needed$"),
        (("half", "int32_t"), (64, 256), r"^repeat_time: 256 given, an integer from 0 to 255 is needed$"),
        (("half", "int32_t"), (64, -1), r"^repeat_time: -1 given, an integer from 0 to 255 is needed$"),
        (("half", "int32_t"), (64, 255), r"^src: element 32575 is addressed; the tensor has 8192$"),
        (
            ("half", "int32_t"),
            (64, 100, ascend.UnaryRepeatParams(1, 1, 8, 0)),
            r"^dst: element 6399 is addressed; the tensor has 4096$",
        ),
        (("half", "int32_t"), (64, 1, None, False), r"^mask: with is_set_mask=False it is that of set_vector_mask"),
        (("half", "int32_t"), (0, 1, None, False), r"^mask: is_set_mask=False needs set_vector_mask before$"),
        (("double", "int32_t"), (8, 1), r"^mask: double is cast by count only$"),
        (("complex64", "complex32"), (8, 1), r"^mask: complex64 is cast by count only$"),
    ],
)
def test_broken_rules(types, arguments, message):
    dst, src = tensors(*types)
    before = dst.buffer.tobytes()
    mode = ascend.supported("950", *types)[0]
    with pytest.raises(ValueError, match=message):
        ascend.Cast(dst, src, mode, *arguments)
    assert dst.buffer.tobytes() == before


def test_size_limits_what_is_addressed():
    dst, src = tensors()
    src.set_size(100)
    with pytest.raises(ValueError, match=r"^count: 101 given, an integer from 0 to 100 is needed$"):
        ascend.Cast(dst, src, "CAST_CEIL", 101)
    with pytest.raises(ValueError, match=r"^src: element 127 is addressed; the tensor has 100$"):
        ascend.Cast(dst, src, "CAST_CEIL", 64, 2, ascend.UnaryRepeatParams(1, 1, 8, 4))
    assert set(dst.buffer.tolist()) == {0xA5}


def test_repeat_zero_does_nothing():
    dst, src = tensors()
    ascend.Cast(dst, src, "CAST_CEIL", 64, 0)
    assert set(dst.buffer.tolist()) == {0xA5}


@pytest.mark.parametrize("field", ["dst_blk_stride", "src_blk_stride", "dst_rep_stride", "src_rep_stride"])
def test_strides(field):
    most = 65535 if "blk" in field else 255
    ascend.UnaryRepeatParams(**{field: most})
    for value in (-1, most + 1, 1.5, "1"):
        with pytest.raises(ValueError, match=rf"^{field}: .* given, an integer from 0 to {most} is needed$"):
            ascend.UnaryRepeatParams(**{field: value})
    assert ascend.UnaryRepeatParams() == ascend.UnaryRepeatParams(1, 1, 8, 8)


def test_overlaps():
    buffer = bytearray(4096)
    half, later = ascend.LocalTensor(buffer, "half"), ascend.LocalTensor(buffer, "int16_t", 32)
    with pytest.raises(
        ValueError, match=r"^dst: it overlaps src; both must begin together and have elements of the same size$"
    ):
        ascend.Cast(later, half, "CAST_RINT", 64)
    with pytest.raises(ValueError, match=r"^dst: it overlaps src"):
        ascend.Cast(ascend.LocalTensor(buffer, "int32_t"), half, "CAST_RINT", 64)
    assert buffer == bytearray(4096)
    apart = ascend.LocalTensor(buffer, "int16_t", 2048)
    ascend.Cast(apart, half, "CAST_RINT", 1024)  # what is read ends where what is written begins


def test_local_tensors():
    buffer = bytearray(range(256))
    tensor = ascend.LocalTensor(buffer, "uint16_t", 64)
    assert tensor.size == tensor.capacity == 96
    assert tensor.numpy()[0] == 64 | 65 << 8
    assert tensor.set_size(2) is tensor
    assert tensor.numpy().size == 2
    assert tensor.reinterpret_cast("int4b_t").size == 8
    assert tensor.reinterpret_cast("int4b_t").numpy().view(np.uint8)[:4].tolist() == [0, 4, 1, 4]
    assert ascend.LocalTensor(buffer, "hifloat8_t").numpy().dtype == np.uint8
    assert tensor.buffer.size == 192
    buffer[64] = 7
    assert tensor.numpy()[0] == 7 | 65 << 8
    assert repr(tensor) == "<LocalTensor of 2 uint16_t>"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ascend.LocalTensor(b"123", "half"), ValueError, r"^buffer: it is read-only$"),
        (
            lambda: ascend.LocalTensor(memoryview(bytearray(64))[::2], "half"),
            ValueError,
            r"^buffer: it is not contiguous$",
        ),
        (lambda: ascend.LocalTensor(np.zeros(64)[::2], "half"), ValueError, r"^buffer: the array is not contiguous$"),
        (
            lambda: ascend.LocalTensor(np.broadcast_to(np.float32(0), 1), "half"),
            ValueError,
            r"^buffer: the array is read-only$",
        ),
        (
            lambda: ascend.LocalTensor(3, "half"),
            TypeError,
            r"^buffer: a int given, a writable buffer of bytes is needed$",
        ),
        (lambda: ascend.LocalTensor(bytearray(64), "string"), TypeError, r"^type: 'string' is no type of Cast"),
        (
            lambda: ascend.LocalTensor(bytearray(64), "half", 16),
            ValueError,
            r"^offset: 16 given; a multiple of 32 is needed",
        ),
        (
            lambda: ascend.LocalTensor(bytearray(64), "half", 96),
            ValueError,
            r"^offset: 96 given; a multiple of 32 is needed",
        ),
        (lambda: ascend.LocalTensor(bytearray(64), "half", -32), ValueError, r"^offset: -32 given"),
        (
            lambda: ascend.LocalTensor(bytearray(64), "half", 1.5),
            ValueError,
            r"^offset: 1.5 given, an integer is needed$",
        ),
        (
            lambda: ascend.LocalTensor(bytearray(64), "half").set_size(33),
            ValueError,
            r"^size: 33 given; the buffer holds 0 to 32",
        ),
        (
            lambda: ascend.LocalTensor(bytearray(64), "int4b_t").set_size(3),
            ValueError,
            r"^size: 3 given; int4b_t has two elements",
        ),
        (
            lambda: ascend.Cast(np.zeros(4), np.zeros(4), 1, 4),
            ValueError,
            r"^dst: a ndarray given, a LocalTensor is needed$",
        ),
    ],
)
def test_bad_tensors(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_params_without_repeats():
    dst, src = tensors()
    with pytest.raises(ValueError, match=r"^repeat_time: it is needed with a mask$"):
        ascend.Cast(dst, src, "CAST_CEIL", 64, None, ascend.UnaryRepeatParams())
