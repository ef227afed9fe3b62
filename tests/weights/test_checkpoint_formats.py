"""Formats that safetensors has no name for: codes there, values back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import en_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy

from lutcast.weights import SafetensorsError, convert_checkpoint

VALUES = np.float32([[0.1, -0.3, 500], [1e-6, np.inf, -7]])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.safetensors"
    safetensors.numpy.save_file({"a.weight": VALUES, "b.weight": VALUES[:1]}, path)
    return path


def read(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    with safetensors.safe_open(path, "numpy") as theirs:
        return {name: theirs.get_tensor(name) for name in theirs.keys()}, theirs.metadata()  # noqa: SIM118


def test_codes_and_back(source: Path, tmp_path: Path) -> None:
    small, back, again = (tmp_path / f"{name}.safetensors" for name in ("small", "back", "again"))
    convert_checkpoint(source, small, "hifloat8", exclude=["b.*"])
    tensors, metadata = read(small)
    expected = VALUES.astype(en_dtypes.hifloat8)
    assert tensors["a.weight"].dtype == np.uint8
    assert tensors["a.weight"].shape == (2, 3)
    # Into formats of 8 bits infinity becomes the largest value by default.
    finite = np.isfinite(VALUES)
    assert tensors["a.weight"][finite].tolist() == expected.view(np.uint8)[finite].tolist()
    assert metadata["lutcast.format.a.weight"] == "hifloat8"
    assert "lutcast.format.b.weight" not in metadata
    report = convert_checkpoint(small, back, "float32")
    assert [tensor.source for tensor in report.tensors] == ["hifloat8", "float32"]
    tensors, metadata = read(back)
    assert tensors["a.weight"][finite].tolist() == expected.astype(np.float32)[finite].tolist()
    assert not [key for key in metadata if key.startswith("lutcast.format.")]
    convert_checkpoint(small, again, "float16", exclude=["a.*"])
    assert read(again)[1]["lutcast.format.a.weight"] == "hifloat8"  # a copy keeps its record


def test_integers_come_back_when_they_are_named(source: Path, tmp_path: Path) -> None:
    small, kept, back = (tmp_path / f"{name}.safetensors" for name in ("small", "kept", "back"))
    convert_checkpoint(source, small, "int4", exclude=["b.*"])
    tensors, metadata = read(small)
    codes = np.clip(np.trunc(VALUES), -8, 7).astype(np.int8).view(np.uint8) & 15
    assert tensors["a.weight"].tolist() == codes.tolist()
    assert metadata["lutcast.format.a.weight"] == "int4"
    convert_checkpoint(small, kept, "float32", include=["*"])
    assert read(kept)[0]["a.weight"].dtype == np.uint8
    convert_checkpoint(small, back, "float32", include=["*.weight"])
    assert read(back)[0]["a.weight"].tolist() == np.clip(np.trunc(VALUES), -8, 7).tolist()


@pytest.mark.parametrize(
    ("dtype", "record", "message"),
    [
        (np.uint8, "float9", r"metadata lutcast\.format\.w: 'float9' is not a format"),
        (np.float32, "hifloat8", "tensor 'w': float32 cannot hold the codes of hifloat8"),
        (np.uint8, "bfloat16", "tensor 'w': uint8 cannot hold the codes of bfloat16"),
    ],
)
def test_wrong_records(dtype: Any, record: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.safetensors"
    safetensors.numpy.save_file({"w": np.zeros(3, dtype)}, path, metadata={"lutcast.format.w": record})
    with pytest.raises(SafetensorsError, match=message):
        convert_checkpoint(path, tmp_path / "out.safetensors", "float16")
    assert list(tmp_path.iterdir()) == [path]
