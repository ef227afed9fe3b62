"""Scaled float8, against NumPy, ml_dtypes and Python's fractions; and back."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

import lutcast
from lutcast.weights import WeightsError, convert_checkpoint, open_safetensors, verify_checkpoint

E4M3, FNUZ, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2
CONFIG = {"architectures": ["Tiny"], "torch_dtype": "float32"}


def save(path: Path, tensors: dict[str, Any]) -> None:
    safetensors.numpy.save_file({name: np.ascontiguousarray(array) for name, array in tensors.items()}, path)


def load(path: Path) -> dict[str, Any]:
    contents = {}
    for file in sorted(path.glob("*.safetensors")):
        with open_safetensors(file) as found:
            contents.update({tensor.entry.name: np.array(tensor.load()) for tensor in found.tensors})
    return contents


@pytest.fixture
def tensors() -> dict[str, Any]:
    rng = np.random.default_rng(11)
    return {
        "embed_tokens.weight": rng.normal(size=(40, 24)).astype(np.float32),
        "layers.0.norm.weight": rng.normal(size=24).astype(np.float32),
        "layers.0.up.weight": (rng.normal(size=(300, 200)) * np.exp(rng.normal(size=(300, 1)))).astype(np.float32),
        "layers.0.up.bias": rng.normal(size=300).astype(np.float32),
        "layers.0.down.weight": rng.normal(size=(24, 300)).astype(ml_dtypes.bfloat16),
        "lm_head.weight": rng.normal(size=(40, 24)).astype(np.float32),
    }


@pytest.fixture
def model(tmp_path: Path, tensors: dict[str, Any]) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    save(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return folder


def groups(x: Any, scale: str) -> list[tuple[slice, slice]]:
    height, width = x.shape
    if scale == "tensor":
        return [(slice(None), slice(None))]
    if scale == "channel":
        return [(slice(i, i + 1), slice(None)) for i in range(height)]
    r, c = map(int, scale.removeprefix("block:").split("x"))
    return [(slice(i, i + r), slice(j, j + c)) for i in range(0, height, r) for j in range(0, width, c)]


@pytest.mark.parametrize(("to", "dtype", "largest"), [("float8_e4m3fn", E4M3, 448), ("float8_e5m2", E5M2, 57344)])
@pytest.mark.parametrize(
    ("scale", "shape"),
    [("tensor", (1,)), ("channel", (300, 1)), ("block:128x128", (3, 2)), ("block:64x7", (5, 29))],
)
def test_definition(
    model: Path, tensors: dict[str, Any], tmp_path: Path, scale: str, shape: Any, to: str, dtype: Any, largest: int
) -> None:
    report = convert_checkpoint(model, tmp_path / "out", to, scale=scale)
    found = load(tmp_path / "out")
    x, codes, scales = tensors["layers.0.up.weight"], found["layers.0.up.weight"], found["layers.0.up.weight_scale"]
    assert (codes.dtype, scales.dtype, scales.shape) == (dtype, np.float32, shape)
    for place, stored in zip(groups(x, scale), scales.reshape(-1), strict=True):
        assert stored == np.float32(np.abs(x[place]).max() / np.float64(largest))
        with np.errstate(over="ignore"):
            expected = (x[place].astype(np.float64) / np.float64(stored)).clip(-largest, largest)
        # Quotients next to a midpoint are for fractions to decide: ml_dtypes before 0.7 rounds float64 twice.
        assert np.array_equal(lutcast.cast(expected, to).view(np.uint8), codes[place].view(np.uint8))
    assert {t.name for t in report.tensors if t.audit} == {"layers.0.down.weight", "layers.0.up.weight"}


def test_rounding_is_single(tmp_path: Path) -> None:
    """Every quotient against exact fractions, to the nearest value, ties to even."""
    rng = np.random.default_rng(5)
    x = (rng.normal(size=(8, 50)) * np.float32(0.1)).astype(np.float32)
    x[0, :25] = x[0].max() * np.float32(1.5) * np.arange(25, dtype=np.float32) / 24
    save(tmp_path / "in.safetensors", {"a.weight": x})
    convert_checkpoint(tmp_path / "in.safetensors", tmp_path / "out", "float8_e4m3fn", scale="channel")
    found = load(tmp_path / "out")
    grid = sorted({float(v) for v in np.arange(127, dtype=np.uint8).view(E4M3)})
    for i, row in enumerate(x):
        scale = Fraction(float(found["a.weight_scale"][i, 0]))
        for value, code in zip(row, found["a.weight"][i], strict=True):
            quotient = abs(Fraction(float(value)) / scale)
            distances = [abs(quotient - Fraction(v)) for v in grid]
            nearest = min(range(len(grid)), key=lambda k: (distances[k], k % 2))
            assert abs(float(code)) == grid[nearest]


def test_what_is_copied(model: Path, tensors: dict[str, Any], tmp_path: Path) -> None:
    report = convert_checkpoint(model, tmp_path / "out", "float8_e4m3fn", scale="channel")
    found = load(tmp_path / "out")
    for name in ("embed_tokens.weight", "layers.0.norm.weight", "layers.0.up.bias", "lm_head.weight"):
        assert found[name].tobytes() == tensors[name].tobytes()
    assert "1 tensors copied: not matrices of weights" in report.notes
    assert "3 tensors copied: kept" in report.notes
    assert verify_checkpoint(model, tmp_path / "out").difference is None
    convert_checkpoint(model, tmp_path / "all", "float8_e4m3fn", scale="channel", keep=["biases"])
    assert load(tmp_path / "all")["lm_head.weight"].dtype == E4M3


def test_configuration(model: Path, tmp_path: Path) -> None:
    convert_checkpoint(model, tmp_path / "out", "float8_e4m3fn", scale="block:128x128")
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert {key: config[key] for key in CONFIG} == CONFIG
    record = config["quantization_config"]
    assert (record["quant_method"], record["ignore"]) == ("compressed-tensors", ["embed_tokens", "lm_head"])
    weights = record["config_groups"]["group_0"]["weights"]
    assert (weights["num_bits"], weights["strategy"], weights["block_structure"]) == (8, "block", [128, 128])
    convert_checkpoint(model, tmp_path / "ds", "float8_e4m3fn", scale="block:128x128", layout="deepseek")
    record = json.loads((tmp_path / "ds" / "config.json").read_text())["quantization_config"]
    assert record == {
        "activation_scheme": "dynamic",
        "fmt": "e4m3",
        "quant_method": "fp8",
        "weight_block_size": [128, 128],
    }
    assert load(tmp_path / "ds")["layers.0.up.weight_scale_inv"].shape == (3, 2)


@pytest.mark.parametrize("scale", ["tensor", "channel", "block:128x128", "block:100x33"])
@pytest.mark.parametrize("to", ["bfloat16", "float16", "float32"])
def test_and_back(model: Path, tensors: dict[str, Any], tmp_path: Path, scale: str, to: str) -> None:
    convert_checkpoint(model, tmp_path / "fp8", "float8_e4m3fn", scale=scale)
    report = convert_checkpoint(tmp_path / "fp8", tmp_path / "back", to, unscale=True)
    fp8, back = load(tmp_path / "fp8"), load(tmp_path / "back")
    assert set(back) == set(tensors)
    assert "quantization_config" not in json.loads((tmp_path / "back" / "config.json").read_text())
    x, scales = tensors["layers.0.up.weight"], fp8["layers.0.up.weight_scale"].reshape(-1)
    for place, stored in zip(groups(x, scale), scales, strict=True):
        products = fp8["layers.0.up.weight"][place].astype(np.float64) * np.float64(stored)
        assert np.array_equal(back["layers.0.up.weight"][place], lutcast.cast(products, to))
    assert "2 scales left out, as their weights are unscaled" in report.notes
    assert verify_checkpoint(tmp_path / "fp8", tmp_path / "back").difference is None
    relative = np.abs(back["layers.0.up.weight"].astype(np.float64) - x) / np.abs(x).max()
    assert relative.max() < 1 / 16


def test_scales_in_another_shard(tmp_path: Path) -> None:
    """As in DeepSeek's checkpoints: the scales of a weight may lie in the next file."""
    folder = tmp_path / "model"
    folder.mkdir()
    rng = np.random.default_rng(2)
    codes = rng.normal(size=(130, 260)).astype(E4M3)
    scales = rng.uniform(0.5, 2, size=(2, 3)).astype(np.float32)
    save(folder / "model-00001-of-00002.safetensors", {"a.weight": codes})
    save(folder / "model-00002-of-00002.safetensors", {"a.weight_scale_inv": scales, "a.input_scale": np.float32([1])})
    names = {"a.weight": 1, "a.weight_scale_inv": 2, "a.input_scale": 2}
    index = {"metadata": {}, "weight_map": {n: f"model-{i:05d}-of-00002.safetensors" for n, i in names.items()}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "config.json").write_text(json.dumps({"quantization_config": {"weight_block_size": [128, 128]}}))
    convert_checkpoint(folder, tmp_path / "out", "bfloat16", unscale=True, max_shard_size=1 << 20)
    found = load(tmp_path / "out")
    assert set(found) == {"a.weight"}
    wide = scales.repeat(128, 0)[:130].repeat(128, 1)[:, :260]
    assert np.array_equal(found["a.weight"], (codes.astype(np.float32) * wide).astype(ml_dtypes.bfloat16))


@pytest.mark.parametrize(("src", "dst", "factor"), [(E4M3, "float8_e4m3fnuz", 2), (FNUZ, "float8_e4m3fn", 0.5)])
def test_the_other_bias(tmp_path: Path, src: Any, dst: str, factor: float) -> None:
    codes = np.arange(256, dtype=np.uint8).reshape(16, 16)
    save(tmp_path / "in.safetensors", {"a.weight": codes.view(src), "a.weight_scale": np.float32([0.3])})
    report = convert_checkpoint(tmp_path / "in.safetensors", tmp_path / "out", dst)
    found = load(tmp_path / "out")
    assert found["a.weight_scale"].tolist() == [np.float32(0.3) * np.float32(factor)]
    got = found["a.weight"].view(np.uint8)
    if dst == "float8_e4m3fnuz":
        expected = np.where(codes == 0x80, 0, np.where(codes & 0x7F == 0x7F, 0x80, codes))
    else:
        expected = np.where(codes == 0x80, 0x7F, np.where(codes & 0x7F == 0x7F, codes - 1, codes))
    assert np.array_equal(got, expected)
    assert "1 scaled weights keep their values: their scales change with the bias" in report.notes


def test_unusual_weights(tmp_path: Path) -> None:
    x = np.zeros((6, 4), np.float32)
    x[1] = 1e-45
    x[2, 0], x[2, 1] = np.inf, 2
    x[3, 0], x[3, 1] = np.nan, -3
    x[4] = 3e38
    save(tmp_path / "in.safetensors", {"a.weight": x, "b.weight": np.full((1, 2), 1e300)})
    report = convert_checkpoint(tmp_path / "in.safetensors", tmp_path / "out", "float8_e4m3fn", scale="channel")
    found = load(tmp_path / "out")
    scales = found["a.weight_scale"][:, 0]
    assert scales.tolist() == np.float32([1, 1e-45, 2 / 448, 3 / 448, np.float32(3e38) / 448, 1]).tolist()
    codes = found["a.weight"].astype(np.float32)
    assert codes[0].tolist() == [0, 0, 0, 0]
    assert codes[1].tolist() == [1, 1, 1, 1]
    assert codes[2].tolist() == [448, 448, 0, 0]
    assert np.isnan(codes[3, 0])
    assert codes[3, 1] == -448
    audit = next(tensor.audit for tensor in report.tensors if tensor.name == "a.weight")
    assert (audit.nan_in, audit.nan_out, audit.inf_in, audit.inf_out, audit.saturated) == (1, 1, 1, 0, 1)
    assert (audit.scale_min, audit.scale_max) == (scales.min(), scales.max())
    assert found["b.weight_scale"].tolist() == [[float(np.finfo(np.float32).max)]]
    assert found["b.weight"].astype(np.float32).tolist() == [[448, 448]]


def test_scale_max(model: Path, tensors: dict[str, Any], tmp_path: Path) -> None:
    convert_checkpoint(model, tmp_path / "out", "float8_e4m3fnuz", scale="tensor", scale_max=224)
    found = load(tmp_path / "out")
    largest = np.abs(tensors["layers.0.up.weight"]).max()
    assert found["layers.0.up.weight_scale"] == np.float32(largest / np.float64(224))
    assert np.abs(found["layers.0.up.weight"].astype(np.float32)).max() == 224


def test_measures(model: Path, tensors: dict[str, Any], tmp_path: Path) -> None:
    report = convert_checkpoint(model, tmp_path / "out", "float8_e4m3fn", scale="channel")
    audit: Any = next(tensor.audit for tensor in report.tensors if tensor.name == "layers.0.up.weight")
    found = load(tmp_path / "out")
    x = tensors["layers.0.up.weight"].astype(np.float64)
    y = found["layers.0.up.weight"].astype(np.float64) * found["layers.0.up.weight_scale"].astype(np.float64)
    error = np.abs(y - x)
    assert (audit.elements, audit.inexact) == (x.size, np.count_nonzero(error))
    assert audit.max_abs_error == error.max()
    assert audit.mean_abs_error == pytest.approx(error.mean())
    assert audit.max_rel_error == pytest.approx((error / np.abs(x)).max())
    assert audit.snr_db == pytest.approx(10 * np.log10((x**2).sum() / (error**2).sum()))
    assert audit.cosine == pytest.approx((x * y).sum() / np.sqrt((x**2).sum() * (y**2).sum()), rel=1e-12)
    assert audit.amax == np.abs(x).max()
    assert sum(audit.steps.values()) == x.size
    assert audit.steps["1"] == audit.steps["2"] == audit.steps["more"] == 0


def test_no_threads_in_the_bytes(model: Path, tmp_path: Path) -> None:
    for name, threads in (("one", 1), ("two", 2)):
        convert_checkpoint(model, tmp_path / name, "float8_e4m3fn", scale="block:128x128", threads=threads)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["SHA256SUMS", "config.json", "model.safetensors"]
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_dry_run_measures(model: Path, tmp_path: Path) -> None:
    dry = convert_checkpoint(model, tmp_path / "out", "float8_e4m3fn", scale="channel", dry_run=True)
    real = convert_checkpoint(model, tmp_path / "out", "float8_e4m3fn", scale="channel")
    assert dry.tensors == real.tensors
    assert dry.bytes_after == real.bytes_after


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"scale": "row"}, ValueError, "scale: 'row' is not one of tensor, channel, block:ROWSxCOLUMNS"),
        ({"scale": "block:0x4"}, ValueError, "scale: 'block:0x4' is not one of"),
        ({"scale": "tensor", "to": "bfloat16"}, ValueError, "scale: to bfloat16 given; weights are scaled to"),
        (
            {"scale": "tensor", "layout": "gguf"},
            ValueError,
            "layout: 'gguf' is not one of compressed-tensors, deepseek",
        ),
        ({"scale": "tensor", "layout": "deepseek"}, ValueError, "layout: deepseek takes --scale block"),
        ({"scale": "tensor", "scale_max": 500}, ValueError, "scale_max: 500 given; it lies above 0 and not above 448"),
        ({"scale_max": 224}, ValueError, "scale_max: needs scale"),
        ({"scale": "tensor", "unscale": True}, ValueError, "scale and unscale exclude each other"),
        ({"unscale": True}, ValueError, "unscale: to float8_e4m3fn given; it takes a float of 16 bits or more"),
    ],
)
def test_bad_options(model: Path, tmp_path: Path, options: Any, error: Any, message: str) -> None:
    to = options.pop("to", "float8_e4m3fn")
    with pytest.raises(error, match=message):
        convert_checkpoint(model, tmp_path / "out", to, **options)
    assert not (tmp_path / "out").exists()


def test_scaled_twice(model: Path, tmp_path: Path) -> None:
    convert_checkpoint(model, tmp_path / "fp8", "float8_e4m3fn", scale="channel")
    with pytest.raises(WeightsError, match=r"tensor 'layers\.0\.\w+\.weight' has scales already; unscale it first"):
        convert_checkpoint(tmp_path / "fp8", tmp_path / "out", "float8_e5m2", scale="channel")


def test_scales_that_do_not_fit(tmp_path: Path) -> None:
    save(
        tmp_path / "in.safetensors", {"a.weight": np.zeros((4, 4), E4M3), "a.weight_scale": np.ones((2, 2), np.float32)}
    )
    message = r"tensor 'a.weight': scales of shape \(2, 2\) fit no matrix of shape \(4, 4\) in blocks of 128x128"
    with pytest.raises(WeightsError, match=message):
        convert_checkpoint(tmp_path / "in.safetensors", tmp_path / "out", "bfloat16", unscale=True)


def test_scales_left_alone_are_named(model: Path, tmp_path: Path) -> None:
    convert_checkpoint(model, tmp_path / "fp8", "float8_e4m3fn", scale="channel")
    report = convert_checkpoint(tmp_path / "fp8", tmp_path / "plain", "bfloat16")
    assert "2 weights have scales, which are copied; to multiply by them, unscale" in report.notes
    report = convert_checkpoint(model, tmp_path / "nothing", "bfloat16", unscale=True)
    assert "unscale: no weight has scales" in report.notes
