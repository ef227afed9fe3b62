"""DLPack between lutcast and JAX, which knows the formats of ml_dtypes."""

import numpy as np
import pytest

import lutcast
from lutcast.names import array_dtype

jax = pytest.importorskip("jax", reason="jax is not installed")

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "float16", "bfloat16", "float32", "complex64",
    "float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "float8_e8m0fnu",
]  # fmt: skip


@pytest.fixture(autouse=True)
def on_the_cpu():
    with jax.default_device(jax.devices("cpu")[0]):
        yield


def some(name, size=24):
    """Return numbers of a format, aligned as JAX needs them to share memory."""
    dtype = array_dtype(lutcast.get_format(name))
    space = np.zeros(size * dtype.itemsize + 64, np.uint8)
    array = space[-space.ctypes.data % 64 :][: size * dtype.itemsize].view(dtype).reshape(4, -1)
    array[:] = np.arange(size).reshape(4, -1) % 2
    return array


@pytest.mark.parametrize("name", DTYPES)
def test_jax_takes_an_array(name):
    array = some(name)
    taken = jax.dlpack.from_dlpack(lutcast.to_dlpack(array))
    assert taken.dtype == array.dtype
    assert np.asarray(taken).tobytes() == array.tobytes()
    assert taken.unsafe_buffer_pointer() == array.ctypes.data


@pytest.mark.parametrize("name", DTYPES)
def test_lutcast_takes_a_jax_array(name):
    array = some(name)
    given = jax.numpy.asarray(array)
    back, fmt = lutcast.from_dlpack(given)
    assert fmt.name == name
    assert back.dtype == array.dtype
    assert back.tobytes() == array.tobytes()
    assert back.ctypes.data == given.unsafe_buffer_pointer()
    assert not back.flags.writeable  # JAX arrays never change


def test_jax_s_float4_comes_packed():
    array = np.arange(16).astype(array_dtype(lutcast.get_format("float4_e2m1fn"))).reshape(2, 8)
    back, fmt = lutcast.from_dlpack(jax.numpy.asarray(array))
    assert fmt.name == "float4_e2m1fn"
    assert back.tobytes() == array.tobytes()
