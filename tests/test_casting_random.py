"""Any array, pair and policy against the definition, element by element."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lutcast
from lutcast import exact
from lutcast.formats import ALL
from lutcast.names import array_dtype
from lutcast.policy import Rounding, has_hybrid, overflows, resolve


@st.composite
def casts(draw):
    """Draw a pair of formats and a policy that it has."""
    src, dst = draw(st.sampled_from(ALL)), draw(st.sampled_from(ALL))
    rounding = draw(st.sampled_from([None, *Rounding]))
    assume(rounding is not Rounding.HYBRID or has_hybrid(src, dst))
    options = {"rounding": rounding, "overflow": draw(st.sampled_from([None, *overflows(dst)]))}
    return src, dst, options | {"nan": draw(st.sampled_from(["keep", "zero"]))}


@st.composite
def codes_in_memory(draw, fmt):
    """Draw codes of a format and a view of them of any shape, strides and byte order."""
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    code = st.integers(0, fmt.mask)
    if fmt.kind in ("float", "complex"):
        part = fmt.part or fmt
        ends = [0, 1, part.max_code, part.max_code - 1, part.sign_bit, part.nan_code or 0, part.infinity_code or 0]
        code |= st.sampled_from(ends).map(lambda low: low | low << (fmt.bits - part.bits))
    size = int(np.prod(shape))
    codes = draw(st.lists(code, min_size=size, max_size=size))
    raw = np.frombuffer(b"".join(c.to_bytes(fmt.itemsize, "little") for c in codes), np.uint8)
    units = raw.reshape(-1, (fmt.part or fmt).itemsize)
    order = draw(st.sampled_from("<>"))
    dtype = array_dtype(fmt).newbyteorder(order)
    array = np.ascontiguousarray(units if order == "<" else units[:, ::-1]).reshape(-1).view(dtype).reshape(shape)
    steps = (*(slice(None, None, draw(st.sampled_from([1, -1, 2]))) for _ in shape), ...)
    axes = draw(st.permutations(range(len(shape))))
    ordered = np.array(codes, object).reshape(shape)
    return array[steps].transpose(axes), ordered[steps].transpose(axes).ravel().tolist()


def to_codes(array):
    """Return the bits of each element as an integer, in C order."""
    raw, size = array.tobytes(), array.itemsize
    return [int.from_bytes(raw[i : i + size], "little") for i in range(0, len(raw), size)]


@settings(max_examples=1500, deadline=None)
@given(st.data(), casts())
def test_every_element_is_the_definition(data, cast):
    src, dst, options = cast
    x, codes = data.draw(codes_in_memory(src))
    policy = resolve(src, dst, *options.values())
    result = lutcast.cast(x, dst, src=src, **options)
    assert result.shape == x.shape
    assert to_codes(result) == [exact.cast_code(code, src, dst, policy) for code in map(as_bool(src), codes)]


def as_bool(src):
    """Return what is read of a code: any byte but zero is True."""
    return (lambda code: int(code != 0)) if src.kind == "bool" else (lambda code: code)


@settings(max_examples=300, deadline=None)
@given(st.data(), casts())
def test_caster_and_out_of_any_layout(data, cast):
    src, dst, options = cast
    x, _ = data.draw(codes_in_memory(src))
    expected = lutcast.cast(x, dst, src=src, **options)
    dtype = array_dtype(dst).newbyteorder(data.draw(st.sampled_from("<>")))
    gaps = data.draw(st.lists(st.sampled_from([1, 2, 3]), min_size=x.ndim, max_size=x.ndim))
    base = np.zeros(
        [size * gap for size, gap in zip(x.shape, gaps, strict=True)], dtype, order=data.draw(st.sampled_from("CF"))
    )
    out = base[(*(slice(None, None, gap) for gap in gaps), ...)]
    assert lutcast.caster(src, dst, **options)(x, out) is out
    assert lutcast.cast(out, dst, src=dst).tobytes() == expected.tobytes()
    out.view(f"V{out.itemsize}")[...] = np.zeros((), f"V{out.itemsize}")
    assert not any(base.tobytes())
