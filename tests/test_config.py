"""What `show_config` says about the installation."""

import json

import ml_dtypes
import numpy as np
import pytest

import lutcast


def test_printed_and_returned_are_the_same(capsys):
    assert lutcast.show_config() is None
    printed = json.loads(capsys.readouterr().out)
    assert printed == lutcast.show_config("dicts")


def test_versions():
    versions = lutcast.show_config("dicts")["versions"]
    assert versions["lutcast"] == lutcast.__version__
    assert versions["numpy"] == np.__version__
    assert versions["ml_dtypes"] == ml_dtypes.__version__


def test_the_kernel_in_use_is_one_of_the_compiled():
    kernels = lutcast.show_config("dicts")["kernels"]
    assert kernels["in use"] in kernels["variants"]
    assert kernels["variants"][0] == "baseline"
    assert kernels["loops"] > 0


def test_tables_become_resident_when_used():
    lutcast.cast([1.5], "float8_e4m3b11fnuz", rounding="away_from_zero", overflow="ieee", nan="zero")
    after = lutcast.show_config("dicts")["tables"]
    assert after["resident"] >= 1
    assert after["resident bytes"] >= 1 << 16
    assert after["distinct"] > 1000
    assert 0 < after["store bytes"] < 1 << 20


def test_unknown_mode(capsys):
    with pytest.raises(ValueError, match=r"^mode: 'yaml' is not one of 'stdout', 'dicts'$"):
        lutcast.show_config("yaml")
    assert capsys.readouterr().out == ""
