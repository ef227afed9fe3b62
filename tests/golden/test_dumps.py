"""Goldens and dumps from files, made to fit each other."""

import json

import numpy as np
import pytest

import lutcast
from lutcast.golden import files, golden_of, vectors, verify, write_suite
from lutcast.golden.dumps import read_dump, read_golden
from lutcast.golden.files import GoldenFileError, Options

PAIR = {"src": "float16", "dst": "float8_e5m2"}


@pytest.fixture
def golden():
    return vectors(**PAIR)


@pytest.mark.parametrize("extension", [kind.extension for kind in files.KINDS.values() if kind.read])
def test_dump_of_every_kind(tmp_path, golden, extension):
    path = tmp_path / f"dump{extension}"
    files.write(path, golden)
    got, expected = read_dump(path, golden)
    assert expected is golden
    assert verify(got, expected).is_equal


@pytest.mark.parametrize("extension", [".bin", ".csv", ".json", ".tf"])
def test_golden_of_a_file(tmp_path, golden, extension):
    path = tmp_path / f"golden{extension}"
    files.write(path, golden)
    found = read_golden(path, {} if extension == ".json" else PAIR)
    assert np.array_equal(found.inputs, golden.inputs)
    assert np.array_equal(found.outputs, golden.outputs)
    assert found.policy == golden.policy


def test_results_of_the_file_count(tmp_path, golden):
    path = tmp_path / "golden.bin"
    (golden.outputs ^ 1).tofile(path)
    assert verify(golden.outputs, read_golden(path, PAIR)).mismatches == 65536


def test_golden_of_a_suite(tmp_path):
    items = [golden_of(*map(lutcast.get_format, pair), "to_odd", "ieee") for pair in [("float16", "float8_e4m3")]]
    write_suite(items, tmp_path / "suite", name="mine")
    found = read_golden(tmp_path / "suite" / items[0].path, {})
    assert (found.dst.name, str(found.policy)) == ("float8_e4m3", "to_odd/ieee/keep")
    with pytest.raises(ValueError, match=r"rounding: toward_zero given; .* says to_odd"):
        read_golden(tmp_path / "suite" / items[0].path, {"rounding": "toward_zero"})


def test_level_by_the_number_of_results(tmp_path):
    made = vectors("float32", "float8_e4m3fn", level=2)
    files.write(tmp_path / "golden.hex", made)
    assert read_golden(tmp_path / "golden.hex", {"src": "float32", "dst": "float8_e4m3fn"}).level == 2


def test_dump_with_inputs_in_another_order(tmp_path, golden):
    order = np.random.default_rng(1).permutation(65536)[:1000]
    shuffled = vectors(**PAIR, inputs=golden.inputs[order])
    files.write(tmp_path / "dump.csv", shuffled)
    got, expected = read_dump(tmp_path / "dump.csv", golden)
    assert np.array_equal(expected.inputs, golden.inputs[order])
    assert verify(got, expected).is_equal


def test_dump_with_foreign_inputs(tmp_path):
    golden = vectors("float32", "int8")
    files.write(tmp_path / "dump.tf", vectors("float32", "int8", inputs=np.float32([1.2345])))
    with pytest.raises(GoldenFileError, match=r"dump\.tf: vector 0: the golden has no input 0x3f9e0419"):
        read_dump(tmp_path / "dump.tf", golden)


def test_inputs_of_a_kernel(tmp_path):
    values = np.float16([1.5, -2.5, 300])
    values.tofile(tmp_path / "input.bin")
    made = vectors(
        "float16", "int8", rounding="ties_to_even", inputs=files.read_codes(tmp_path / "input.bin", "float16")
    )
    assert made.outputs.view(np.int8).tolist() == [2, -2, 127]
    assert not made.is_complete


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("golden.bin", b"\0" * 65535, "65535 results; from float16 to float8_e5m2 there are 65536 vectors"),
        ("golden.hex", b"00\n" * 7 + b"xy\n", "line 8: 'xy' is no hexadecimal word"),
        ("golden.json", b"{", "no valid JSON"),
        ("golden.json", b'{"source": "float17", "destination": "int8", "vectors": []}', "float17"),
        ("golden.csv", b"a,b\n", "line 1: the columns"),
    ],
)
def test_damaged_golden(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(GoldenFileError, match=message):
        read_golden(tmp_path / name, PAIR)


def test_nobody_says_the_formats(tmp_path):
    (tmp_path / "golden.bin").write_bytes(b"")
    with pytest.raises(ValueError, match=r"golden\.bin does not say its formats: src and dst are needed"):
        read_golden(tmp_path / "golden.bin", {"src": "float16"})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("dump.bin", b"\0" * 3, "3 results, the golden has 65536 vectors"),
        ("dump.bin", b"\0" * 65537, "65537 results, the golden has 65536 vectors"),
        ("dump.hex", b"00 1z\n", "line 1: '1z' is no hexadecimal word"),
        ("dump.hex", b"100\n", "line 1: '100' is beyond 8 bits"),
        ("dump.tf", b"0000 00\n0000\n", "line 2: 1 words"),
        ("dump.npy", b"\x93NUMPY\x01\x00", "dump.npy: .* reading array header length"),
    ],
)
def test_damaged_dump(tmp_path, golden, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(GoldenFileError, match=message):
        read_dump(tmp_path / name, golden)


def test_packed_dump(tmp_path):
    golden = vectors("float16", "int4")
    options = Options(packed=True)
    files.write(tmp_path / "dump.bin", golden, options=options)
    got, _ = read_dump(tmp_path / "dump.bin", golden, options=options)
    assert np.array_equal(got, golden.outputs)


def test_json_of_given_inputs(tmp_path):
    made = vectors(**PAIR, inputs=[1.0, 2.0])
    files.write(tmp_path / "golden.json", made)
    assert json.loads((tmp_path / "golden.json").read_text())["level"] == 0
    assert np.array_equal(read_golden(tmp_path / "golden.json", {}).outputs, made.outputs)
