"""Write weights.safetensors: the weights of a very small transformer, the same bytes everywhere.

Uses NumPy's raw generator only, whose stream never changes, and sums of integers in place of a
normal distribution.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

HIDDEN, INNER, VOCABULARY, POSITIONS = 64, 128, 96, 32
SIGMA = 0.05
METADATA = {"format": "pt", "description": "tiny transformer, made by make_weights.py"}


def normal(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    """Return approximately standard normal float64 values, multiples of 2**-16."""
    count = int(np.prod(shape))
    uniform = np.random.PCG64(seed).random_raw(3 * count).astype("<u8").view("<u2").astype(np.int64)
    total = uniform.reshape(count, 12).sum(axis=1) - 12 * 65535 // 2
    return (total / 65536).reshape(shape)


def weight(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    """Return float32 weights."""
    return (normal(seed, shape) * SIGMA).astype("<f4")


def with_outliers(weights: np.ndarray) -> np.ndarray:
    """Put in values around the largest float8_e4m3fn, 448, and around the smallest, 2**-9."""
    flat = weights.reshape(-1)
    flat[::997] = [1000.0, -512.0, 61440.0, 480.0, -449.0]
    flat[5::997] = [1e-4, -1e-5, 3e-6, 2.0**-10, -1e-7]
    return weights


def bfloat16(weights: np.ndarray) -> np.ndarray:
    """Round float32 to bfloat16 codes, ties to even."""
    bits = weights.view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")


def tensors() -> dict[str, tuple[str, np.ndarray]]:
    """Return dtype name and array of each tensor, in the order of the file."""
    layer = "model.layers.0"
    return {
        "model.embed_tokens.weight": ("BF16", bfloat16(weight(1, (VOCABULARY, HIDDEN)))),
        f"{layer}.input_layernorm.weight": ("F32", 1 + weight(2, (HIDDEN,))),
        f"{layer}.self_attn.q_proj.weight": ("F32", weight(3, (HIDDEN, HIDDEN))),
        f"{layer}.self_attn.k_proj.weight": ("F32", weight(4, (HIDDEN, HIDDEN))),
        f"{layer}.self_attn.v_proj.weight": ("F32", weight(5, (HIDDEN, HIDDEN))),
        f"{layer}.self_attn.o_proj.weight": ("F32", with_outliers(weight(6, (HIDDEN, HIDDEN)))),
        f"{layer}.self_attn.mask": ("BOOL", np.tri(POSITIONS, dtype="?")),
        f"{layer}.mlp.gate_proj.weight": ("F16", weight(7, (INNER, HIDDEN)).astype("<f2")),
        f"{layer}.mlp.up_proj.weight": ("F16", weight(8, (INNER, HIDDEN)).astype("<f2")),
        f"{layer}.mlp.down_proj.weight": ("F16", weight(9, (HIDDEN, INNER)).astype("<f2")),
        "model.norm.weight": ("F32", 1 + weight(10, (HIDDEN,))),
        "model.position_ids": ("I64", np.arange(POSITIONS, dtype="<i8").reshape(1, POSITIONS)),
        "lm_head.weight": ("BF16", bfloat16(weight(11, (VOCABULARY, HIDDEN)))),
    }


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).with_name("weights.safetensors"))
    output = parser.parse_args().output
    header: dict[str, object] = {"__metadata__": METADATA}
    data = bytearray()
    for name, (dtype, array) in tensors().items():
        span = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": span}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    output.write_bytes(len(text).to_bytes(8, "little") + text + data)


if __name__ == "__main__":
    main()
