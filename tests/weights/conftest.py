"""Files built byte by byte, so that they may also be wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
