"""Files appear whole or not at all."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from lutcast.weights import WeightsError
from lutcast.weights.atomic import remove_orphans, replacing


def test_new_file_takes_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "file"
    old = os.umask(0o027)
    try:
        with replacing(path) as stream:
            stream.write(b"new")
            assert not path.exists()
    finally:
        os.umask(old)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_symbolic_link_is_replaced_and_its_target_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with replacing(link) as stream:
        stream.write(b"new")
    assert target.read_bytes() == b"old"
    assert link.read_bytes() == b"new"
    assert not link.is_symlink()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, OSError])
def test_error_leaves_the_old_file(error: type[BaseException], tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail() -> None:
        with replacing(path) as stream:
            stream.write(b"new")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_not_a_file(tmp_path: Path) -> None:
    for path, message in ((tmp_path, "not a regular file"), (tmp_path / "none" / "x", "directory .* does not exist")):
        with pytest.raises(WeightsError, match=message), replacing(path):
            pass


def test_full_disk_names_the_file_and_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    program = (
        "import resource, sys; from lutcast.weights.atomic import replacing\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (1000, {resource.getrlimit(resource.RLIMIT_FSIZE)[1]}))\n"
        "with replacing(sys.argv[1]) as stream: stream.write(bytes(100_000))\n"
    )
    result = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert f"File too large: '{path}'" in result.stderr
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_orphans_of_the_killed_go_and_files_in_work_stay(tmp_path: Path) -> None:
    program = (
        "import os, sys; from lutcast.weights.atomic import replacing\n"
        "with replacing(sys.argv[1]): os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "killed")], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    with replacing(tmp_path / "file") as stream:
        remove_orphans(tmp_path)
        stream.write(b"new")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
