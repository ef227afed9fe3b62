"""The operator tests that come with ONNX, run with our backend."""

import functools
import unittest
import warnings

import pytest
from onnx.backend.test import BackendTest

import lutcast.onnx

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # ONNX makes its test data with overflows
    SUITE = BackendTest(lutcast.onnx.backend, __name__)

PREFIXES = ("test_cast", "test_castlike", "test_tile", "test_operator_repeat")


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
