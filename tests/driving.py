"""Start the inference server of the tests, send it requests from several threads for a while, and stop it."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SERVER = Path(__file__).with_name("serving") / "server.py"
WINDOW = 576


@dataclass
class Traffic:
    """What came back.

    ``answers`` holds for each request that was answered its number, the bytes of the codes and the
    seconds of casts and model; ``failures`` what happened to all others.
    """

    answers: list[tuple[int, bytes, dict[str, float]]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def per_second(self) -> float:
        """Return requests answered in a second."""
        return len(self.answers) / self.seconds

    def share(self) -> float:
        """Return the share of casts in the time that the worker spent on casts and the model."""
        casts, model = (sum(answer[2][name] for answer in self.answers) for name in ("casts", "model"))
        return casts / (casts + model)


def windows(seed: int, count: int) -> NDArray[np.float32]:
    """Return some windows of noise and tones."""
    rng = np.random.default_rng(seed)
    time_axis = np.arange(count * WINDOW) / 16000
    signal_ = 0.3 * np.sin(2 * np.pi * (100 + 50 * seed) * time_axis) + 0.05 * rng.normal(size=time_axis.size)
    return signal_.astype(np.float32).reshape(count, WINDOW)


def body(codes: NDArray[Any], name: str) -> bytes:
    """Return a request."""
    data = base64.b64encode(codes.tobytes()).decode()
    return json.dumps({"format": name, "shape": list(codes.shape), "data": data}).encode()


@contextmanager
def serving(model: Path, library: str = "lutcast") -> Iterator[int]:
    """Run the server on a free port of the loopback; yield the port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(SERVER), str(model), str(port), "--cast-with", library]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    try:
        _wait_until_healthy(process, port)
        yield port
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stderr:
            process.stderr.close()


def _wait_until_healthy(process: subprocess.Popen[str], port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended: {process.stderr.read() if process.stderr else ''}")
        try:
            connection = HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.1)
    raise RuntimeError("the server does not answer")


def drive(port: int, requests: list[bytes], seconds: float, threads: int = 4) -> Traffic:
    """Send requests, in turn, from several threads at once."""
    traffic, lock, number = Traffic(), threading.Lock(), iter(range(1 << 30))
    end = time.monotonic() + seconds

    def client() -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        while time.monotonic() < end:
            with lock:
                index = next(number) % len(requests)
            try:
                connection.request("POST", "/predict", requests[index], {"Content-Type": "application/json"})
                response = connection.getresponse()
                text = response.read()
                if response.status != 200:
                    raise OSError(f"status {response.status}: {text[:200]!r}")
                document = json.loads(text)
                answer = (index, base64.b64decode(document["data"]), document["seconds"])
                with lock:
                    traffic.answers.append(answer)
            except (OSError, ValueError, KeyError) as error:
                with lock:
                    traffic.failures.append(repr(error))
                connection.close()
        connection.close()

    start = time.monotonic()
    clients = [threading.Thread(target=client) for _ in range(threads)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    traffic.seconds = time.monotonic() - start
    return traffic
