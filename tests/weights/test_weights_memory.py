"""Conversion needs memory for the largest tensor, not for the file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from lutcast.weights.safetensors_header import FORMATS, build_header, make_entry

MIB = 1 << 20
TENSORS, TENSOR_BYTES = 8, 24 * MIB

PROGRAM = """
import sys
from pathlib import Path
from lutcast.weights import convert

def peak():  # of resident memory, mapped files included, in KiB
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

small, large, destination = sys.argv[1:]
convert(small, Path(destination).with_stem("small-out"), "bfloat16")
before = peak()
convert(large, destination, "bfloat16")
print(peak() - before)
"""


def growth(large: Path, weights: Path) -> int:
    """Return by how many bytes converting a file needs more than converting a small one."""
    command = [sys.executable, "-c", PROGRAM, weights, large, large.with_name(f"out{large.suffix}")]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(result.stdout) * 1024


WEIGHTS = Path(__file__).parents[1] / "data" / "weights.safetensors"


def test_safetensors(tmp_path: Path) -> None:
    large = tmp_path / "large.safetensors"
    entries = [make_entry(f"w{i}", (TENSOR_BYTES // 4,), FORMATS["F32"]) for i in range(TENSORS)]
    header = build_header(entries, None)
    with large.open("wb") as stream:  # sparse: zeros that take no disk
        stream.write(len(header).to_bytes(8, "little") + header)
        stream.truncate(stream.tell() + TENSORS * TENSOR_BYTES)
    assert growth(large, WEIGHTS) < 2 * TENSOR_BYTES


def test_npz(tmp_path: Path) -> None:
    large = tmp_path / "large.npz"
    np.savez_compressed(large, **{f"w{i}": np.zeros(TENSOR_BYTES // 4, np.float32) for i in range(TENSORS // 2)})
    assert growth(large, WEIGHTS) < 2.5 * TENSOR_BYTES


def test_onnx_with_external_data(tmp_path: Path) -> None:
    small = numpy_helper.from_array(np.zeros(4, np.float32), "w")
    tensors = [TensorProto(name=f"w{i}", data_type=1, dims=[TENSOR_BYTES // 4]) for i in range(TENSORS)]
    for i, proto in enumerate(tensors):
        proto.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "large.bin"), ("offset", i * TENSOR_BYTES), ("length", TENSOR_BYTES)):
            proto.external_data.add(key=key, value=str(value))
    with (tmp_path / "large.bin").open("wb") as stream:
        stream.truncate(TENSORS * TENSOR_BYTES)
    for name, initialisers in (("small", [small]), ("large", tensors)):
        graph = helper.make_graph([], "g", [], [], initialisers)
        (tmp_path / f"{name}.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    assert growth(tmp_path / "large.onnx", tmp_path / "small.onnx") < 2 * TENSOR_BYTES
