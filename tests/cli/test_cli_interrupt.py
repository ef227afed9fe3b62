"""Ctrl-C and SIGTERM in the middle of a conversion."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lutcast.cli import main
from lutcast.weights.safetensors_header import FORMATS, build_header, make_entry

TENSORS, ELEMENTS = 64, 4 << 20


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Return a sparse file of 1 GiB: it takes no disk, but time to convert."""
    entries = [make_entry(f"w{i}", (ELEMENTS,), FORMATS["F32"]) for i in range(TENSORS)]
    header = build_header(entries, None)
    path = tmp_path / "large.safetensors"
    with path.open("wb") as stream:
        stream.write(len(header).to_bytes(8, "little") + header)
        stream.truncate(stream.tell() + TENSORS * ELEMENTS * 4)
    return path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("threads", [1, 2])
def test_nothing_is_left(threads: int, number: signal.Signals, large: Path) -> None:
    folder = large.parent / "out"
    folder.mkdir()
    out = folder / "out.safetensors"
    out.write_bytes(b"old")
    arguments = ["convert", large, out, "--to", "float8_e4m3fn", "--threads", str(threads), "--overwrite"]
    process = subprocess.Popen(
        [sys.executable, "-m", "lutcast.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests in the background would have it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 30
    while not any(path.stat().st_size for path in folder.glob(".lutcast-*.tmp")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.001)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout, stderr.strip()) == (1, "", "Error: interrupted")
    assert list(folder.iterdir()) == [out]
    assert out.read_bytes() == b"old"


def test_interrupt_outside_the_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("lutcast.cli.app.run", interrupted)
    assert main(["formats"]) == 1
    assert capsys.readouterr().err == "Error: interrupted\n"
