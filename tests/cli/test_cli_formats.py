"""`lutcast formats`."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import lutcast


def test_table_lists_every_format(run: Any) -> None:
    outcome = run("formats")
    assert (outcome.code, outcome.err) == (0, "")
    rows = {line.split()[0]: line.split() for line in outcome.out.splitlines()[1:]}
    assert list(rows) == [fmt.name for fmt in lutcast.formats()]
    assert rows["float8_e4m3fn"][1:8] == ["8", "4", "3", "448", "0.00195312", "no", "yes"]
    assert "F8_E4M3" in rows["float8_e4m3fn"]
    assert rows["int64"][1:8] == ["64", "-", "-", "9223372036854775807", "1", "no", "no"]
    assert rows["complex64"][1:4] == ["64", "8", "23"]


@pytest.fixture
def records(run: Any) -> dict[str, Any]:
    """Return the JSON document, by name."""
    outcome = run("formats", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    return {record["name"]: record for record in json.loads(outcome.out, parse_constant=lambda name: 1 / 0)}


@pytest.mark.parametrize("name", [f.name for f in lutcast.formats() if f.kind == "float" and f.name != "hifloat8"])
def test_ranges_are_those_of_ml_dtypes(name: str, records: dict[str, Any]) -> None:
    if name == "float4_e1m2fn":  # unknown to ml_dtypes
        expected = (1.75, 0.25)
    else:
        info = ml_dtypes.finfo(name)
        expected = (float(info.max), float(info.smallest_subnormal))
    record = records[name]
    assert (record["max"], record["min_positive"]) == expected


def test_hifloat8(records: dict[str, Any]) -> None:
    record = records["hifloat8"]
    assert (record["max"], record["min_positive"]) == (32768, 2.0**-22)
    assert record["has_infinity"]
    assert record["has_nan"]


@pytest.mark.parametrize("name", [f.name for f in lutcast.formats() if f.kind == "int" and f.bits >= 8])
def test_integers(name: str, records: dict[str, Any]) -> None:
    assert records[name]["max"] == np.iinfo(name).max
    assert not records[name]["has_infinity"]
    assert not records[name]["has_nan"]


def test_aliases_are_accepted(records: dict[str, Any]) -> None:
    for name, record in records.items():
        for alias in record["aliases"].values():
            assert lutcast.get_format(alias).name == name
