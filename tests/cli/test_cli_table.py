"""`lutcast table`."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lutcast


@pytest.mark.parametrize("destination", ["float32", "float8_e4m3fn", "hifloat8", "bfloat16", "int8", "bool", "int4"])
def test_npy(destination: str, run: Any, tmp_path: Path) -> None:
    out = tmp_path / "table.npy"
    outcome = run("table", "float8_e5m2", destination, "-o", out)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    expected, written = lutcast.table("float8_e5m2", destination), np.load(out)
    is_native = destination in ("float32", "int8", "bool")
    assert written.dtype == (expected.dtype if is_native else f"u{expected.dtype.itemsize}")
    assert written.tobytes() == expected.tobytes()


def test_bin(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "table.bin"
    assert run("table", "float8_e5m2", "bfloat16", "-o", out).code == 0
    expected = lutcast.table("float8_e5m2", "bfloat16").view(np.uint16)
    assert out.read_bytes() == b"".join(int(code).to_bytes(2, "little") for code in expected)


@pytest.mark.parametrize(
    ("source", "destination", "width"),
    [("float8_e4m3fn", "float4_e2m1fn", 1), ("int8", "float6_e2m3fn", 2), ("uint2", "int64", 16)],
)
def test_hex(source: str, destination: str, width: int, run: Any, tmp_path: Path) -> None:
    out = tmp_path / "table.hex"
    assert run("table", source, destination, "-o", out).code == 0
    lines = out.read_text().splitlines()
    assert {len(line) for line in lines} == {width}
    table = lutcast.table(source, destination)
    assert [int(line, 16) for line in lines] == table.view(f"u{table.itemsize}").tolist()


def test_csv(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    options = ["--rounding", "away_from_zero", "--overflow", "ieee", "--nan", "zero"]
    assert run("table", "float8_e4m3fn", "float4_e2m1fn", *options, "-o", out).code == 0
    with out.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    table = lutcast.table("float8_e4m3fn", "float4_e2m1fn", rounding="away_from_zero", overflow="ieee", nan="zero")
    assert [int(row["source_code"], 16) for row in rows] == list(range(256))
    assert [int(row["destination_code"], 16) for row in rows] == table.view(np.uint8).tolist()
    assert [float(row["destination_value"]) for row in rows] == table.astype(float).tolist()
    assert rows[0x80]["source_value"] == "-0.0"
    assert rows[0x7E]["source_value"] == "448.0"
    assert rows[0x7F]["source_value"] == "nan"
    assert rows[0x01] == {
        "source_code": "01",
        "source_value": "0.001953125",
        "destination_code": "1",
        "destination_value": "0.5",
    }


def test_csv_of_every_kind(run: Any, tmp_path: Path) -> None:
    expected = {
        "int4": ["7,7,", "8,-8,"],
        "bool": ["0,0,", "1,1,"],
    }
    for source, starts in expected.items():
        assert run("table", source, "complex64", "-o", tmp_path / "table.csv").code == 0
        lines = (tmp_path / "table.csv").read_text().splitlines()
        for start in starts:
            assert any(line.startswith(start) for line in lines)
    assert lines[2] == "1,1,000000003f800000,1.0+0.0j"
    assert run("table", "uint2", "complex128", "-o", tmp_path / "table.csv").code == 0
    last = (tmp_path / "table.csv").read_text().splitlines()[-1]
    assert last == "3,3,00000000000000004008000000000000,3.0+0.0j"
    assert run("table", "hifloat8", "int64", "-o", tmp_path / "table.csv").code == 0
    assert "6f,inf,7fffffffffffffff,9223372036854775807" in (tmp_path / "table.csv").read_text().splitlines()


@pytest.mark.parametrize("source", ["float16", "bfloat16"])
def test_largest_tables(source: str, run: Any, tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    assert run("table", source, "hifloat8", "-o", out).code == 0
    assert len(out.read_text().splitlines()) == 65537


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("float16", "float8_e5m2", "-o", "x.txt"), 2, "x.txt does not end in .npy, .bin, .csv, .hex"),
        (("float16", "float8_e5m2"), 2, "Missing option '-o'"),
        (("float16", "float9", "-o", "x.csv"), 2, "float9"),
        (("float32", "float16", "-o", "x.csv"), 1, "float32"),
        (("float16", "int8", "--overflow", "ieee", "-o", "x.csv"), 1, "ieee"),
        (("float16", "int8", "--rounding", "hybrid", "-o", "x.csv"), 1, "hybrid"),
        (("float16", "int8", "-o", "none/x.csv"), 1, "none/x.csv: the directory none does not exist"),
    ],
)
def test_errors(arguments: Any, code: int, message: str, run: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("table", *arguments)
    assert outcome.code == code
    assert outcome.err.startswith("Error: ")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
