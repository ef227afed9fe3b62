"""``lutcast golden export``, ``suite`` and ``check``."""

import numpy as np
import pytest

from lutcast.cli import main
from lutcast.golden import vectors


def test_export(tmp_path, capsys):
    path = tmp_path / "golden.npy"
    assert main(["golden", "export", "float16", "float8_e4m3fn", "--overflow", "ieee", "-o", str(path)]) == 0
    assert np.array_equal(np.load(path), vectors("float16", "float8_e4m3fn", overflow="ieee").outputs)
    assert capsys.readouterr().err == "65536 vectors\n"


def test_dry_run_writes_nothing(tmp_path, capsys):
    path = tmp_path / "golden.csv"
    assert main(["golden", "export", "float32", "float8_e4m3fn", "-o", str(path), "--dry-run"]) == 0
    assert capsys.readouterr().out == f"{len(vectors('float32', 'float8_e4m3fn'))} vectors\n"
    assert not path.exists()


def test_layout_of_a_kernel_test(tmp_path):
    assert main(["golden", "export", "float16", "int4", "--layout", "ascendc", "-o", str(tmp_path / "kernel")]) == 0
    assert (tmp_path / "kernel/output/golden.bin").stat().st_size == 32768


def test_suite_and_check(tmp_path, capsys):
    suite = tmp_path / "suite"
    assert main(["golden", "suite", "ocp", "-o", str(suite), "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("vectors in 42 files")
    assert not suite.exists()
    assert main(["golden", "suite", "ocp", "-o", str(suite)]) == 0
    assert main(["golden", "check", str(suite)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "42 files, 0 problems"
    (suite / "float32/float8_e5m2/ties_to_even-ieee.bin").unlink()
    assert main(["golden", "check", str(suite)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "float32/float8_e5m2/ties_to_even-ieee.bin: is missing",
        "42 files, 1 problems",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["export", "float32", "int8", "-o", "x.doc"], "x.doc: the extension is not one of .npy, .bin"),
        (["export", "complex64", "int8", "-o", "x.bin"], "src: complex64 is complex"),
        (["suite", "everything", "-o", "x"], "neither a .toml file nor one of all-narrow, ocp"),
        (["check", "nowhere"], "there is no manifest.json"),
    ],
)
def test_errors(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(["golden", *arguments]) != 0
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
