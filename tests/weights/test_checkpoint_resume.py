"""Conversions that were stopped, and destinations that are overwritten."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import lutcast
from lutcast.weights import WeightsError, convert_checkpoint
from lutcast.weights.checkpoint import shard_job
from lutcast.weights.checkpoint.journal import open_journal

JOURNAL = ".lutcast-journal.jsonl"
FIRST, SECOND = "model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Stopped(Exception):
    """What stops a conversion in these tests."""


@pytest.fixture
def stopped(model: Path, tmp_path: Path) -> Path:
    """Return a destination of which two shards of three are finished."""
    stop(model, tmp_path / "out", "float8_e4m3fn")
    return tmp_path / "out"


def stop(model: Path, out: Path, to: str, **options: Any) -> None:
    def progress(name: str, done: int, total: int) -> None:
        if name.startswith("layers.2"):
            raise Stopped

    with pytest.raises(Stopped):
        convert_checkpoint(model, out, to, progress=progress, **options)


@pytest.fixture
def expected(model: Path, tmp_path: Path) -> dict[str, bytes]:
    convert_checkpoint(model, tmp_path / "expected", "float8_e4m3fn")
    return contents(tmp_path / "expected")


def count_runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that will name the shards that are made."""
    made: list[str] = []
    original = shard_job.run_shard

    def run_shard(job: shard_job.ShardJob, step: Any = None) -> Any:
        made.append(Path(job.path).name)
        return original(job, step)

    monkeypatch.setattr("lutcast.weights.checkpoint.work.run_shard", run_shard)
    return made


def test_finished_shards_are_kept(
    stopped: Path, model: Path, tmp_path: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert contents(stopped).keys() == {JOURNAL, FIRST, SECOND}
    made = count_runs(monkeypatch)
    report = convert_checkpoint(model, stopped, "float8_e4m3fn", resume=True)
    assert made == ["model-00003-of-00003.safetensors"]
    assert contents(stopped) == expected
    whole = convert_checkpoint(model, tmp_path / "whole", "float8_e4m3fn")
    assert report.tensors == whole.tensors  # audits included


def test_damaged_shards_are_made_again(
    stopped: Path, model: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    (stopped / FIRST).unlink()
    data = bytearray((stopped / SECOND).read_bytes())
    data[-1] ^= 1
    (stopped / SECOND).write_bytes(data)
    made = count_runs(monkeypatch)
    report = convert_checkpoint(model, stopped, "float8_e4m3fn", resume=True)
    assert made == [FIRST, SECOND, "model-00003-of-00003.safetensors"]
    assert [note for note in report.notes if "damaged" in note] == [
        f"{name}: missing or damaged since it was written; made again" for name in (FIRST, SECOND)
    ]
    assert contents(stopped) == expected


@pytest.mark.parametrize("cut", [1, 10, 500])
def test_cut_journal(cut: int, stopped: Path, model: Path, expected: dict[str, bytes]) -> None:
    journal = stopped / JOURNAL
    journal.write_bytes(journal.read_bytes()[:-cut])
    convert_checkpoint(model, stopped, "float8_e4m3fn", resume=True)
    assert contents(stopped) == expected


def test_empty_journal(tmp_path: Path, model: Path, expected: dict[str, bytes]) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / JOURNAL).touch()
    convert_checkpoint(model, tmp_path / "out", "float8_e4m3fn", resume=True)
    assert contents(tmp_path / "out") == expected


def test_not_a_journal(stopped: Path, model: Path) -> None:
    (stopped / JOURNAL).write_text("text\nmore\n")
    with pytest.raises(WeightsError, match=r"journal\.jsonl: not a journal"):
        convert_checkpoint(model, stopped, "float8_e4m3fn", resume=True)


def test_unfinished_is_refused_without_resume(stopped: Path, model: Path) -> None:
    before = contents(stopped)
    with pytest.raises(WeightsError, match="holds an unfinished conversion; resume it, or overwrite it"):
        convert_checkpoint(model, stopped, "float8_e4m3fn")
    assert contents(stopped) == before


CHANGED: dict[str, tuple[dict[str, Any], str]] = {
    "format": ({"to": "bfloat16"}, "to was 'float8_e4m3fn' and is 'bfloat16' now"),
    "policy": ({"rounding": "to_odd"}, "rounding was 'ties_to_even' and is 'to_odd' now"),
    "patterns": ({"keep": ["norms"]}, r"keep was \[\] and is \['norms'\] now"),
    "shards": ({"max_shard_size": 100}, "the division into shards has changed"),
}


@pytest.mark.parametrize(("options", "message"), CHANGED.values(), ids=CHANGED)
def test_other_options(options: dict[str, Any], message: str, stopped: Path, model: Path, tmp_path: Path) -> None:
    before = contents(stopped)
    options = {"to": "float8_e4m3fn", **options}
    with pytest.raises(WeightsError, match=f"out: cannot resume: {message}"):
        convert_checkpoint(model, stopped, resume=True, **options)
    assert contents(stopped) == before
    convert_checkpoint(model, stopped, resume=True, overwrite=True, **options)
    convert_checkpoint(model, tmp_path / "fresh", **options)
    assert contents(stopped) == contents(tmp_path / "fresh")


def test_another_source(stopped: Path, model: Path) -> None:
    tensors = safetensors.numpy.load_file(model / FIRST)
    tensors["layers.0.q.weight"] += 1  # same header, same size
    safetensors.numpy.save_file(tensors, model / FIRST, metadata={"format": "pt", "shard": "any"})
    with pytest.raises(WeightsError, match="cannot resume: the source has changed"):
        convert_checkpoint(model, stopped, "float8_e4m3fn", resume=True)


def test_another_version(stopped: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lutcast, "__version__", "99")
    with pytest.raises(WeightsError, match=r"cannot resume: it was begun by lutcast \d.*, this is 99"):
        convert_checkpoint(model, stopped, "float8_e4m3fn", resume=True)


def test_a_finished_conversion_is_left_alone(
    model: Path, tmp_path: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = count_runs(monkeypatch)
    report = convert_checkpoint(model, tmp_path / "expected", "float8_e4m3fn", resume=True)
    assert made == []
    assert report.notes[-1] == "nothing to do: the conversion was complete"
    assert contents(tmp_path / "expected") == expected


def test_what_is_no_conversion_of_ours_is_not_resumed(model: Path, tmp_path: Path, expected: dict[str, bytes]) -> None:
    out = tmp_path / "expected"
    with pytest.raises(WeightsError, match="exists already and is not the result of this conversion"):
        convert_checkpoint(model, out, "bfloat16", resume=True)
    data = bytearray(expected[FIRST])
    data[-1] ^= 1
    (out / FIRST).write_bytes(data)
    with pytest.raises(WeightsError, match="exists already and is not the result of this conversion"):
        convert_checkpoint(model, out, "float8_e4m3fn", resume=True)
    (out / FIRST).write_bytes(expected[FIRST])
    assert contents(out) == expected


def test_resume_of_one_file(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.safetensors"
    made = count_runs(monkeypatch)
    for _ in range(2):
        convert_checkpoint(model / FIRST, out, "bfloat16", resume=True)
    assert made == [out.name]
    with pytest.raises(WeightsError, match="exists already and is not the result of this conversion"):
        convert_checkpoint(model / FIRST, out, "float16", resume=True)


def test_overwriting_removes_the_old_weights_and_nothing_else(
    model: Path, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    out = tmp_path / "out"
    convert_checkpoint(model, out, "bfloat16", max_shard_size=3300)
    assert len(list(out.glob("*.safetensors"))) > 3
    (out / "notes.txt").write_text("mine")
    safetensors.numpy.save_file({"w": np.ones(1)}, out / "adapter.safetensors")
    adapter = (out / "adapter.safetensors").read_bytes()
    # Stopped, begun anew with other options: the weights of the first are still known.
    stop(model, out, "float16", overwrite=True)
    assert not (out / "model.safetensors.index.json").exists()
    assert not (out / "SHA256SUMS").exists()
    convert_checkpoint(model, out, "float8_e4m3fn", overwrite=True)
    assert contents(out) == {**expected, "notes.txt": b"mine", "adapter.safetensors": adapter}


def test_an_index_cannot_name_files_elsewhere_to_remove(model: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim.safetensors"
    victim.write_bytes(b"mine")
    out = tmp_path / "out"
    out.mkdir()
    index = {"weight_map": {"a": "../victim.safetensors", "b": str(victim)}}
    (out / "model.safetensors.index.json").write_text(json.dumps(index))
    convert_checkpoint(model, out, "bfloat16", overwrite=True)
    assert victim.read_bytes() == b"mine"


def test_one_process_at_a_time(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    program = (
        "import sys; from lutcast.weights import convert_checkpoint\n"
        "convert_checkpoint(*sys.argv[1:], 'bfloat16', resume=True)\n"
    )
    with open_journal(out):
        command = [sys.executable, "-c", program, model, out]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "out: another conversion is writing here" in result.stderr
