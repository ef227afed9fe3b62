"""A real inference server under load: every request answered, every bit as it should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from driving import body, drive, serving, windows

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytest.importorskip("litserve", reason="litserve is not installed")

DTYPES = {"bfloat16": ml_dtypes.bfloat16, "float8_e4m3fn": ml_dtypes.float8_e4m3fn}
SECONDS = 3.0


@pytest.fixture
def model(downloads: Any) -> Path:
    return Path(downloads.wheel("silero-vad==6.2.3"), "silero_vad/data/silero_vad_16k_sequence.onnx")


def expected(model: Path, codes: Any) -> bytes:
    """Return what the server has to answer, by ml_dtypes and a session of our own."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, ["CPUExecutionProvider"])
    state = np.zeros((1, 1, 128), np.float32)
    (speech,) = session.run(["speech_probs"], {"input": codes.astype(np.float32), "h": state, "c": state})
    return speech.astype(ml_dtypes.bfloat16).tobytes()


@pytest.mark.parametrize("name", DTYPES)
def test_under_load(model: Path, name: str) -> None:
    inputs = [windows(seed, 40 + seed).astype(DTYPES[name]) for seed in range(6)]
    answers = [expected(model, codes) for codes in inputs]
    with serving(model) as port:
        traffic = drive(port, [body(codes, name) for codes in inputs], SECONDS)
    assert traffic.failures == []
    assert len(traffic.answers) > 20
    for index, codes, _ in traffic.answers:
        assert codes == answers[index]
    assert {index for index, _, _ in traffic.answers} == set(range(len(inputs)))
