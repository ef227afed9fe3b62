"""Suites are the same bytes everywhere, and a check finds whatever was changed."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lutcast
from lutcast.golden import check, files, presets, write_suite

SMALL = """
name = "mine"
[[golden]]
src = "float8_e5m2"
dst = "int4"
packed = true
[[golden]]
src = "float32"
dst = "float8_e4m3fn"
rounding = "toward_zero"
overflow = "ieee"
format = "hex"
level = 2
words_per_line = 4
file = "rom.hex"
"""


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(SMALL)
    return presets.from_toml(path)


def digests(folder):
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()
    }


def test_own_suite(small, tmp_path):
    name, goldens = small
    calls = []
    manifest = write_suite(goldens, tmp_path / "suite", name=name, progress=lambda *call: calls.append(call))
    assert manifest == json.loads((tmp_path / "suite/manifest.json").read_text())
    assert manifest["suite"] == "mine"
    assert manifest["lutcast"] == lutcast.__version__
    packed, rom = manifest["files"]
    assert packed["file"] == "float8_e5m2/int4/toward_zero-saturate.bin"
    assert (packed["vectors"], packed["bytes"], packed["packed"], packed["inputs"]) == (
        256,
        128,
        True,
        "every code, ascending",
    )
    assert (rom["rounding"], rom["generator"], rom["seed"], rom["inputs"]) == (
        "toward_zero",
        "PCG64",
        754,
        "directed, ascending",
    )
    for entry in manifest["files"]:
        data = (tmp_path / "suite" / entry["file"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["bytes"], entry["sha256"])
    assert calls[0] == (packed["file"], 0, packed["vectors"] + rom["vectors"])
    assert calls[-1][1] == calls[-1][2]
    codes = files.read_codes(tmp_path / "suite/rom.hex", "float8_e4m3fn", options=files.Options(words_per_line=4))
    assert np.array_equal(codes[: rom["vectors"]], goldens[1].vectors().outputs)
    assert check(tmp_path / "suite").problems == ()


@pytest.mark.parametrize("variant", ["baseline", lutcast.show_config("dicts")["kernels"]["variants"][-1]])
def test_same_bytes_from_every_variant(small, tmp_path, variant):
    write_suite(small[1], tmp_path / "here", name="mine")
    code = (
        "from pathlib import Path; from lutcast.golden import presets, write_suite; import sys;"
        "name, goldens = presets.from_toml(Path(sys.argv[1])); write_suite(goldens, sys.argv[2], name=name)"
    )
    command = [sys.executable, "-c", code, tmp_path / "mine.toml", tmp_path / "there"]
    subprocess.run(command, check=True, env=os.environ | {"LUTCAST_CPU": variant, "TZ": "Asia/Tokyo"})
    assert digests(tmp_path / "here") == digests(tmp_path / "there")


@pytest.mark.parametrize("name", [name for name in presets.PRESETS if name != "all-narrow"])
def test_presets(name):
    goldens = presets.PRESETS[name]()
    assert len({golden.path for golden in goldens}) == len(goldens) >= 20
    for golden in goldens[:: max(len(goldens) // 4, 1)]:
        made = golden.vectors()
        assert len(made) == golden.count()
        assert (made.src, made.dst) == (golden.src, golden.dst)


def test_preset_of_a_product_has_its_rules():
    by_path = {golden.path: golden for golden in presets.PRESETS["ascend-950"]()}
    golden = by_path["float32/hifloat8/hybrid-saturate-nan_zero.bin"]
    assert (golden.rounding, golden.overflow, golden.nan) == ("hybrid", "saturate", "zero")
    assert "float32/float16/to_odd-saturate-nan_zero.bin" in by_path
    away = {golden.path for golden in presets.PRESETS["ascend-910"]()}
    assert "float16/int32/away_from_zero-saturate.bin" in away


def test_all_narrow_has_every_table_once():
    goldens = presets.all_narrow()
    assert len({golden.path for golden in goldens}) == len(goldens) > 2960
    pairs = {(golden.src.name, golden.dst.name) for golden in goldens}
    real = [fmt for fmt in lutcast.formats() if fmt.part is None]
    assert len(pairs) == sum(fmt.is_narrow for fmt in real) * (len(real) - 1)


def test_check_finds_what_was_changed(small, tmp_path):
    suite = tmp_path / "suite"
    write_suite(small[1], suite, name="mine")
    packed = suite / "float8_e5m2/int4/toward_zero-saturate.bin"
    good = packed.read_bytes()
    packed.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    assert check(suite).problems == (
        f"{packed.relative_to(suite)}: the file is not the one of the manifest: 128 bytes, another hash",
    )
    manifest = json.loads((suite / "manifest.json").read_text())
    manifest["files"][0]["sha256"] = hashlib.sha256(packed.read_bytes()).hexdigest()
    (suite / "manifest.json").write_text(json.dumps(manifest))
    assert check(suite).problems == (
        f"{packed.relative_to(suite)}: differs from what this version computes, from byte 127 on",
    )
    packed.unlink()
    (suite / "extra.bin").write_bytes(b"")
    assert check(suite).problems == (f"{packed.relative_to(suite)}: is missing", "extra.bin: is not in the manifest")


def test_check_needs_a_manifest(tmp_path):
    with pytest.raises(ValueError, match=r"there is no manifest\.json: no suite, or one that was not finished$"):
        check(tmp_path)
    for text, message in [
        ("{", r"no valid JSON"),
        ("[]", r"an object is needed$"),
        ('{"version": 2}', r"^manifest: version 2 given, 1 is needed$"),
        ('{"version": 1, "files": [{}]}', r"^manifest: a file without 'endian'$"),
    ]:
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(ValueError, match=message):
            check(tmp_path)


def test_a_file_outside_of_the_folder_is_not_read(small, tmp_path):
    suite = tmp_path / "suite"
    write_suite(small[1], suite, name="mine")
    manifest = json.loads((suite / "manifest.json").read_text())
    manifest["files"][0]["file"] = "../mine.toml"
    (suite / "manifest.json").write_text(json.dumps(manifest))
    assert "../mine.toml: lies outside of the folder" in check(suite).problems


def test_the_folder_must_be_empty(small, tmp_path):
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite/keep.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"suite: exists and is no empty folder$"):
        write_suite(small[1], tmp_path / "suite", name="mine")
    assert (tmp_path / "suite/keep.txt").read_text() == "mine"


def test_an_interrupt_leaves_no_manifest_and_no_half_file(small, tmp_path):
    def interrupt(name, done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_suite(small[1], tmp_path / "suite", name="mine", progress=interrupt)
    assert [p.name for p in (tmp_path / "suite").rglob("*") if p.is_file()] == ["toward_zero-saturate.bin"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"one \[\[golden\]\] at least is needed$"),
        ("golden = 3", r"one \[\[golden\]\] at least is needed$"),
        ("[[golden]]\nsrc='float16'", r"golden 1: dst is missing$"),
        (
            "[[golden]]\nsrc='float16'\ndst='int8'\n[[golden]]\nsrc='float17'\ndst='int8'",
            r"golden 2: src: 'float17' is not a format",
        ),
        (
            "[[golden]]\nsrc='float16'\ndst='int8'\nfile='../x.bin'",
            r"golden 1: file: '\.\./x\.bin' lies outside of the folder$",
        ),
        ("[[golden]]\nsrc='float16'\ndst='int8'\nformat='doc'", r"golden 1: format: 'doc' is not one of"),
        ("[[golden]]\nsrc='float16'\ndst='int8'\nspeed=3", r"golden 1: .*unexpected keyword argument 'speed'$"),
        ("[[golden]]\nsrc='float16'\ndst='int8'\n" * 2, r"toward_zero-saturate\.bin is there twice"),
        ("[[golden", r"\.toml: "),
    ],
)
def test_bad_toml(tmp_path, text, message):
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(ValueError, match=message):
        presets.from_toml(Path(tmp_path / "x.toml"))
