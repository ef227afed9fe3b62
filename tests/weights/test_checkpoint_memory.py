"""A checkpoint needs memory for some pieces, however large its tensors are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lutcast.weights.safetensors_header import FORMATS, build_header, make_entry
from lutcast.weights.tensors import PIECE_BYTES

TENSORS, TENSOR_BYTES = 2, 256 << 20

PROGRAM = """
import sys
from pathlib import Path
from lutcast.weights import convert_checkpoint

def peak():  # of resident memory, mapped files included, in KiB
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

small, large, destination, to = sys.argv[1:]
convert_checkpoint(small, Path(destination).with_stem("small-out"), to, audit=False)
before = peak()
convert_checkpoint(large, destination, to, audit=False, threads=2)
print(peak() - before)
"""

SMALL = Path(__file__).parents[1] / "data" / "weights.safetensors"


@pytest.mark.parametrize("to", ["bfloat16", "float32", "float4_e2m1fn"])
def test_peak(to: str, tmp_path: Path) -> None:
    large = tmp_path / "large.safetensors"
    entries = [make_entry(f"w{i}", (TENSOR_BYTES // 4,), FORMATS["F32"]) for i in range(TENSORS)]
    header = build_header(entries, None)
    with large.open("wb") as stream:  # sparse: zeros that take no disk
        stream.write(len(header).to_bytes(8, "little") + header)
        stream.truncate(stream.tell() + TENSORS * TENSOR_BYTES)
    command = [sys.executable, "-c", PROGRAM, SMALL, large, tmp_path / "out.safetensors", to]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(result.stdout) * 1024 < 4 * PIECE_BYTES
