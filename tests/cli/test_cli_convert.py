"""`lutcast convert`."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors

import lutcast
from lutcast.weights import convert_checkpoint, open_safetensors


def test_report(run: Any, weights: Path, tmp_path: Path) -> None:
    outcome = run("convert", weights, tmp_path / "out.safetensors", "--to", "float8_e4m3fn")
    assert outcome.code == 0
    assert outcome.err == ""
    lines = [line.split() for line in outcome.out.splitlines()]
    assert outcome.out.splitlines()[0].split("  ")[0] == "tensor"
    rows = {line[0]: line[1:] for line in lines if line}
    report = convert_checkpoint(weights, tmp_path / "library.safetensors", "float8_e4m3fn")
    for tensor in report.tensors:
        row = rows[tensor.name]
        assert row[:2] == [tensor.source, tensor.destination]
        if tensor.audit is None:
            assert row[2:] == ["copied"]
        else:
            audit = tensor.audit
            assert row[2:4] == [str(audit.elements), str(audit.inexact)]
            assert row[6:] == [str(n) for n in (audit.saturated, audit.flushed_to_zero, audit.nan_in, audit.nan_out)]
    assert "11 of 13 tensors converted to float8_e4m3fn, the others copied" in outcome.out
    assert "141.1 kB -> 54.7 kB (39%)" in outcome.out
    assert (tmp_path / "out.safetensors").read_bytes() == (tmp_path / "library.safetensors").read_bytes()
    with safetensors.safe_open(tmp_path / "out.safetensors", "numpy") as theirs:
        assert theirs.metadata()["format"] == "pt"


@pytest.mark.parametrize("extension", ["safetensors", "npz"])
def test_existing_file_is_refused(run: Any, extension: str, weights: Path, tmp_path: Path) -> None:
    out = tmp_path / f"out.{extension}"
    out.write_bytes(b"old")
    outcome = run("convert", weights, out, "--to", "float16")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == f"Error: {out}: exists already; overwrite it, or choose another name\n"
    assert out.read_bytes() == b"old"


def test_existing_file_is_replaced_on_request(run: Any, weights: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.safetensors"
    for to in ("float16", "float8_e4m3fn", "float8_e4m3fn"):
        assert run("convert", weights, out, "--to", to, "--overwrite").code == 0
    with open_safetensors(out) as contents:
        assert contents.tensors[0].entry.format.name == "float8_e4m3fn"
    assert list(tmp_path.iterdir()) == [out]


def test_json_is_the_whole_output(shell: Any, weights: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.safetensors"
    outcome = shell("convert", weights, out, "--to", "F8_E4M3", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    document = json.loads(outcome.out, parse_constant=lambda name: 1 / 0)
    report = convert_checkpoint(weights, out, "float8_e4m3fn", overwrite=True).as_dict()
    assert document.keys() == report.keys()
    assert {**document, "free_bytes": 0} == {**report, "free_bytes": 0}


def test_json_of_infinities(run: Any, tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", w=np.float32([1, 2]))
    outcome = run("convert", tmp_path / "in.npz", tmp_path / "out.npz", "--to", "float64", "--json")
    document = json.loads(outcome.out, parse_constant=lambda name: 1 / 0)
    assert document["tensors"][0]["audit"]["snr_db"] == "inf"


def test_policy_and_patterns_reach_the_library(run: Any, weights: Path, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs.safetensors"
    options = ["--rounding", "RTZ", "--overflow", "ieee", "--nan", "zero", "--threads", "2"]
    patterns = ["--include", "*proj*", "--include", "lm_*", "--exclude", "*q_*", "--exclude", "*k_*"]
    assert run("convert", weights, ours, "--to", "bfloat16", *options, *patterns).code == 0
    policy: dict[str, Any] = {"rounding": "toward_zero", "overflow": "ieee", "nan": "zero"}
    convert_checkpoint(weights, theirs, "bfloat16", **policy, include=["*proj*", "lm_*"], exclude=["*q_*", "*k_*"])
    assert ours.read_bytes() == theirs.read_bytes()


def test_dry_run(run: Any, weights: Path, tmp_path: Path) -> None:
    outcome = run("convert", weights, tmp_path / "out.safetensors", "--to", "float4_e2m1fn", "--dry-run")
    assert outcome.code == 0
    assert "float4_e2m1fn, packed" in outcome.out
    assert outcome.out.endswith("dry run: nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def test_codes_in_npz(run: Any, weights: Path, tmp_path: Path) -> None:
    outcome = run("convert", weights, tmp_path / "out.npz", "--to", "hifloat8")
    assert outcome.code == 0
    assert "uint8 codes" in outcome.out
    assert "note: .npz holds no metadata" in outcome.out
    with open_safetensors(weights) as contents, np.load(tmp_path / "out.npz") as arrays:
        first = contents.tensors[0]
        expected = lutcast.cast(first.load(), "hifloat8")
        np.testing.assert_array_equal(arrays[first.entry.name], expected)


def test_names_cannot_steer_the_terminal(run: Any, tmp_path: Path) -> None:
    name = "\x1b[31m[bold]red\n:smile:"
    np.savez(tmp_path / "in.npz", **{name: np.zeros(2)})
    outcome = run("convert", tmp_path / "in.npz", tmp_path / "out.npz", "--to", "float16")
    assert outcome.code == 0
    assert r"\x1b[31m[bold]red\n:smile:" in outcome.out
    assert "\x1b" not in outcome.out


def test_long_lines_are_not_cut_in_a_pipe(run: Any, tmp_path: Path) -> None:
    name = "x" * 300
    np.savez(tmp_path / "in.npz", **{name: np.zeros(2)})
    assert name in run("convert", tmp_path / "in.npz", tmp_path / "out.npz", "--to", "float16").out


def on_terminal(*arguments: object) -> tuple[str, bytes]:
    """Run a command whose stderr is a terminal; return its output and what the terminal got."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "lutcast.cli", *map(str, arguments)]
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment)
    os.close(theirs)
    out, _ = process.communicate()
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    assert process.returncode == 0
    return out, shown


def test_progress_bar_on_a_terminal_only(weights: Path, tmp_path: Path) -> None:
    arguments = ("convert", weights, tmp_path / "out.safetensors", "--to", "float16")
    out, shown = on_terminal(*arguments)
    assert b"lm_head.weight" in shown
    assert b"141.1/141.1 kB" in shown
    assert "11 of 13 tensors" in out
    assert "\x1b" not in out
    out, shown = on_terminal(*arguments, "--json", "--overwrite")
    assert shown == b""
    assert json.loads(out)["format"] == "float16"
