"""Measures against NumPy, conditions on them, and reports in files."""

from __future__ import annotations

import json
import math
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

import lutcast
from lutcast.formats import FLOAT32
from lutcast.policy import resolve
from lutcast.weights import convert, convert_checkpoint
from lutcast.weights.conditions import failures, parse_condition
from lutcast.weights.measures import PLACE_NAMES, Measurer, last_places
from lutcast.weights.report_files import write_report

HOSTILE = '<script>alert("x")</script>&'


@pytest.fixture
def report(tmp_path: Path) -> Any:
    rng = np.random.default_rng(9)
    tensors = {
        "fine.weight": (rng.normal(size=(20, 30)) * 0.1).astype(np.float32),
        f"{HOSTILE}.weight": np.float32([1e-9, 1000, 1.5, np.inf]),
        "ids": np.arange(5),
    }
    safetensors.numpy.save_file(tensors, tmp_path / "in.safetensors")
    return convert_checkpoint(tmp_path / "in.safetensors", tmp_path / "out", "float8_e4m3fn")


def measure(x: Any, dst: str, **policy: Any) -> Any:
    fmt = lutcast.get_format(dst)
    arguments = {"rounding": None, "overflow": None, "nan": "keep"} | policy
    measurer = Measurer(FLOAT32, fmt, resolve(FLOAT32, fmt, **arguments))
    for part in np.array_split(x, 3):
        measurer.add(part)
    return measurer.result()


@pytest.mark.parametrize("dst", ["bfloat16", "float16", "float8_e5m2", "float8_e4m3fn"])
def test_measures(dst: str) -> None:
    rng = np.random.default_rng(1)
    x = (rng.normal(size=20000) * 10.0 ** rng.integers(-3, 2, 20000)).astype(np.float32)
    found = measure(x, dst)
    y = lutcast.cast(x, dst).astype(np.float64)
    before, error = x.astype(np.float64), np.abs(y - x)
    assert (found.elements, found.inexact) == (x.size, np.count_nonzero(error))
    assert found.max_abs_error == error.max()
    assert found.mean_abs_error == pytest.approx(error.mean(), rel=1e-12)
    assert found.max_rel_error == (error / np.abs(before)).max()
    assert found.amax == np.abs(before).max()
    cosine = (before * y).sum() / math.sqrt((before**2).sum() * (y**2).sum())
    assert found.cosine == pytest.approx(cosine, rel=1e-9)
    assert list(found.steps) == list(PLACE_NAMES)
    assert sum(found.steps.values()) == x.size
    assert found.steps["0"] == x.size - found.inexact
    assert found.steps["2"] == found.steps["more"] == 0


def test_measures_of_special_values() -> None:
    x = np.float32([np.nan, np.inf, -np.inf, 0, -0.0, 1e-30, 1e30, 2, 2.0])
    found = measure(x, "float8_e5m2", overflow="ieee")
    assert (found.nan_in, found.nan_out, found.inf_in, found.inf_out) == (1, 1, 2, 3)
    assert (found.amax, found.max_abs_error, found.flushed_to_zero) == (2, float(np.float32(1e-30)), 1)
    nothing = measure(np.zeros(4, np.float32), "bfloat16")
    assert (nothing.cosine, nothing.max_rel_error, nothing.snr_db) == (1, 0, math.inf)
    empty = measure(np.zeros(0, np.float32), "bfloat16")
    assert (empty.elements, empty.mean_abs_error, empty.cosine) == (0, 0, 1)


@pytest.mark.parametrize("fmt", [f for f in lutcast.formats() if f.kind == "float" and f.bits <= 16], ids=str)
def test_last_places(fmt: Any) -> None:
    """The distance from each positive value to the next one of the same binade."""
    codes = np.arange(1 << fmt.bits, dtype=f"u{fmt.itemsize}")
    values = np.unique(lutcast.cast(codes, "float64", src=fmt.name))
    values = values[np.isfinite(values) & (values > 0)]
    below = values[:-1]
    same = np.frexp(below)[1] == np.frexp(values[1:])[1]
    assert np.array_equal(last_places(below, fmt)[same], np.diff(values)[same])


def test_integers() -> None:
    found = measure(np.float32([0.5, 1.5, 200]), "int8", rounding="ties_to_even")
    assert found.steps == {"0": 0, "0.25": 0, "0.5": 2, "1": 0, "2": 0, "more": 1}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("saturated>0", [f"{HOSTILE}.weight"]),
        ("saturated >= 3", []),
        ("snr_db<100", [f"{HOSTILE}.weight", "fine.weight"]),
        ("elements==600", ["fine.weight"]),
        ("inf_in!=0", [f"{HOSTILE}.weight"]),
        ("scale_min<1", []),
        ("amax>inf", []),
    ],
)
def test_conditions(report: Any, text: str, names: list[str]) -> None:
    assert sorted(failures(report, parse_condition(text))) == sorted(names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("saturated", "'saturated' is no condition such as saturated>0 or snr_db<20"),
        ("saturated>many", "'saturated>many' is no condition"),
        ("inf_out!=inf_in", "'inf_out!=inf_in' is no condition"),
        ("saturated>nan", "'saturated>nan' is no condition"),
        ("loss>0", "'loss>0': loss is not one of elements, inexact,"),
        ("steps>0", "'steps>0': steps is not one of"),
    ],
)
def test_bad_conditions(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_condition(text)


class Reader(HTMLParser):
    """Checks that tags close, and keeps what it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html(report: Any, tmp_path: Path) -> None:
    write_report(tmp_path / "one.html", report)
    write_report(tmp_path / "two.html", report)
    text = (tmp_path / "one.html").read_text("utf-8")
    assert text == (tmp_path / "two.html").read_text("utf-8")
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    tags = [tag for tag, _ in reader.tags]
    assert tags.count("svg") == 2
    assert "script" not in tags
    assert not any({"src", "href"} & attributes.keys() for _, attributes in reader.tags)
    assert f"{HOSTILE}.weight" in reader.text
    assert "ids" in reader.text
    assert "nan" not in text.replace("NaN", "")


def test_json(report: Any, tmp_path: Path) -> None:
    write_report(tmp_path / "report.json", report)
    document = json.loads((tmp_path / "report.json").read_text())
    audits = [tensor["audit"] for tensor in document["tensors"] if tensor["audit"]]
    assert [audit["steps"].keys() for audit in audits] == [{*PLACE_NAMES}] * 2
    assert document["bytes_after"] == report.bytes_after


def test_report_of_a_plain_file(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.float32([0.1, 0.2]))
    report = convert(tmp_path / "w.npy", tmp_path / "out.npy", "bfloat16")
    write_report(tmp_path / "report.html", report)
    assert "<svg" in (tmp_path / "report.html").read_text()
    expected = np.float32([0.1, 0.2]).astype(ml_dtypes.bfloat16)
    assert report.tensors[0].audit is not None
    assert report.tensors[0].audit.max_abs_error == np.abs(expected.astype(float) - np.float32([0.1, 0.2])).max()
