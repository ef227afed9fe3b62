"""``lutcast golden verify``, ``lutcast explain`` and ``lutcast formats NAME``."""

import json
import re
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import lutcast
from lutcast.golden import vectors

PAGE = Path(__file__).parents[2] / "docs" / "golden.md"
PAIR = ("--src", "float64", "--dst", "float8_e4m3fn", "--overflow", "ieee")


@pytest.fixture
def dump(tmp_path):
    """Return a dump that was rounded twice, as by ml_dtypes before 0.7."""
    golden = vectors("float64", "float8_e4m3fn", overflow="ieee")
    with np.errstate(over="ignore", invalid="ignore"):
        got = golden.inputs.view(np.float64).astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
    got.tofile(tmp_path / "dump.bin")
    return tmp_path / "dump.bin"


def test_verdict(run, dump):
    outcome = run("golden", "verify", dump, *PAIR, "--nan", "any", "--first", 2)
    lines = [line.rstrip() for line in outcome.out.splitlines()]
    assert (outcome.code, outcome.err) == (1, "")
    assert lines[0] == "float64 to float8_e4m3fn, ties_to_even/ieee/keep: 1558 vectors"
    assert lines[1].startswith("254 mismatches (16.30%)")
    assert "  100.0%         254            0  through float32 first" in lines
    assert lines[-1] == "and 252 more"
    assert lines[-2].split() == [
        "10", "3f67ffffffffffff", "0.0029296874999999996", "01", "0.001953125", "02", "0.00390625", "+1", "subnormal",
    ]  # fmt: skip


def test_json(run, dump):
    outcome = run("golden", "verify", dump, *PAIR, "--json")
    document = json.loads(outcome.out)
    assert (outcome.code, document["mismatches"]) == (1, 254)
    assert document["causes"][0] == {"fault": "through float32 first", "explained": 254, "contradicted": 0}


def test_equal(run, tmp_path):
    golden = tmp_path / "golden.json"
    assert run("golden", "export", "float32", "float8_e5m2", "--rounding", "to_odd", "-o", golden).code == 0
    dump = tmp_path / "dump.hex"
    assert run("golden", "export", "float32", "float8_e5m2", "--rounding", "to_odd", "-o", dump).code == 0
    outcome = run("golden", "verify", dump, "--golden", golden)
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1] == "all equal"


def test_inputs(run, tmp_path):
    rng = np.random.default_rng(0)
    values = rng.normal(size=999).astype(np.float16)
    values.tofile(tmp_path / "input_x.bin")
    values.astype(np.float32).astype(ml_dtypes.float8_e5m2).tofile(tmp_path / "output.bin")
    arguments = ("--src", "float16", "--dst", "float8_e5m2", "--inputs", tmp_path / "input_x.bin")
    outcome = run("golden", "verify", tmp_path / "output.bin", *arguments)
    assert (outcome.code, outcome.out.splitlines()[-1]) == (0, "all equal")


def test_plot(run, dump, tmp_path):
    assert run("golden", "verify", dump, *PAIR, "--plot", tmp_path / "error.png").code == 1
    assert (tmp_path / "error.png").read_bytes()[:4] == b"\x89PNG"


def test_plot_without_matplotlib(run, dump, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    outcome = run("golden", "verify", dump, *PAIR, "--plot", tmp_path / "error.png")
    assert (outcome.code, outcome.err) == (1, "Error: a plot needs matplotlib: pip install 'lutcast[plot]'\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dump.bin"], "--src and --dst are needed, or a --golden that says them"),
        (["dump.bin", "--golden", "a.csv", "--inputs", "b.bin"], "--golden and --inputs exclude each other"),
        (["dump.bin", "--src", "float32", "--dst", "int8"], "1558 results, the golden has 1582 vectors"),
        (["nowhere.bin", "--src", "float32", "--dst", "int8"], "nowhere.bin: No such file or directory"),
        (["dump.doc", "--src", "float32", "--dst", "int8"], "the extension is not one of"),
        (["dump.bin", "--golden", "dump.bin"], "dump.bin does not say its formats: src and dst are needed"),
    ],
)
def test_errors(run, dump, monkeypatch, arguments, message):
    monkeypatch.chdir(dump.parent)
    outcome = run("golden", "verify", *arguments)
    assert outcome.code != 0
    assert message in outcome.err
    assert outcome.out == ""


def test_explain(run):
    outcome = run("explain", "1.0625", "float32", "float8_e4m3fn")
    lines = [line.rstrip() for line in outcome.out.splitlines()]
    assert lines[0] == "float32 3f880000 = 1.0625"
    assert lines[1].split() == ["sign", "exponent", "fraction"]
    assert lines[5:8] == [
        "  1 (38)                                            1.125 (39)",
        "  |------------------------x------------------------|",
        "  0.0625 above, 0.0625 below: 50.000000% of the way, the middle",
    ]
    assert lines[10].split(maxsplit=4) == [
        "ties_to_even", "any", "38", "1.0", "a tie: to the neighbour whose last bit is 0",
    ]  # fmt: skip


def test_explain_what_is_there(run):
    assert "  int8 has this value: 7 (07)" in run("explain", "7", "float32", "int8").out
    assert "float64 has this value: 1e+308" in run("explain", "1e308", "float64", "float64").out
    assert run("explain", "nan", "float32", "int8").code == 0


def test_explain_errors(run):
    outcome = run("explain", "x", "float32", "int8")
    assert (outcome.code, outcome.err) == (1, "Error: value: 'x' is neither a number nor a code such as 0x7f\n")
    assert run("explain", "1", "float33", "int8").code == 2


def test_format_card(run):
    lines = [line.rstrip() for line in run("formats", "float4_e2m1fn").out.splitlines()]
    assert lines[0] == "float4_e2m1fn: 4 bits"
    positive = ["0", "0.5", "1", "1.5", "2", "3", "4", "6"]
    assert lines[-1].split() == ["0_", *positive, *(f"-{value}" for value in positive)]
    assert "largest finite     7     6.0" in lines


@pytest.mark.parametrize("name", [f.name for f in lutcast.formats()])
def test_every_format_has_a_card(run, name):
    outcome = run("formats", name)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"{name}: ")
    assert json.loads(run("formats", name, "--json").out)["name"] == name


def test_what_the_documentation_shows(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    golden = vectors("float32", "float8_e4m3fn", overflow="ieee")
    with np.errstate(over="ignore", invalid="ignore"):
        got = golden.inputs.view(np.float32).astype(np.float16).astype(ml_dtypes.float8_e4m3fn)
    got.tofile("dump.bin")
    blocks = re.findall(r"^```console\n\$ lutcast (.*?)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for command, expected in blocks:
        lines = [line.rstrip() for line in run(*command.split()).out.splitlines()]
        shown = expected.removesuffix("...\n").splitlines()
        assert lines[: len(shown)] == shown
