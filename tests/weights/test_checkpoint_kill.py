"""Kill a conversion at random moments, resume it: the same bytes, and nothing is ever half there."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from lutcast.weights import convert_checkpoint

SHARDS = 6


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a checkpoint whose conversion takes about a second."""
    folder = tmp_path / "source"
    folder.mkdir()
    rng = np.random.default_rng(5)
    tensors = {f"w{i}": rng.normal(size=(300, 700)).astype(np.float32) for i in range(SHARDS)}
    safetensors.numpy.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text("{}")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def killed(work: Callable[[], object], delay: float) -> bool:
    """Run something in a child process and kill it after a while; return whether that came in time."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(0)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("seed", range(3))
def test_kill_and_resume(seed: int, source: Path, tmp_path: Path) -> None:
    expected, out = tmp_path / "expected", tmp_path / "out"
    begin = time.monotonic()
    limit = 4 * 300 * 350
    convert_checkpoint(source, expected, "bfloat16", max_shard_size=limit)
    duration = time.monotonic() - begin
    right, before = contents(expected), contents(source)
    assert len([name for name in right if name.endswith(".safetensors")]) == SHARDS
    rng = random.Random(seed)
    kills = stopped_inside = 0
    while killed(
        lambda: convert_checkpoint(source, out, "bfloat16", max_shard_size=limit, resume=True),
        # Later kills come later, so that the loop ends.
        rng.uniform(0, duration) * (0.3 + kills / 10),
    ):
        kills += 1
        assert contents(source) == before
        there = contents(out) if out.exists() else {}
        stopped_inside += ".lutcast-journal.jsonl" in there
        for name in there.keys() & right.keys():
            assert there[name] == right[name]
        assert ("SHA256SUMS" not in there) or there.keys() >= right.keys()
    assert stopped_inside
    assert contents(out) == right
    assert contents(source) == before


@pytest.mark.parametrize("seed", range(2))
def test_kill_while_overwriting(seed: int, source: Path, tmp_path: Path) -> None:
    """The first run replaces another conversion; the weights of that one do not survive."""
    expected, out = tmp_path / "expected", tmp_path / "out"
    convert_checkpoint(source, out, "float8_e5m2", max_shard_size=100_000)
    old = contents(out)
    begin = time.monotonic()
    convert_checkpoint(source, expected, "bfloat16")
    duration = time.monotonic() - begin
    rng = random.Random(seed)
    kills = 0
    while killed(
        lambda: convert_checkpoint(source, out, "bfloat16", resume=True, overwrite=True),
        rng.uniform(0, duration) * (0.3 + kills / 10),
    ):
        kills += 1
        # A checkpoint that seems complete is the old one or the new one.
        there = contents(out)
        if "SHA256SUMS" in there:
            wanted = old if there["SHA256SUMS"] == old["SHA256SUMS"] else contents(expected)
            assert wanted.items() <= there.items()
    assert contents(out) == contents(expected)
