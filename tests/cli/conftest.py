"""The command line as users run it, and as a function call."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lutcast.cli import main

WEIGHTS = Path(__file__).parents[1] / "data" / "weights.safetensors"


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def weights() -> Path:
    """Return the committed weight file."""
    return WEIGHTS


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Return a function that runs a command in this process."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object) -> Outcome:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        return Outcome(code, *capfd.readouterr())

    return run


@pytest.fixture
def shell() -> Callable[..., Outcome]:
    """Return a function that runs a command in a process of its own."""

    def run(*arguments: object) -> Outcome:
        command = [sys.executable, "-m", "lutcast.cli", *map(str, arguments)]
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "80"}
        )
        return Outcome(result.returncode, result.stdout, result.stderr)

    return run
