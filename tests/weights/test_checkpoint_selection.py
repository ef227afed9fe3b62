"""Which tensors of a checkpoint are converted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import lutcast
from lutcast.weights import convert_checkpoint

NAMES = {
    "h.0.attn.q_proj.weight": "float32",
    "h.0.attn.q_proj.bias": "float16",
    "h.0.attn.q_proj.weight_scale": "float32",
    "h.0.attn.q_proj.weight_scale_inv": "float32",
    "h.0.attn.q_proj.weight_scale_2": "float32",
    "h.0.attn.q_proj.scale_weight": "float32",
    "h.0.attn.q_proj.input_scale": "float32",
    "h.0.attn.q_proj.activation_scale": "float32",
    "h.0.attn.q_proj.zero_point": "float32",
    "h.0.attn.k_scale": "float32",
    "h.0.mlp.experts_scales": "float32",
    "h.0.mlp.exponents": "float8_e8m0fnu",
    "h.0.mlp.gate.weight": "float32",
    "h.0.mlp.gate_proj.weight": "float32",
    "h.0.input_layernorm.weight": "float32",
    "h.0.scaled_attention.weight": "float32",
    "embed_tokens.weight": "bfloat16",
    "lm_head.weight": "float64",
    "position_ids": "int64",
    "mask": "bool",
    "freqs": "complex64",
}
ALL = {
    *("h.0.attn.q_proj.weight", "h.0.attn.q_proj.bias", "h.0.mlp.gate.weight", "h.0.mlp.gate_proj.weight"),
    *("h.0.input_layernorm.weight", "h.0.scaled_attention.weight", "embed_tokens.weight", "lm_head.weight"),
}


@pytest.mark.parametrize(
    ("include", "exclude", "keep", "converted"),
    [
        ((), (), (), ALL),
        (["*"], (), (), ALL),
        (["h.*"], (), (), {name for name in ALL if name.startswith("h.")}),
        ((), ["h.*"], (), {"embed_tokens.weight", "lm_head.weight"}),
        (["*.weight"], (), ["norms", "routers"], {n for n in ALL if n[-4:] != "bias"} - {
            "h.0.input_layernorm.weight", "h.0.mlp.gate.weight",
        }),
        ((), (), ["embeddings", "heads", "biases"], ALL - {
            "embed_tokens.weight", "lm_head.weight", "h.0.attn.q_proj.bias",
        }),
        ((), (), ["*_proj.*"], {n for n in ALL if "_proj." not in n}),
        (["*.weight_scale"], (), (), {"h.0.attn.q_proj.weight_scale"}),
        (["*scale*"], (), (), {"h.0.scaled_attention.weight"}),
        (["*.weight_scale"], ["*_scale"], (), set()),
        (["position_ids"], (), (), {"position_ids"}),
        (["*.exponents"], (), (), {"h.0.mlp.exponents"}),
        (["H.*"], (), (), set()),
    ],
)  # fmt: skip
def test_selection(
    include: Sequence[str], exclude: Sequence[str], keep: Sequence[str], converted: set[str], tmp_path: Path
) -> None:
    path = tmp_path / "source.safetensors"
    tensors = {name: lutcast.cast(np.ones(2, np.float32), dtype) for name, dtype in NAMES.items()}
    safetensors.numpy.save_file(tensors, path)
    out = tmp_path / "out.safetensors"
    report = convert_checkpoint(path, out, "float8_e5m2", include=include, exclude=exclude, keep=keep)
    assert {tensor.name for tensor in report.tensors if tensor.destination == "float8_e5m2"} == converted
    assert {tensor.name for tensor in report.tensors if tensor.audit} == converted


def test_patterns_without_a_tensor_are_noted(model: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"include": ["*", "x"], "exclude": ["y.*"], "keep": ["norms", "norm"]}
    report = convert_checkpoint(model, tmp_path / "out", "float16", dry_run=True, **options)
    assert [note for note in report.notes if "matches" in note] == [
        "include: 'x' matches no tensor",
        "exclude: 'y.*' matches no tensor",
        "keep: 'norm' matches no tensor",
    ]


@pytest.mark.parametrize("name", ["include", "exclude", "keep"])
def test_a_string_is_no_sequence_of_patterns(name: str, model: Path, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=f"{name}: 'norm' is one string; it takes a sequence of patterns"):
        convert_checkpoint(model, tmp_path / "out", "float16", **{name: "norm"})


def test_tied_tensors_stay_tied(tmp_path: Path) -> None:
    path, out = tmp_path / "source.safetensors", tmp_path / "out.safetensors"
    table = np.random.default_rng(1).normal(size=(30, 8)).astype(np.float32)
    other = table.copy()
    other[-1, -1] += 1
    tensors = {
        "embed_tokens.weight": table,
        "lm_head.weight": table.copy(),
        "other.weight": other,
        "a.zeros": np.zeros((30, 8), np.float32),
        "b.zeros": np.zeros((30, 8), np.float32),
        "a.bias": table[0],
        "b.bias": table[0],
    }
    safetensors.numpy.save_file(tensors, path)
    report = convert_checkpoint(path, out, "float16", keep=["embeddings", "a.*"])
    assert {t.name for t in report.tensors if t.audit} == {"other.weight", "b.bias"}
    # b.zeros is a zero point by its name; a matrix of one value is no tie:
    safetensors.numpy.save_file({"a.w": tensors["a.zeros"], "b.w": tensors["b.zeros"]}, path)
    report = convert_checkpoint(path, out, "float16", keep=["a.*"], overwrite=True)
    assert {t.name for t in report.tensors if t.audit} == {"b.w"}
