"""What is refused before anything is written."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import lutcast
from lutcast.weights import WeightsError, convert_checkpoint

INDEX = "model.safetensors.index.json"
Change = Callable[[Path], None]


def tree(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def files(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): data for path, data in tree(folder).items()}


def change_index(**changes: str) -> Change:
    """Return a function that moves tensors in the index of a folder."""

    def change(model: Path) -> None:
        index = json.loads((model / INDEX).read_text())
        index["weight_map"] |= changes
        (model / INDEX).write_text(json.dumps(index))

    return change


def write(name: str, content: str) -> Change:
    return lambda model: (model / name).write_text(content) and None


def remove(name: str) -> Change:
    return lambda model: (model / name).unlink()


def duplicate(model: Path) -> None:
    safetensors.numpy.save_file({"layers.1.ids": np.arange(3)}, model / "extra.safetensors")
    change_index(x="extra.safetensors")(model)


SOURCES: dict[str, tuple[Change, str]] = {
    "no index": (remove(INDEX), r"model: 3 files and no index \.safetensors; a checkpoint is one such file"),
    "two indices": (write("b.safetensors.index.json", "{}"), r"several indices: b\.safetensors\.index\.json, model"),
    "no JSON": (write(INDEX, "{"), r"index\.json: not an index"),
    "no map": (write(INDEX, '{"weight_map": [1]}'), "not an index: no object with a weight_map"),
    "odd metadata": (write(INDEX, '{"weight_map": {}, "metadata": 1}'), "not an index"),
    "empty map": (write(INDEX, '{"weight_map": {}}'), "the index names no file"),
    "elsewhere": (change_index(x="../x.safetensors"), r"names '\.\./x\.safetensors', which is no \.safetensors file"),
    "another kind": (change_index(x="x.bin"), r"names 'x\.bin'"),
    "wrong shard": (
        change_index(**{"layers.0.ids": "model-00002-of-00003.safetensors"}),
        r"'layers\.0\.ids': the index says model-00002-of-00003\.safetensors, the files say model-00001",
    ),
    "no such tensor": (
        change_index(x="model-00002-of-00003.safetensors"),
        "'x': the index says model-00002-of-00003.safetensors, the files say nothing",
    ),
    "twice": (duplicate, r"tensor 'layers\.1\.ids' is in extra\.safetensors and in model-00002"),
    "damaged shard": (write("model-00002-of-00003.safetensors", "no"), r"00002-of-00003\.safetensors: the file has 2"),
    "odd name": (write("a\nb.txt", ""), r"the file name 'a\\nb\.txt' holds a line break"),
}


@pytest.mark.parametrize(("change", "message"), SOURCES.values(), ids=SOURCES)
def test_sources(change: Change, message: str, model: Path, tmp_path: Path) -> None:
    change(model)
    before = tree(tmp_path)
    with pytest.raises(WeightsError, match=message):
        convert_checkpoint(model, tmp_path / "out", "bfloat16")
    assert tree(tmp_path) == before


def test_missing_shard(model: Path, tmp_path: Path) -> None:
    (model / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="model-00002-of-00003"):
        convert_checkpoint(model, tmp_path / "out", "bfloat16")


def test_a_pickle_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"a pickle")
    with pytest.raises(
        WeightsError, match=r"model\.bin: a checkpoint is a folder or a file that ends in \.safetensors"
    ):
        convert_checkpoint(tmp_path / "model.bin", tmp_path / "out", "bfloat16")
    (tmp_path / "model").mkdir()
    with pytest.raises(WeightsError, match=r"model: no file \.safetensors"):
        convert_checkpoint(tmp_path / "model", tmp_path / "out", "bfloat16")


SHARD = "model/model-00001-of-00003.safetensors"
PATHS = {
    "itself": ("model", "model", "the destination is the source"),
    "itself by another way": ("model", "model/../model", "the destination is the source"),
    "by a link": ("model", "link", "the destination is the source"),
    "its file": (SHARD, SHARD, "the destination is the source"),
    "hard link": (SHARD, "hard.safetensors", "the destination is the source"),
    "inside": ("model", "model/small", "the destination is inside the source"),
    "around": ("model", ".", "the source .*model is inside the destination"),
    "around a file": (SHARD, "model", "the source .*00003.safetensors is inside the destination"),
    "a file is there": (SHARD, "old.safetensors", r"old\.safetensors: exists already; overwrite it"),
    "a folder is there": ("model", "full", "full: exists already and is not empty; overwrite it"),
    "no folder": ("model", "full/old", "exists and is not a directory"),
    "no parent": ("model", "none/out", "the directory .*none does not exist"),
    "no parent of a file": (SHARD, "none/out.safetensors", "the directory .*none does not exist"),
}


@pytest.mark.parametrize(
    ("source", "destination", "message", "overwrite"),
    [(*case, overwrite) for case in PATHS.values() for overwrite in (False, True) if "exists already" not in case[2]]
    + [(*case, False) for case in PATHS.values() if "exists already" in case[2]],
)
def test_destinations(
    source: str, destination: str, message: str, overwrite: bool, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(model)
    (tmp_path / "hard.safetensors").hardlink_to(tmp_path / SHARD)
    (tmp_path / "old.safetensors").write_bytes(b"old")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "old").write_bytes(b"old")
    before = tree(tmp_path)
    with pytest.raises(WeightsError, match=message):
        convert_checkpoint(tmp_path / source, tmp_path / destination, "bfloat16", overwrite=overwrite)
    assert tree(tmp_path) == before


ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "no bytes": ({"max_shard_size": 0}, "max_shard_size: 0 given; takes a number of bytes above 0"),
    "overflow": ({"overflow": "wrap"}, "overflow: 'wrap' has no meaning for the destination float4_e2m1fn"),
    "rounding": ({"rounding": "up"}, "rounding: 'up' is not one of"),
    "nan": ({"nan": "drop"}, "nan: 'drop' is not one of"),
    "bits": ({}, r"out: tensor 'odd': 3 elements of 4 bits do not fill whole bytes"),
    "hybrid": ({"to": "hifloat8", "rounding": "hybrid"}, "'hybrid' exists from float16 and float32 to hifloat8 only"),
}


@pytest.mark.parametrize(("options", "message"), ARGUMENTS.values(), ids=ARGUMENTS)
@pytest.mark.parametrize("dry_run", [False, True])
def test_arguments(options: dict[str, Any], message: str, dry_run: bool, tmp_path: Path) -> None:
    source = tmp_path / "source.safetensors"
    safetensors.numpy.save_file({"odd": np.zeros(3, np.float32), "wide": np.zeros(2)}, source)
    with pytest.raises((ValueError, lutcast.UnsupportedCast), match=message):
        convert_checkpoint(source, tmp_path / "out", **{"to": "float4_e2m1fn", "dry_run": dry_run, **options})
    assert list(tmp_path.iterdir()) == [source]


def test_shards_of_a_file(model: Path, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"max_shard_size: 10 given; .*one\.safetensors is one file"):
        convert_checkpoint(model, tmp_path / "one.safetensors", "bfloat16", max_shard_size=10)


def test_unknown_format(model: Path, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="to: 'float9' is not a format"):
        convert_checkpoint(model, tmp_path / "out", "float9")


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Return a function that mounts a file system in memory with some options."""
    folder = tmp_path / "mounted"
    folder.mkdir()

    def mount(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("mounting needs rights that these tests do not have")
        return folder

    yield mount
    subprocess.run(["umount", folder], capture_output=True, check=False)


@pytest.mark.parametrize("destination", ["", "out", "out.safetensors"])
def test_read_only_file_system(destination: str, mount: Callable[[str], Path], model: Path, tmp_path: Path) -> None:
    out = mount("ro") / destination
    source = model / "model-00001-of-00003.safetensors"
    with pytest.raises(WeightsError, match=r"the directory .*mounted is not writable"):
        convert_checkpoint(source, out, "bfloat16")


def test_too_small_a_disk(mount: Callable[[str], Path], model: Path) -> None:
    folder = mount("size=512k")
    with pytest.raises(WeightsError, match=r"out: needs \d+ bytes of disk, 524288 are free"):
        convert_checkpoint(model, folder / "out", "bfloat16")
    assert list(folder.iterdir()) == []


def test_a_disk_that_fills_up_in_between(
    mount: Callable[[str], Path], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = mount("size=20k")  # one shard and a journal
    monkeypatch.setattr("lutcast.weights.checkpoint.convert.check_space", lambda plan, free, resume: None)
    before = tree(model)
    with pytest.raises(OSError, match="No space left on device"):
        convert_checkpoint(model, folder / "out", "bfloat16")
    assert tree(model) == before
    left = {path.name for path in (folder / "out").iterdir()}
    assert not any(name.endswith(".tmp") for name in left)
    assert INDEX not in left
    subprocess.run(["mount", "-o", "remount,size=4m", folder], check=True)
    convert_checkpoint(model, folder / "out", "bfloat16", resume=True)
    convert_checkpoint(model, tmp_path / "expected", "bfloat16")
    assert files(folder / "out") == files(tmp_path / "expected")


def test_a_writer_that_fails(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lutcast.weights import safetensors_file

    original, calls = safetensors_file.write_pieces, 0

    def failing(stream: Any, pieces: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 6:  # in the second shard
            raise OSError(28, os.strerror(28))
        original(stream, pieces)

    monkeypatch.setattr(safetensors_file, "write_pieces", failing)
    with pytest.raises(OSError, match=r"No space left on device: .*model-00002-of-00003\.safetensors"):
        convert_checkpoint(model, tmp_path / "out", "bfloat16")
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert left == {".lutcast-journal.jsonl", "model-00001-of-00003.safetensors"}
    monkeypatch.undo()
    convert_checkpoint(model, tmp_path / "out", "bfloat16", resume=True)
    convert_checkpoint(model, tmp_path / "expected", "bfloat16")
    assert files(tmp_path / "out") == files(tmp_path / "expected")
