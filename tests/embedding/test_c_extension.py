"""A C extension calls the C interface; its results are those of the Python functions."""

import itertools
import re

import numpy as np
import pytest
from compiling import SOURCES, WARNINGS, build_module
from hypothesis import given, settings
from hypothesis import strategies as st

import lutcast
from lutcast.names import array_dtype

HEADER = (SOURCES.parents[1] / "src/lutcast/include/lutcast.h").read_text()
IDS = {name.lower(): int(number) for name, number in re.findall(r"LUTCAST_(\w+) = (\d+),?$", HEADER, re.MULTILINE)}
FORMATS = [fmt.name for fmt in lutcast.formats()]
PACKED = [fmt.name for fmt in lutcast.formats() if fmt.bits in (2, 4, 6)]
OK, BAD_FORMAT, BAD_POLICY, UNSUPPORTED, NULL, BAD_SIZE, OVERLAP, NOT_PACKED = range(8)


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")
    return build_module("cc", ["-std=c11", *WARNINGS], SOURCES / "module.c", folder / "module.so")


def id_of(name):
    return IDS[name]


def random_codes(name, n, rng):
    """Return n elements of random bits, and as bytes."""
    fmt = lutcast.get_format(name)
    raw = rng.integers(0, 256, n * fmt.itemsize, np.uint8)
    if fmt.bits < 8:
        raw &= fmt.mask
    return raw.view(array_dtype(fmt))


def expected(x, src, dst, **policy):
    return lutcast.cast(x, dst, src=src, **policy)


@pytest.mark.parametrize("src", FORMATS)
def test_every_pair(module, src, rng):
    x = random_codes(src, 1000, rng)
    for dst in FORMATS:
        y = np.empty(1000, array_dtype(lutcast.get_format(dst)))
        module.cast(id_of(src), id_of(dst), 0, 0, 0, memoryview(x.view(np.uint8)), memoryview(y.view(np.uint8)), 1000)
        assert y.tobytes() == expected(x, src, dst).tobytes(), dst


@pytest.mark.parametrize(("src", "dst"), [("float32", "float8_e4m3fn"), ("bfloat16", "int8"), ("float64", "float16")])
def test_every_policy(module, src, dst, rng):
    x = random_codes(src, 500, rng)
    y = np.empty(500, array_dtype(lutcast.get_format(dst)))
    for rounding, overflow, nan in itertools.product(range(1, 8), (1, 2, 3), (0, 1)):
        policy = {
            "rounding": list(lutcast.Rounding)[rounding - 1],
            "overflow": ["saturate", "ieee", "wrap"][overflow - 1],
            "nan": ["keep", "zero"][nan],
        }
        call = (id_of(src), id_of(dst), rounding, overflow, nan, x.view(np.uint8), y.view(np.uint8), 500)
        try:
            want = expected(x, src, dst, **policy)
        except ValueError:
            with pytest.raises(ValueError, match=f"^{BAD_POLICY}: no such rounding"):
                module.cast(*call)
            continue
        module.cast(*call)
        assert y.tobytes() == want.tobytes(), policy


@pytest.mark.parametrize("shift", range(1, 8))
@pytest.mark.parametrize(("src", "dst"), [("float32", "float16"), ("float16", "float64"), ("int64", "float8_e5m2")])
def test_any_alignment(module, src, dst, shift, rng):
    x = random_codes(src, 3000, rng)
    want = expected(x, src, dst)
    shifted = np.zeros(x.nbytes + 8, np.uint8)
    shifted[shift : shift + x.nbytes] = x.view(np.uint8)
    for out in range(8):
        y = np.full(want.nbytes + 16, 0xA5, np.uint8)
        module.cast(id_of(src), id_of(dst), 0, 0, 0, shifted[shift:], y[out : out + want.nbytes], 3000)
        assert y[out : out + want.nbytes].tobytes() == want.tobytes()
        assert (y[:out] == 0xA5).all()
        assert (y[out + want.nbytes :] == 0xA5).all()


@pytest.mark.parametrize(("src", "dst"), [("float32", "int32"), ("float32", "bfloat16"), ("float64", "float8_e4m3fn")])
def test_in_place(module, src, dst, rng):
    x = random_codes(src, 5000, rng)
    want = expected(x, src, dst)
    buffer = x.view(np.uint8).copy()
    module.cast(id_of(src), id_of(dst), 0, 0, 0, buffer, buffer, 5000)
    assert buffer[: want.nbytes].tobytes() == want.tobytes()


def test_overlaps_are_refused(module):
    buffer = np.zeros(100, np.uint8)
    untouched = buffer.copy()
    for x, y, dst in [(buffer, buffer, "int16"), (buffer, buffer[1:], "int8"), (buffer[8:], buffer, "int64")]:
        with pytest.raises(ValueError, match=f"^{OVERLAP}: source and destination overlap"):
            module.cast(id_of("uint8"), id_of(dst), 0, 0, 0, x, y, 10)
    assert np.array_equal(buffer, untouched)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_packed_at_any_offset(module, data):
    src, dst = data.draw(st.sampled_from(PACKED)), data.draw(st.sampled_from(FORMATS))
    packs = data.draw(st.sampled_from([1, 3] if dst in PACKED else [1]))
    n = data.draw(st.one_of(st.integers(0, 40), st.integers(1000, 2100)))
    first, to = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    codes = random_codes(src, first + n + 3, rng)
    want = expected(codes[first : first + n], src, dst)
    packed = lutcast.pack(codes, src)
    whole = random_codes(dst, to + n + 5, rng)
    out = lutcast.pack(whole, dst) if packs & 2 else whole.view(np.uint8).copy()
    module.cast_packed(id_of(src), id_of(dst), packed, first, out, to, n, packs)
    result = lutcast.unpack(out, dst, (len(whole),)) if packs & 2 else out.view(whole.dtype)
    assert result[to : to + n].tobytes() == want.tobytes()
    assert result[:to].tobytes() == whole[:to].tobytes()
    assert result[to + n :].tobytes() == whole[to + n :].tobytes()


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_packing_at_any_offset(module, data):
    dst, src = data.draw(st.sampled_from(PACKED)), data.draw(st.sampled_from(FORMATS))
    n = data.draw(st.one_of(st.integers(0, 40), st.integers(1000, 2100)))
    first, to = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x, whole = random_codes(src, first + n, rng), random_codes(dst, to + n + 5, rng)
    out = lutcast.pack(whole, dst)
    module.cast_packed(id_of(src), id_of(dst), x.view(np.uint8), first, out, to, n, 2)
    result = lutcast.unpack(out, dst, (len(whole),))
    whole[to : to + n] = expected(x[first:], src, dst)
    assert result.tobytes() == whole.tobytes()


def strided_places(data, shape):
    """Return the places of elements in a flat buffer, as a strided array, and the size of the buffer."""
    steps = [data.draw(st.sampled_from([1, 2, -1, -2])) for _ in shape]
    order = data.draw(st.permutations(range(len(shape))))
    larger = [max(2 * n, 1) for n in shape]
    places = np.arange(np.prod(larger, dtype=int)).reshape([larger[i] for i in order]).transpose(np.argsort(order))
    ahead = places[tuple(slice(0, n * abs(step), abs(step)) for n, step in zip(shape, steps, strict=True))]
    return ahead[tuple(slice(None, None, 1 if step > 0 else -1) for step in steps)], places.size


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_strides(module, data):
    src, dst = (data.draw(st.sampled_from(["float32", "int8", "float16", "float64", "complex64"])) for _ in range(2))
    shape = tuple(data.draw(st.lists(st.integers(0, 5), max_size=4)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    sides = []
    for name in (src, dst):
        places, size = strided_places(data, shape)
        flat = random_codes(name, size, rng)
        strides = tuple(stride // places.itemsize * flat.itemsize for stride in places.strides)
        first = int(places[(0,) * len(shape)]) * flat.itemsize if places.size else 0
        sides.append((flat, places, (flat.view(np.uint8), first, strides)))
    (x, x_places, x_arguments), (y, y_places, y_arguments) = sides
    want = y.copy()
    want[y_places] = expected(x[x_places], src, dst)
    module.cast_strided(id_of(src), id_of(dst), *x_arguments, *y_arguments, shape)
    assert y.tobytes() == want.tobytes()


def test_strided_source_may_repeat_and_destination_may_not(module):
    x, y = np.array([7], np.uint8), np.zeros(4, np.uint16)
    module.cast_strided(id_of("uint8"), id_of("uint16"), x, 0, (0,), y.view(np.uint8), 0, (2,), (4,))
    assert y.tolist() == [7] * 4
    with pytest.raises(ValueError, match=f"^{OVERLAP}: "):
        module.cast_strided(id_of("uint8"), id_of("uint16"), x, 0, (0,), y.view(np.uint8), 0, (0,), (4,))
    with pytest.raises(ValueError, match=f"^{OVERLAP}: "):
        module.cast_strided(id_of("uint8"), id_of("uint8"), y.view(np.uint8), 6, (-1,), y.view(np.uint8), 1, (1,), (4,))


def test_strides_that_lead_below_the_first_address(module):
    x, y = np.zeros(8, np.uint8), np.zeros(8, np.uint8)
    for x_stride, y_stride in [(-(1 << 62), 1), (1, -(1 << 62))]:
        with pytest.raises(ValueError, match=f"^{BAD_SIZE}: a size, stride or count is negative or too large"):
            module.cast_strided(id_of("uint8"), id_of("int8"), x, 0, (x_stride,), y, 0, (y_stride,), (2,))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=5), st.sampled_from([1, 2, 3, 8, 16]))
@settings(deadline=None)
def test_tile(module, axes, itemsize):
    shape, repeats = tuple(n for n, _ in axes), tuple(n for _, n in axes)
    x = np.arange(np.prod(shape, dtype=int) * itemsize).astype(np.uint8).view(f"V{itemsize}").reshape(shape)
    want = np.tile(x, repeats) if axes else x
    y = np.zeros(want.nbytes, np.uint8)
    module.tile(np.ascontiguousarray(x).reshape(-1).view(np.uint8), y, itemsize, shape, repeats)
    assert y.tobytes() == want.tobytes()


def test_errors(module):
    x, y = np.zeros(8, np.uint8), np.zeros(64, np.uint8)
    for src, dst, rounding, overflow, nan, status in [
        (0, 1, 0, 0, 0, BAD_FORMAT),
        (1, 34, 0, 0, 0, BAD_FORMAT),
        (-1, 1, 0, 0, 0, BAD_FORMAT),
        (6, 6, 9, 0, 0, BAD_POLICY),
        (6, 6, 0, 4, 0, BAD_POLICY),
        (6, 6, 0, 0, 2, BAD_POLICY),
        (id_of("float32"), id_of("int8"), 0, 2, 0, BAD_POLICY),
        (id_of("float64"), id_of("hifloat8"), 8, 0, 0, UNSUPPORTED),
    ]:
        with pytest.raises(ValueError, match=f"^{status}: {module.text(status)}"):
            module.cast(src, dst, rounding, overflow, nan, x, y, 1)
    assert module.nulls() == [
        NULL, NULL, NULL, NULL, OK, BAD_SIZE, NULL, NULL, BAD_SIZE, BAD_SIZE, BAD_SIZE, NOT_PACKED, NOT_PACKED,
        BAD_SIZE, NULL, BAD_SIZE, BAD_SIZE, OVERLAP, BAD_SIZE,
    ]  # fmt: skip


def test_sizes_and_texts(module):
    for fmt in lutcast.formats():
        assert module.sizes(id_of(fmt.name)) == (fmt.bits, fmt.itemsize)
    assert module.sizes(0) == module.sizes(34) == module.sizes(-1) == module.sizes(10**9) == (0, 0)
    texts = [module.text(status) for status in range(10)]
    assert len(set(texts)) == 10
    assert module.text(10) == module.text(-1) == "no such status"
