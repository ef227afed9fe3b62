"""The committed weights are what their script makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import safetensors

from lutcast.weights import convert

DATA = Path(__file__).parents[1] / "data"


def test_script_reproduces_the_file(tmp_path: Path) -> None:
    made = tmp_path / "weights.safetensors"
    subprocess.run([sys.executable, DATA / "make_weights.py", "-o", made], check=True)
    assert made.read_bytes() == (DATA / "weights.safetensors").read_bytes()


def test_the_file_shows_what_a_conversion_loses(tmp_path: Path) -> None:
    source = DATA / "weights.safetensors"
    with safetensors.safe_open(source, "numpy") as theirs:
        dtypes = {theirs.get_slice(name).get_dtype() for name in theirs.keys()}  # noqa: SIM118 - no mapping
    assert dtypes == {"F32", "F16", "BF16", "I64", "BOOL"}
    report = convert(source, tmp_path / "x.safetensors", "float8_e4m3fn", dry_run=True)
    audits = [tensor.audit for tensor in report.tensors if tensor.audit]
    assert sum(audit.saturated for audit in audits) == 4  # of five outliers -449 still rounds to -448
    assert sum(audit.flushed_to_zero for audit in audits) > 5
    assert sum(audit.nan_in + audit.nan_out for audit in audits) == 0
