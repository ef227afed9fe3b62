"""Files built byte by byte, so that they may also be wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

RawWriter = Callable[..., Path]


@pytest.fixture
def write_raw(tmp_path: Path) -> RawWriter:
    """Return a function that writes a safetensors file from a header (object or bytes) and data."""

    def write(header: Any, data: bytes = b"", *, length: int | None = None) -> Path:
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        size = len(text) if length is None else length
        path = tmp_path / "raw.safetensors"
        path.write_bytes(size.to_bytes(8, "little") + text + data)
        return path

    return write


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a folder as Hugging Face makes them: three shards, an index, other files."""
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    rng = np.random.default_rng(8)
    weight_map: dict[str, str] = {}
    for layer in range(3):
        tensors = {
            f"layers.{layer}.q.weight": rng.normal(size=(32, 50)).astype(np.float32),
            f"layers.{layer}.q.weight_scale": np.float32([0.1]),
            f"layers.{layer}.norm.weight": rng.normal(size=50).astype(np.float16),
            f"layers.{layer}.ids": np.arange(7),
        }
        name = f"model-{layer + 1:05d}-of-00003.safetensors"
        safetensors.numpy.save_file(tensors, folder / name, metadata={"format": "pt", "shard": "any"})
        weight_map |= dict.fromkeys(tensors, name)
    index = {"metadata": {"total_size": 1, "made_by": "hand"}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "config.json").write_text('{"torch_dtype": "float32"}')
    (folder / "1_Pooling" / "config.json").write_text("{}")
    return folder
