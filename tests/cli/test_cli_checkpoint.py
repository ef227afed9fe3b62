"""`lutcast convert` of checkpoints, recipes, and `lutcast verify-weights`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from lutcast.cli.options import parse_size
from lutcast.weights import convert_checkpoint, open_safetensors


@pytest.fixture
def folder(weights: Path, tmp_path: Path) -> Path:
    """Return a folder with one shard."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(weights.read_bytes())
    (folder / "config.json").write_text("{}")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_folder(run: Any, folder: Path, tmp_path: Path) -> None:
    options = ["--keep", "norms", "--max-shard-size", "20kB", "--no-audit"]
    outcome = run("convert", folder, tmp_path / "out", "--to", "bfloat16", *options)
    assert (outcome.code, outcome.err) == (0, "")
    convert_checkpoint(folder, tmp_path / "expected", "bfloat16", keep=["norms"], max_shard_size=20_000)
    assert contents(tmp_path / "out") == contents(tmp_path / "expected")
    rows = [line.split() for line in outcome.out.splitlines()]
    assert ["model.layers.0.self_attn.o_proj.weight", "float32", "bfloat16", "4096"] in [
        row[:4] for row in rows if len(row) == 4
    ]
    assert "tensors converted to bfloat16, the others copied" in outcome.out


def test_resume_and_overwrite(run: Any, folder: Path, tmp_path: Path) -> None:
    arguments = ("convert", folder, tmp_path / "out", "--to", "bfloat16")
    assert run(*arguments).code == 0
    assert "exists already and is not empty" in run(*arguments).err
    assert "note: nothing to do: the conversion was complete" in run(*arguments, "--resume").out
    assert run(*arguments, "--overwrite").code == 0


def test_dry_run(run: Any, folder: Path, tmp_path: Path) -> None:
    outcome = run("convert", folder, tmp_path / "out", "--to", "bfloat16", "--dry-run")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert any(line.startswith("free disk: ") for line in lines)
    assert any(line.startswith("model.safetensors: ") for line in lines)
    assert lines[-1] == "dry run: nothing was written"
    assert not (tmp_path / "out").exists()


def test_recipe(run: Any, folder: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'to = "float8_e4m3fn"\nkeep = ["norms", "embeddings"]\nmax-shard-size = 20000\nthreads = 2\naudit = false\n'
    )
    assert run("convert", folder, tmp_path / "out", "--recipe", recipe).code == 0
    assert run("convert", "--recipe", recipe, folder, tmp_path / "other", "--to", "bfloat16").code == 0
    options: dict[str, Any] = {"keep": ["norms", "embeddings"], "max_shard_size": 20000}
    for name, to in (("out", "float8_e4m3fn"), ("other", "bfloat16")):
        convert_checkpoint(folder, tmp_path / f"expected-{name}", to, **options)
        assert contents(tmp_path / name) == contents(tmp_path / f"expected-{name}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("to =", "recipe.toml: not TOML"),
        ("too = 1", "recipe.toml: unknown option 'too'; known are to, rounding"),
        ('recipe = "x"', "unknown option 'recipe'"),
        ('keep = "norms"', "keep = 'norms' given; it takes a list of strings"),
        ("exclude = [1]", "exclude = [1] given; it takes a list of strings"),
        ('dry-run = "yes"', "dry-run = 'yes' given; it takes true or false"),
        ("threads = true", "threads = True given; it takes a string or an integer"),
        ("threads = 0", "0 is not in the range x>=1"),
        ('to = "float9"', "'float9' is not a format"),
        ('max_shard_size = "5 apples"', "'5 apples' is not a size such as 5GB"),
    ],
)
def test_wrong_recipes(text: str, message: str, run: Any, folder: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(f"{text}\n")
    needed = [] if text.startswith("to = ") else ["--to", "bfloat16"]
    outcome = run("convert", folder, tmp_path / "out", "--recipe", recipe, *needed)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("5GB", 5 * 10**9), ("1.5 kb", 1500), ("2MiB", 2 << 20), ("0.5GiB", 1 << 29), (" 7 KB ", 7000)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "GB", "5G", "-1", "1e3", "5 TB", "0.1"])
def test_wrong_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size such as 5GB, 500MiB or 1000000"):
        parse_size(text)


@pytest.mark.parametrize("option", [["--resume"], ["--keep", "norms"], ["--no-audit"]])
def test_options_of_checkpoints_only(option: list[str], run: Any, weights: Path, tmp_path: Path) -> None:
    outcome = run("convert", weights, tmp_path / "out.npz", "--to", "bfloat16", *option)
    name = "--audit" if option == ["--no-audit"] else option[0]
    assert outcome.code == 2
    assert f"{name} is for checkpoints: folders and .safetensors files" in outcome.err


def test_dask_is_missing(run: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    outcome = run("convert", folder, tmp_path / "out", "--to", "bfloat16", "--dask", "tcp://127.0.0.1:1")
    assert (outcome.code, outcome.err) == (1, "Error: --dask needs distributed: pip install 'lutcast[dask]'\n")


def test_verify(run: Any, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("convert", folder, out, "--to", "float8_e4m3fn", "--no-audit").code == 0
    outcome = run("verify-weights", folder, out)
    assert (outcome.code, outcome.out, outcome.err) == (0, "13 tensors verified\n", "")
    path = out / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with open_safetensors(path) as opened:
        last = opened.tensors[-1].entry
    outcome = run("verify-weights", folder, out)
    assert outcome.code == 1
    assert outcome.out.startswith(
        f"different: tensor {last.name!r}: element {[n - 1 for n in last.shape]}: expected 0x"
    )


def test_verify_with_options(run: Any, weights: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.safetensors"
    assert run("convert", weights, out, "--to", "bfloat16").code == 0
    assert run("verify-weights", weights, out, "--to", "bfloat16").code == 0
    assert run("verify-weights", weights, out, "--to", "bfloat16", "--exclude", "*").code == 1
    outcome = run("verify-weights", weights, out, "--rounding", "RTZ")
    assert outcome.code == 2
    assert "--rounding needs --to: options are either all recorded or all given" in outcome.err


def test_names_cannot_steer_the_terminal(run: Any, tmp_path: Path) -> None:
    source, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    safetensors.numpy.save_file({"\x1b[31mw": np.float32([1.5])}, source)
    assert run("convert", source, out, "--to", "float16").code == 0
    outcome = run("verify-weights", source, out, "--to", "bfloat16")
    assert outcome.code == 1
    assert "\x1b" not in outcome.out


def test_json_of_a_checkpoint(run: Any, folder: Path, tmp_path: Path) -> None:
    outcome = run("convert", folder, tmp_path / "out", "--to", "bfloat16", "--json")
    document = json.loads(outcome.out)
    assert [file["name"] for file in document["files"]] == ["model.safetensors"]
    assert document["free_bytes"] > 0


def test_report_and_conditions(run: Any, folder: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "out", tmp_path / "report.html"
    arguments = ("convert", folder, out, "--to", "float8_e4m3fn", "--scale", "channel", "--report", page)
    outcome = run(*arguments, "--fail-on", "nan_out>0", "--fail-on", "snr_db<200")
    assert outcome.code == 1
    assert outcome.err.startswith("failed on snr_db<200: ")
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert run(*arguments, "--overwrite", "--fail-on", "nan_out>0").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--report", "report.txt"], "report.txt does not end in .json or .html"),
        (["--report", "nowhere/report.json"], "nowhere/report.json: the directory nowhere does not exist"),
        (["--fail-on", "loss>0"], "'loss>0': loss is not one of elements"),
        (["--scale", "row"], "scale: 'row' is not one of tensor, channel, block:ROWSxCOLUMNS"),
    ],
)
def test_bad_reports(
    run: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("convert", folder, "out", "--to", "float8_e4m3fn", *arguments)
    assert outcome.code != 0
    assert message in outcome.err
    assert not (tmp_path / "out").exists()
