"""`convert_checkpoint`: what becomes of tensors, metadata, index and the other files."""

from __future__ import annotations

import hashlib
import json
import subprocess
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy

from lutcast.weights import WeightsError, convert_checkpoint, open_safetensors

INDEX = "model.safetensors.index.json"


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def values(folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Return the tensors of all shards as they are stored."""
    result = {}
    for path in sorted(folder.glob("*.safetensors")):
        with open_safetensors(path) as opened:
            result |= {tensor.entry.name: tensor.load().copy() for tensor in opened.tensors}
    return result


def test_tensors(model: Path, tmp_path: Path) -> None:
    report = convert_checkpoint(model, tmp_path / "out", "bfloat16")
    before, after = values(model), values(tmp_path / "out")
    assert list(before) == list(after) == [tensor.name for tensor in report.tensors]
    for name, array in before.items():
        if name.endswith(("q.weight", "norm.weight")):
            assert after[name].dtype == ml_dtypes.bfloat16
            expected = array.astype(np.float32).astype(ml_dtypes.bfloat16)
            assert after[name].tobytes() == expected.tobytes()
        else:
            assert after[name].dtype == array.dtype
            assert after[name].tobytes() == array.tobytes()
        assert after[name].shape == array.shape
    assert sum(tensor.audit is not None for tensor in report.tensors) == 6
    assert report.notes == (
        "3 tensors copied: not real floats (int64)",
        "3 tensors copied: scales and zero points",
    )


def test_files(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (model / "pytorch_model.bin").write_bytes(b"a pickle")
    (model / ".git").mkdir()
    (model / ".git" / "config").write_bytes(b"")
    (model / "SHA256SUMS").write_bytes(b"stale")
    report = convert_checkpoint(model, out, "float8_e4m3fn")
    before, after = contents(model), contents(out)
    assert after.keys() == before.keys() - {"pytorch_model.bin", ".git/config"}
    assert after["config.json"] == before["config.json"]
    assert after["1_Pooling/config.json"] == b"{}"
    assert any("pytorch_model.bin not copied" in note for note in report.notes)
    assert subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=out, check=False).returncode == 0
    assert len(after["SHA256SUMS"].splitlines()) == len(after) - 1
    hashes = {file.name: hashlib.sha256(after[file.name]).hexdigest() for file in report.files}
    assert hashes == {file.name: file.sha256 for file in report.files}
    assert [file.size for file in report.files] == [len(after[file.name]) for file in report.files]


def test_index_and_metadata(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    convert_checkpoint(model, out, "float8_e4m3fn", rounding="RTZ", keep=["norms"])
    index = json.loads((out / INDEX).read_text())
    assert index["weight_map"] == json.loads((model / INDEX).read_text())["weight_map"]
    assert index["metadata"] == {"made_by": "hand", "total_size": sum(a.nbytes for a in values(out).values())}
    for path in out.glob("*.safetensors"):
        with safetensors.safe_open(path, "numpy") as theirs:
            metadata = theirs.metadata()
        assert metadata.keys() == {"format", "shard", "lutcast.conversion"}
        record = json.loads(metadata["lutcast.conversion"])
        assert record["to"] == "float8_e4m3fn"
        assert (record["rounding"], record["overflow"], record["nan"]) == ("toward_zero", "saturate", "keep")
        assert record["keep"] == ["norms"]


@pytest.mark.parametrize("pool", [None, ThreadPoolExecutor, ProcessPoolExecutor])
def test_bytes_do_not_depend_on_who_works(pool: Any, model: Path, tmp_path: Path) -> None:
    expected = tmp_path / "expected"
    convert_checkpoint(model, expected, "float8_e4m3fn")
    calls: list[tuple[str, int, int]] = []
    options: dict[str, Any] = {"threads": 2, "progress": lambda *call: calls.append(call)}
    if pool is None:
        report = convert_checkpoint(model, tmp_path / "out", "F8_E4M3", audit=False, **options)
    else:
        with pool(2) as executor:
            report = convert_checkpoint(model, tmp_path / "out", "F8_E4M3", executor=executor, **options)
    assert contents(tmp_path / "out") == contents(expected)
    assert calls[-1][1:] == (report.bytes_before, report.bytes_before)
    assert [call[1] for call in calls] == sorted(call[1] for call in calls)


def test_a_failing_shard_ends_the_work(model: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as executor:

        def submit(function: Any, job: Any) -> Any:
            def damaged() -> Any:
                if job.path.endswith("2-of-00003.safetensors"):
                    raise OSError("the disk is gone")
                return function(job)

            return ThreadPoolExecutor.submit(executor, damaged)

        executor.submit = submit  # type: ignore[method-assign]
        with pytest.raises(OSError, match="the disk is gone"):
            convert_checkpoint(model, tmp_path / "out", "bfloat16", executor=executor)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert ".lutcast-journal.jsonl" in names
    assert not any(name.endswith(".tmp") for name in names)
    assert INDEX not in names


def test_one_file(model: Path, tmp_path: Path) -> None:
    source = model / "model-00001-of-00003.safetensors"
    file, folder = tmp_path / "out.safetensors", tmp_path / "folder"
    convert_checkpoint(source, file, "bfloat16")
    convert_checkpoint(source, folder, "bfloat16")
    assert contents(folder).keys() == {"SHA256SUMS", source.name}
    assert (folder / source.name).read_bytes() == file.read_bytes()


def test_folder_without_index(tmp_path: Path) -> None:
    source = tmp_path / "model"
    source.mkdir()
    safetensors.numpy.save_file({"w": np.ones(3, np.float32)}, source / "model.safetensors")
    convert_checkpoint(source, tmp_path / "out", "float16")
    assert contents(tmp_path / "out").keys() == {"SHA256SUMS", "model.safetensors"}


@pytest.mark.parametrize(("limit", "count"), [(1, 12), (3500, 3), (7000, 2), (10**9, 1)])
def test_resharding(limit: int, count: int, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = convert_checkpoint(model, out, "bfloat16", max_shard_size=limit)
    assert len(report.files) == count
    after = values(out)
    plain = convert_checkpoint(model, tmp_path / "plain", "bfloat16")
    expected = values(tmp_path / "plain")
    assert {name: array.tobytes() for name, array in after.items()} == {n: a.tobytes() for n, a in expected.items()}
    assert [tensor.name for tensor in report.tensors] == [tensor.name for tensor in plain.tensors]
    assert (out / INDEX).exists() == (count > 1)
    for path in out.glob("*.safetensors"):
        with open_safetensors(path) as opened:
            sizes = [tensor.entry.nbytes for tensor in opened.tensors]
        assert sum(sizes) <= limit or len(sizes) == 1
        if count > 1:
            index = json.loads((out / INDEX).read_text())["weight_map"]
            assert {index[tensor.entry.name] for tensor in opened.tensors} == {path.name}
            assert path.name.endswith(f"-of-{count:05d}.safetensors")
        else:
            assert path.name == "model.safetensors"


def test_shards_become_one_file(model: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.safetensors"
    convert_checkpoint(model, one, "bfloat16")
    convert_checkpoint(model, tmp_path / "out", "bfloat16")
    expected = values(tmp_path / "out")
    with open_safetensors(one) as opened:
        assert {t.entry.name: t.load().tobytes() for t in opened.tensors} == {
            n: a.tobytes() for n, a in expected.items()
        }
        assert opened.metadata["shard"] == "any"


def test_contradicting_metadata(model: Path, tmp_path: Path) -> None:
    path = model / "model-00002-of-00003.safetensors"
    safetensors.numpy.save_file(safetensors.numpy.load_file(path), path, metadata={"shard": "another"})
    with pytest.raises(WeightsError, match="metadata 'shard' differs between files whose tensors go to one"):
        convert_checkpoint(model, tmp_path / "one.safetensors", "bfloat16")


def test_dry_run(model: Path, tmp_path: Path) -> None:
    dry = convert_checkpoint(model, tmp_path / "out", "float8_e4m3fn", dry_run=True)
    assert not (tmp_path / "out").exists()
    wet = convert_checkpoint(model, tmp_path / "out", "float8_e4m3fn")
    assert dry.tensors == wet.tensors
    assert [(file.name, file.size) for file in dry.files] == [(file.name, file.size) for file in wet.files]
    assert dry.dry_run
    assert dry.free_bytes > 0


def test_pieces_join_seamlessly(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for to in ("float4_e2m1fn", "float6_e3m2fn", "bfloat16"):
        monkeypatch.setattr("lutcast.weights.tensors.PIECE_BYTES", 1 << 24)
        convert_checkpoint(model, tmp_path / f"whole-{to}", to, keep=["norms"])
        convert_checkpoint(tmp_path / f"whole-{to}", tmp_path / f"back-{to}", "float32", keep=["norms"])
        monkeypatch.setattr("lutcast.weights.tensors.PIECE_BYTES", 100)
        convert_checkpoint(model, tmp_path / f"pieces-{to}", to, keep=["norms"])
        convert_checkpoint(tmp_path / f"whole-{to}", tmp_path / f"back-pieces-{to}", "float32", keep=["norms"])
        assert contents(tmp_path / f"whole-{to}") == contents(tmp_path / f"pieces-{to}")
        assert contents(tmp_path / f"back-{to}") == contents(tmp_path / f"back-pieces-{to}")
