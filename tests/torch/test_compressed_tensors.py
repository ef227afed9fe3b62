"""Scaled float8 in the hands of the compressed-tensors package and of transformers."""

from __future__ import annotations

import importlib.util
import json

import numpy as np
import pytest

from lutcast.weights import convert_checkpoint, open_safetensors

spec = importlib.util.find_spec("torch")
if spec is None or spec.origin is None:  # without torch its name finds this folder
    pytest.skip("torch is not installed", allow_module_level=True)
torch = importlib.import_module("torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("compressed_tensors", reason="compressed-tensors is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")  # of the packages' own
SCALES = ["tensor", "channel", "block:16x16", "block:24x20"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Return the folder of a small Llama, as transformers saves it."""
    torch.manual_seed(3)
    config = transformers.LlamaConfig(
        hidden_size=48,
        intermediate_size=80,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=60,
        tie_word_embeddings=False,
    )
    folder = tmp_path_factory.mktemp("llama") / "model"
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def load(folder):
    with open_safetensors(folder / "model.safetensors") as contents:
        return {tensor.entry.name: np.array(tensor.load()) for tensor in contents.tensors}


def as_torch(array):
    if array.dtype.itemsize == 1:
        return torch.from_numpy(array.view(np.uint8)).view(torch.float8_e4m3fn)
    return torch.from_numpy(array)


@pytest.mark.parametrize("scale", SCALES)
def test_decompressed(model, tmp_path, scale):
    """The package's own decompression gives what unscaling gives, bit for bit."""
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import QuantizationConfig

    convert_checkpoint(model, tmp_path / "fp8", "float8_e4m3fn", scale=scale)
    convert_checkpoint(tmp_path / "fp8", tmp_path / "back", "float32", unscale=True)
    record = json.loads((tmp_path / "fp8" / "config.json").read_text())["quantization_config"]
    config = QuantizationConfig.model_validate(record)
    (scheme,) = config.config_groups.values()
    compressor = BaseCompressor.get_value_from_registry(config.format)
    packed, back = load(tmp_path / "fp8"), load(tmp_path / "back")
    names = [name.removesuffix("_scale") for name in packed if name.endswith(".weight_scale")]
    assert len(names) == 14
    for name in names:
        state = {"weight": as_torch(packed[name]), "weight_scale": as_torch(packed[f"{name}_scale"])}
        weight = compressor.decompress(state, scheme)["weight"]
        assert weight.dtype == torch.float32
        assert np.array_equal(weight.numpy(), back[name]), name


@pytest.mark.parametrize("scale", ["tensor", "channel", "block:16x16"])
def test_loaded_by_transformers(model, tmp_path, scale):
    """A model that transformers loads computes what one with unscaled weights computes."""
    convert_checkpoint(model, tmp_path / "fp8", "float8_e4m3fn", scale=scale)
    convert_checkpoint(tmp_path / "fp8", tmp_path / "back", "float32", unscale=True)
    quantization = transformers.CompressedTensorsConfig(run_compressed=False)
    load_model = transformers.LlamaForCausalLM.from_pretrained
    scaled = load_model(tmp_path / "fp8", quantization_config=quantization, dtype=torch.float32)
    plain = load_model(tmp_path / "back", dtype=torch.float32)
    original = load_model(model, dtype=torch.float32)
    tokens = torch.arange(20)[None]
    with torch.no_grad():
        results = [each(tokens).logits for each in (scaled, plain, original)]
    assert torch.allclose(results[0], results[1], rtol=0, atol=1e-6)
    assert torch.nn.functional.cosine_similarity(results[1].flatten(), results[2].flatten(), dim=0) > 0.99
