"""Shards on a Dask cluster of two processes, one of them killed in the middle."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from lutcast.weights import convert_checkpoint

distributed = pytest.importorskip("distributed", reason="needs the extra dask")

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own, about sockets and ports
SHARD_BYTES = 1 << 20


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Return a cluster of two worker processes, and a spare to take over."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options, silence_logs=50) as cluster:
        yield cluster


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    rng = np.random.default_rng(4)
    safetensors.numpy.save_file({f"w{i:02}": rng.normal(size=(512, 1024)).astype(np.float32) for i in range(24)}, path)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_worker_dies(cluster: Any, source: Path, tmp_path: Path) -> None:
    expected, out = tmp_path / "expected", tmp_path / "out"
    convert_checkpoint(source, expected, "bfloat16", max_shard_size=SHARD_BYTES)
    with distributed.Client(cluster) as client:
        workers = list(client.run(os.getpid).values())
        assert len(set(workers)) == 2
        killed: list[int] = []

        def progress(name: str, done: int, total: int) -> None:
            if not killed:
                os.kill(workers[0], signal.SIGKILL)
                killed.append(workers[0])

        report = convert_checkpoint(
            source,
            out,
            "bfloat16",
            max_shard_size=SHARD_BYTES,
            executor=client.get_executor(pure=False),
            progress=progress,
        )
        assert killed
        wait_until(lambda: killed[0] not in client.run(os.getpid).values())
        # Dask may run a shard once more than needed, and end that after the conversion.
        wait_until(lambda: not any(out.glob(".lutcast-*")))
    assert len(report.files) == 24
    assert contents(out) == contents(expected)


def test_command(cluster: Any, source: Path, tmp_path: Path) -> None:
    from lutcast.cli import main

    address = cluster.scheduler_address
    arguments = ["convert", str(source), str(tmp_path / "out"), "--to", "bfloat16", "--max-shard-size", "1MiB"]
    assert main([*arguments, "--dask", address]) == 0
    convert_checkpoint(source, tmp_path / "expected", "bfloat16", max_shard_size=SHARD_BYTES)
    assert contents(tmp_path / "out") == contents(tmp_path / "expected")
