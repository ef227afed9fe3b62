"""The program of the proofs: what it compares, what it prints, and that it notices a wrong bit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lutcast
from lutcast import exact, get_format
from lutcast.policy import COMMON_ROUNDINGS, resolve

PROVE = Path(__file__).parents[1] / "tools" / "prove.py"
FLOAT32 = get_format("float32")
DESTINATIONS = [f.name for f in lutcast.formats() if f.is_narrow and f.kind != "bool"]


@pytest.mark.parametrize("name", DESTINATIONS)
def test_second_computation_is_the_definition(prove, name, rng):
    """Where the second computation and the library agree, both agree with the definition too."""
    dst = get_format(name)
    to, runs = prove.second(name)
    for field in (0, *rng.integers(1, 255, 8).tolist(), 127, 126, 128):
        first = field << 23
        codes = np.unique(rng.integers(max(first, 1 << 22), (field + 1) << 23, 40, dtype=np.uint32))
        low = float(np.uint32(max(first, 1 << 22) if field == 0 else first).view(np.float32))
        keys = to.keys(codes.view(np.float32), low)
        for policy, negative, _, results in runs:
            if policy.rounding in COMMON_ROUNDINGS:
                signed = (codes | np.uint32(negative << 31)).tolist()
                assert results[keys].tolist() == [exact.cast_code(code, FLOAT32, dst, policy) for code in signed]


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e8m0fnu", "hifloat8", "bfloat16", "int4"])
def test_block_of_float32(prove, name):
    for first in (0, 1 << 22, 113 << 23, 127 << 23, 134 << 23, 142 << 23, 254 << 23):
        counts = list(prove.check_block(name, np.arange(first, first + 5000, dtype=np.uint32), first))
        assert sum(count.inputs for count in counts) == 5000 * len(prove.second(name)[1])
        assert [count for count in counts if count.mismatches] == []


def test_a_wrong_bit_is_found(prove, monkeypatch, capsys):
    right = lutcast.cast

    def wrong(x, *arguments, **options):
        result = right(x, *arguments, **options)
        if options["rounding"] == "to_odd":
            result.view(np.uint8)[np.asarray(x) == 0x7B] ^= 1
        return result

    monkeypatch.setattr(lutcast, "cast", wrong)
    arguments = ["--tables", "--only", "float8_e4m3fn", "--to", "float8_e5m2", "--jobs", "1"]
    assert prove.main(arguments) == 1
    expected = f"{56 * 256} inputs, 4 mismatches 0x7b gives"
    output = capsys.readouterr().out
    assert f"float8_e4m3fn -> float8_e5m2: {expected}" in output
    assert output.splitlines()[-1] == f"{56 * 256} casts compared, 4 mismatches"
    monkeypatch.undo()
    assert prove.main(arguments) == 0
    assert f"{56 * 256} casts compared, 0 mismatches" in capsys.readouterr().out


def test_a_wrong_loop_is_found(prove, monkeypatch, capsys):
    to, runs = prove.second("int2")
    policy, negative, cast, results = runs[0]
    broken = [(policy, negative, lambda codes: cast(codes).view(np.uint8) ^ (codes > 0x800004), results)]
    monkeypatch.setattr(prove, "second", lambda name: (to, broken))
    counts = list(prove.check_block("int2", np.arange(1 << 23, (1 << 23) + 10, dtype=np.uint32), 1 << 23))
    assert [(count.inputs, count.mismatches) for count in counts] == [(10, 5)]
    assert counts[0].example == "0x800005 gives 0x1, right is 0x0"


def test_boundaries_run_in_processes():
    arguments = ["--boundaries", "--only", "int32", "--to", "int2", "--jobs", "2"]
    done = subprocess.run([sys.executable, PROVE, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("int32 -> int2: ")
    assert "1 of 1" in done.stderr


def test_help_has_examples(prove, capsys):
    with pytest.raises(SystemExit) as stopped:
        prove.main(["--help"])
    assert stopped.value.code == 0
    assert "prove.py --float32 float8_e4m3fn int8" in capsys.readouterr().out
    for arguments in ([], ["--float32", "float64"], ["--tables", "--only", "complex64"]):
        with pytest.raises(SystemExit) as stopped:
            prove.main(arguments)
        assert stopped.value.code == 2


def test_hybrid_of_the_second_computation(prove):
    """Both hybrids, that of the definition and that of the proof, were written from the same text."""
    dst = get_format("hifloat8")
    to, runs = prove.second("hifloat8")
    policy = resolve(FLOAT32, dst, "hybrid", "ieee", "keep")
    results = next(r for p, negative, _, r in runs if p[:2] == policy[:2] and not negative)
    random = np.random.default_rng(4)
    for field in range(100, 150):
        codes = (np.uint32(field << 23) | random.integers(0, 1 << 23, 50)).astype(np.uint32)
        keys = to.keys(codes.view(np.float32), 2.0 ** (field - 127))
        got = results[to.hybrid_keys(keys, codes, field - 127)]
        assert got.tolist() == [exact.cast_code(code, FLOAT32, dst, policy) for code in codes.tolist()]
