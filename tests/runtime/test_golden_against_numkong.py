"""A device in the wild: numkong, whose float8_e4m3fn has no NaN."""

import numpy as np
import pytest

from lutcast.golden import vectors, verify

numkong = pytest.importorskip("numkong", reason="numkong is not installed")


def device(golden):
    """Cast as numkong does, through its pointers."""
    inputs = np.ascontiguousarray(golden.inputs.view(np.float32))
    outputs = np.empty(len(inputs), np.uint8)
    x = numkong.from_pointer(inputs.ctypes.data, (len(inputs),), "float32")
    y = numkong.from_pointer(outputs.ctypes.data, (len(inputs),), "e4m3")
    numkong.astype(x, "e4m3", out=y)
    return outputs


def test_nan_is_lost():
    golden = vectors("float32", "float8_e4m3fn")
    verdict = verify(device(golden), golden)
    assert (verdict.kinds, verdict.histogram) == ({"NaN": 10}, {"NaN": 10})
    assert [(cause.fault, cause.explained, cause.contradicted) for cause in verdict.causes] == [
        ("NaN becomes the largest finite value of its sign", 10, 0)
    ]


def test_overflow_is_always_clamped():
    golden = vectors("float32", "float8_e4m3fn", overflow="ieee")
    verdict = verify(device(golden), golden)
    assert verdict.kinds == {"overflow": 24, "NaN": 10}
    assert verdict.causes[0].fault == "overflow saturate"
    assert verdict.unexplained == 0
