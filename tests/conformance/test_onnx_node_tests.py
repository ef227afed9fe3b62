"""The operator tests that come with ONNX, run with our backend."""

import dataclasses
import functools
import re
import unittest
import warnings

import numpy as np
import pytest
from onnx import numpy_helper
from onnx.backend.test import BackendTest

import lutcast.onnx

PREFIXES = ("test_cast", "test_castlike", "test_tile", "test_operator_repeat")
FLOAT_TO_SUB_BYTE = re.compile(r"test_cast(like)?_FLOAT(16)?_to_U?INT[24](_expanded)?$")


class Suite(BackendTest):
    """ONNX's tests, with the low bits expected of numbers beyond integers of 2 and 4 bits.

    The standard leaves these numbers undefined, and ONNX makes its test data with the ml_dtypes that
    is installed: the low bits up to ml_dtypes 0.6, zeros since 0.7.
    """

    def _add_model_test(self, model_test, kind):
        if FLOAT_TO_SUB_BYTE.match(model_test.name):
            sets = [(inputs, [low_bits(inputs[0], output)]) for inputs, (output,) in model_test.data_sets]
            model_test = dataclasses.replace(model_test, data_sets=sets)
        super()._add_model_test(model_test, kind)


def low_bits(x, output):
    """Return what integers make of the numbers, which keep their low bits with every ml_dtypes."""
    return numpy_helper.to_array(x).astype(np.int64).astype(numpy_helper.to_array(output).dtype)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # ONNX makes its test data with overflows
    SUITE = Suite(lutcast.onnx.backend, __name__)


@functools.cache
def cases():
    """Return the tests of our operators by name."""
    every = {name: items[name] for items in SUITE._test_items.values() for name in items}
    return {name: item.func for name, item in sorted(every.items()) if name.startswith(PREFIXES) and "_cpu" in name}


def test_that_none_is_missing():
    names = cases()
    expanded = [name for name in names if name.endswith("_expanded_cpu")]
    models = [name for name in names if name.startswith("test_operator_repeat")]
    assert len(names) >= 174 + len(models)
    assert len(expanded) >= 56
    assert len(models) == 2


@pytest.mark.parametrize("name", cases())
def test_official_case(name):
    try:
        cases()[name](unittest.TestCase())
    except unittest.SkipTest as reason:
        pytest.fail(f"skipped: {reason}")
