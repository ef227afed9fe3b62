"""Goldens are read by those they are made for: NumPy, a C compiler, a Verilog simulator."""

import dataclasses
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import lutcast
from lutcast.golden import files, vectors

RTL = Path(__file__).parent / "rtl"


def test_numpy(tmp_path):
    v = vectors("float16", "bfloat16")
    files.write(tmp_path / "x.npy", v)
    assert np.array_equal(np.load(tmp_path / "x.npy"), v.outputs)
    decoded = vectors("float8_e5m2", "float32")
    files.write(tmp_path / "y.npy", decoded)
    assert np.load(tmp_path / "y.npy").tobytes() == lutcast.table("float8_e5m2", "float32").tobytes()
    files.write(tmp_path / "x.bin", v, options=files.Options(endian="big"))
    assert np.array_equal(np.fromfile(tmp_path / "x.bin", ">u2"), v.outputs)


PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include "fp8.h"
int main(void)
{
    /* Truncation of the last bit's place is enough to tell the arrays apart and to use each of them. */
    unsigned long inputs = 0, outputs = 0, flags = 0;
    for (int i = 0; i < FP8_COUNT; i++) {
        inputs = inputs * 31 + fp8_inputs[i];
        outputs = outputs * 31 + fp8_outputs[i];
        flags = flags * 31 + fp8_flags[i];
    }
    printf("%d %lu %lu %lu\n", FP8_COUNT, inputs, outputs, flags);
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize(
    ("src", "dst"), [("float32", "float8_e4m3fn"), ("int64", "float64"), ("float6_e2m3fn", "int4")]
)
def test_c_compiler(tmp_path, src, dst):
    v = vectors(src, dst)
    files.write(tmp_path / "fp8.h", v, options=files.Options(name="fp8"))
    (tmp_path / "main.c").write_text(PROGRAM)
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "main.c", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    printed = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()
    expected = [len(v)]
    for column in (v.inputs, v.outputs, v.flags):
        total = 0
        for code in column.tolist():
            total = (total * 31 + code) % 2**64
        expected.append(total)
    assert list(map(int, printed)) == expected


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus Verilog is not installed (Debian: iverilog)")
@pytest.mark.parametrize(("module", "verdict"), [("to_bfloat16.sv", "PASS: "), ("half_up_bfloat16.sv", "FAIL: ")])
@pytest.mark.parametrize("addresses", [False, True])
def test_verilog_simulator(tmp_path, module, verdict, addresses, rng):
    v = vectors("float32", "bfloat16")
    some = np.sort(rng.choice(len(v), 1500, replace=False))  # a simulator takes its time over all of them
    thin = dataclasses.replace(v, inputs=v.inputs[some], outputs=v.outputs[some], flags=v.flags[some])
    files.write(tmp_path / "golden.hex", thin, options=files.Options(addresses=addresses))
    files.write(tmp_path / "golden.sv", thin)
    sources = ["golden.sv", RTL / module, RTL / "bench.sv"]
    subprocess.run(
        ["iverilog", "-g2012", "-Wall", "-s", "bench", "-o", "bench.vvp", *sources], cwd=tmp_path, check=True
    )
    printed = subprocess.run(["vvp", "bench.vvp"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert printed.splitlines()[0].startswith(verdict), printed
    assert "disagree" not in printed
    if verdict == "PASS: ":
        assert printed.split()[1] == str(len(thin))
