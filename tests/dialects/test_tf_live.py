"""Random bits of every pair against a TensorFlow that is installed."""

import os

import numpy as np
import pytest

import lutcast
import lutcast.tf
from lutcast import exact
from lutcast.policy import resolve

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed: pip install tensorflow-cpu")

DTYPES = [
    "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
    "bfloat16", "complex64", "complex128", "bool", "float8_e5m2", "float8_e4m3fn",
]  # fmt: skip
ELEMENTS = 20_000


def random_elements(name, rng):
    fmt = lutcast.get_format(name)
    raw = rng.integers(0, 2 if name == "bool" else 256, ELEMENTS * fmt.itemsize, np.uint8)
    return raw.view(tf.as_dtype(name).as_numpy_dtype)


def parts(array):
    return array.view(f"f{array.itemsize // 2}") if array.dtype.kind == "c" else array


def is_defined(x, src, dst):
    """Leave out what TensorFlow leaves undefined, flushes, or rounds twice."""
    with np.errstate(all="ignore"):
        real = np.real(x).astype(np.float64)
        truncated = np.trunc(real)
    if dst.kind == "int" and src.kind in ("float", "complex"):
        return (truncated >= dst.min_integer) & (truncated <= dst.max_integer) & (np.abs(real) < 2.0**63)
    if dst.kind == "bool" and src.kind in ("float", "complex"):
        normal = (real == 0) | (np.abs(real) >= 2.0 ** (src.part or src).min_exponent)
        return normal & (np.imag(x) == 0 if src.part else True)
    return np.ones(x.shape, bool)


def rounds_twice(src, dst):
    """Whether TensorFlow goes through float32 though the source has more bits than that."""
    return src.name in ("float64", "complex128", "int64", "uint64", "int32", "uint32") and (dst.part or dst).bits <= 16


@pytest.mark.parametrize("dst", DTYPES)
@pytest.mark.parametrize("src", DTYPES)
def test_pair(src, dst, rng):
    x = random_elements(src, rng)
    source, destination = lutcast.get_format(src), lutcast.get_format(dst)
    x = x[is_defined(x, source, destination)]
    got = lutcast.tf.cast(x, dst)
    try:
        expected = tf.cast(tf.constant(x), dst).numpy()
    except tf.errors.UnimplementedError:
        assert "float8" in src + dst  # the only ones that TensorFlow has in part
        return
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    got, expected = parts(got), parts(expected)
    with np.errstate(all="ignore"):
        a, b = got.astype(np.float64), expected.astype(np.float64)
    differs = ~((a == b) & (np.signbit(a) == np.signbit(b))) & ~(np.isnan(a) & np.isnan(b))
    if destination.kind == "float" or destination.part:
        part = destination.part or destination
        smallest = 2.0**part.min_exponent
        differs &= ~((np.abs(a) < max(smallest, 2.0**-126)) & (b == 0))  # TensorFlow may flush subnormals
    limit = 0.001 * len(x) if rounds_twice(source, destination) else 0
    assert np.count_nonzero(differs) <= limit


@pytest.mark.parametrize("dst", ["float16", "bfloat16"])
def test_where_tensorflow_rounds_twice(dst, rng):
    """Next to midpoints half of TensorFlow's results are wrong; ours are the definition's."""
    src, fmt = lutcast.get_format("float64"), lutcast.get_format(dst)
    halves = 1 + (2 * rng.integers(0, 1 << fmt.fraction_bits, 2000) + 1) * 2.0 ** -(fmt.fraction_bits + 1)
    x = halves + rng.choice([-1, 1], 2000) * 2.0**-40
    got = lutcast.tf.cast(x, dst).view(np.uint16)
    policy = resolve(src, fmt, "ties_to_even", "ieee", "keep")
    assert got.tolist() == [exact.cast_code(code, src, fmt, policy) for code in x.view(np.uint64).tolist()]
    differ = np.count_nonzero(tf.cast(tf.constant(x), dst).numpy().view(np.uint16) != got)
    assert 800 < differ < 1200
