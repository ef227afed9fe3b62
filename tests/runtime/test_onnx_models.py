"""Real models, converted, in onnxruntime: the results are those of rounded weights, to the bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.version_converter
import pytest
from onnx_models import all_bodies, constants, initialisers, with_rounded_weights

from lutcast.weights import WeightsError, convert

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

SILERO, MAGIKA = "silero-vad==6.2.3", "magika==1.0.3"
SOUND, STATE = ("input", (1, 576)), ("state", (2, 1, 128))
RATE = {"sr": np.array(16000)}
# Model -> wheel, file, random inputs, other inputs, number of tensors that are converted.
MODELS: dict[str, tuple[str, str, tuple[Any, ...], dict[str, Any], int]] = {
    "constants in nested subgraphs": (SILERO, "silero_vad/data/silero_vad.onnx", (SOUND, STATE), RATE, 28),
    "subgraphs without weights": (SILERO, "silero_vad/data/silero_vad_16k_op15.onnx", (SOUND, STATE), RATE, 15),
    "sequence": (
        SILERO,
        "silero_vad/data/silero_vad_16k_sequence.onnx",
        (("input", (3, 576)), ("h", (1, 1, 128)), ("c", (1, 1, 128))),
        {},
        14,
    ),
    "half": (SILERO, "silero_vad/data/silero_vad_half.onnx", (SOUND, STATE), {}, 15),
    "weights around subgraphs": (
        SILERO,
        "silero_vad/data/silero_vad_op18_ifless.onnx",
        (SOUND, STATE),
        RATE,
        33,
    ),
    "constants": (SILERO, "silero_vad/data/silero_vad_openvino_16k.onnx", (SOUND, STATE), {}, 14),
    "magika": (
        MAGIKA,
        "magika/models/standard_v3_3/model.onnx",
        (),
        {"bytes": np.arange(2 * 2048, dtype=np.int32).reshape(2, -1) * 7 % 257},
        19,
    ),
}
FORMATS = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}


def run(model: onnx.ModelProto | Path, inputs: dict[str, Any]) -> list[bytes]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # these models have initialisers that nothing reads
    given = model if isinstance(model, Path) else model.SerializeToString()
    session = onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])
    return [np.asarray(output).tobytes() for output in session.run(None, inputs)]


def test_external_data(downloads: Any, tmp_path: Path) -> None:
    wheel, file, _, inputs, _ = MODELS["magika"]
    source = downloads.wheel(wheel) / file
    external = tmp_path / "external.onnx"
    onnx.save(onnx.load(source), external, save_as_external_data=True, location="weights")
    for model, name in ((source, "one.onnx"), (external, "two.onnx")):
        convert(model, tmp_path / name, "float16")
    assert (tmp_path / "two.onnx.data").is_file()
    assert run(tmp_path / "two.onnx", inputs) == run(tmp_path / "one.onnx", inputs)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("name", MODELS)
def test_results(name: str, to: str, downloads: Any, tmp_path: Path) -> None:
    wheel, file, random, inputs, count = MODELS[name]
    source = downloads.wheel(wheel) / file
    rng = np.random.default_rng(5)
    inputs = inputs | {key: rng.normal(0, 0.1, shape).astype(np.float32) for key, shape in random}
    before = onnx.load(source)
    if to.startswith("float8"):
        with pytest.raises(WeightsError, match=f"Cast takes {to} from opset 19 on, not in opset 1[568]"):
            convert(source, tmp_path / "out.onnx", to)
        before = onnx.version_converter.convert_version(before, 19)
        source = tmp_path / "19.onnx"
        source.write_bytes(before.SerializeToString())

    report = convert(source, tmp_path / "out.onnx", to)
    assert sum(tensor.audit is not None for tensor in report.tensors) == count

    after = onnx.load(tmp_path / "out.onnx")
    onnx.checker.check_model(after, full_check=True)
    results = run(after, inputs)
    assert results == run(with_rounded_weights(before, FORMATS[to]), inputs)
    assert results != run(before, inputs)

    for ours, theirs in zip(all_bodies(after), all_bodies(before), strict=True):
        assert [n.name for n in ours.node if n.op_type != "Cast" or not n.name.endswith("_cast")] == [
            n.name for n in theirs.node
        ]
        assert initialisers(ours).keys() == initialisers(theirs).keys()
        assert constants(ours).keys() == constants(theirs).keys()
    assert (after.metadata_props, after.opset_import) == (before.metadata_props, before.opset_import)
