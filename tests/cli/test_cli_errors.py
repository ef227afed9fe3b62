"""Exit codes and messages: one line on stderr, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lutcast
from lutcast.cli import main

USAGE = {
    "no command": ((), "Missing command"),
    "unknown command": (("cast",), "No such command 'cast'"),
    "unknown option": (("formats", "--xml"), "No such option"),
    "no format": (("convert", "a.npz", "b.npz"), "Missing option '--to'"),
    "unknown format": (("convert", "a.npz", "b.npz", "--to", "float9"), "float9"),
    "unknown rounding": (
        ("convert", "a.npz", "b.npz", "--to", "int8", "--rounding", "up"),
        "'up' is not one of 'ties_to_even'",
    ),
    "unknown overflow": (("convert", "a.npz", "b.npz", "--to", "int8", "--overflow", "clip"), "'clip'"),
    "no threads": (("convert", "a.npz", "b.npz", "--to", "int8", "--threads", "0"), "'--threads'"),
    "one file": (("convert", "a.npz", "--to", "int8"), "Missing argument 'DST'"),
}


@pytest.mark.parametrize(("arguments", "message"), USAGE.values(), ids=USAGE)
def test_usage(arguments: Any, message: str, run: Any) -> None:
    check(run(*arguments), 2, message)


def check(outcome: Any, code: int, message: str) -> None:
    assert outcome.code == code
    assert outcome.out == ""
    assert outcome.err.startswith("Error: ")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


FAILURES = {
    "missing": ("none.npz", "out.npz", "float16", "none.npz: No such file or directory"),
    "directory": (
        "folder.npz",
        "out.npz",
        "float16",
        "folder.npz: no file .safetensors; a checkpoint is one such file",
    ),
    "unreadable": ("text.safetensors", "out.npz", "float16", "text.safetensors: the header claims"),
    "no zip": ("text.npz", "out.npz", "float16", "text.npz: damaged or unsupported zip"),
    "pickle": ("pickle.npy", "out.npy", "float16", "pickle.npy: the array holds Python objects"),
    "extension": ("good.npz", "out.gguf", "float16", "the extension must be one of .safetensors, .npy, .npz, .onnx"),
    "itself": ("good.npz", "good.npz", "float16", "good.npz: the destination is the source"),
    "no name": ("good.npz", "out.safetensors", "hifloat8", "safetensors has no name for hifloat8; it has bool, int8"),
    "odd": ("good.npz", "out.safetensors", "float4_e2m1fn", "tensor 'w': 3 elements of 4 bits"),
    "no directory": ("good.npz", "none/out.npz", "float16", "none/out.npz: the directory none does not exist"),
}


@pytest.mark.parametrize(("source", "destination", "to", "message"), FAILURES.values(), ids=FAILURES)
def test_failures(
    source: str, destination: str, to: str, message: str, run: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.npz").mkdir()
    Path("text.safetensors").write_text("no weights at all")
    Path("text.npz").write_text("no weights at all")
    np.save("pickle.npy", np.array([{}], dtype=object))
    np.savez("good.npz", w=np.zeros(3))
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()}
    check(run("convert", source, destination, "--to", to), 1, message)
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_process_has_these_codes(shell: Any, tmp_path: Path) -> None:
    assert shell("--version").code == 0
    assert shell("formats").code == 0
    check(shell("convert", tmp_path / "none.npz", tmp_path / "out.npz", "--to", "float16"), 1, "No such file")
    check(shell("convert"), 2, "Missing argument")


def test_version(run: Any) -> None:
    outcome = run("--version")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"lutcast, version {lutcast.__version__}\n"


@pytest.mark.parametrize("command", [(), ("convert",), ("table",), ("formats",)])
def test_help_has_examples(command: Any, run: Any) -> None:
    for option in ("--help", "-h"):
        outcome = run(*command, option)
        assert (outcome.code, outcome.err) == (0, "")
        assert f"Examples:\n    lutcast {' '.join(command)}" in outcome.out


@pytest.mark.parametrize("package", ["click", "rich"])
def test_missing_package(package: str, capsys: Any, monkeypatch: Any) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package or name.startswith("lutcast.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delattr("lutcast.cli.app", raising=False)
    assert main(["formats"]) == 1
    assert capsys.readouterr().err == "Error: the command line needs click and rich: pip install 'lutcast[cli]'\n"


def test_the_library_needs_neither() -> None:
    program = (
        "import sys; sys.modules.update(click=None, rich=None)\n"
        "import lutcast.weights\n"
        "from lutcast.cli import main\n"
        "sys.exit(main(['formats']))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == "Error: the command line needs click and rich: pip install 'lutcast[cli]'\n"


def test_other_missing_modules_are_not_hidden(monkeypatch: Any) -> None:
    for name in [name for name in sys.modules if name.startswith("lutcast.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "lutcast.weights", None)
    monkeypatch.delattr("lutcast.weights", raising=False)
    with pytest.raises(ImportError):
        main(["formats"])


def test_reader_that_leaves() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "lutcast.cli", "formats"]
    result = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (result.returncode, result.stderr) == (1, "")
