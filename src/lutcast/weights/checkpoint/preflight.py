"""What is checked of a destination before anything is written."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..atomic import check_destination
from ..errors import WeightsError
from .journal import has_journal
from .plan import Plan

# Index, sums, journal, and what a file system needs for itself.
_MARGIN_BYTES = 1 << 20
_MARGIN_PERCENT = 1


def check_paths(plan: Plan, *, overwrite: bool, resume: bool) -> None:
    """Refuse a destination that would harm the source or something else, or cannot be written.

    Raises
    ------
    WeightsError
    """
    source, destination = plan.checkpoint.path, plan.destination
    one, other = source.resolve(), destination.resolve()
    if one == other or (destination.exists() and os.path.samefile(source, destination)):
        raise WeightsError(f"{destination}: the destination is the source")
    if plan.checkpoint.is_folder and one in other.parents:
        raise WeightsError(f"{destination}: the destination is inside the source {source}")
    if plan.is_folder and other in one.parents:
        raise WeightsError(f"{destination}: the source {source} is inside the destination")
    if plan.is_folder:
        _check_folder(destination, overwrite=overwrite, resume=resume)
    else:
        check_destination(destination)
        if destination.exists() and not (overwrite or resume):
            raise WeightsError(f"{destination}: exists already; overwrite it, or choose another name")
    target = destination if destination.is_dir() else destination.parent
    if not os.access(target, os.W_OK | os.X_OK):
        raise WeightsError(f"{destination}: the directory {target} is not writable")


def _check_folder(folder: Path, *, overwrite: bool, resume: bool) -> None:
    if not folder.is_dir():
        if folder.exists():
            raise WeightsError(f"{folder}: exists and is not a directory")
        if not folder.parent.is_dir():
            raise WeightsError(f"{folder}: the directory {folder.parent} does not exist")
        return
    if overwrite or resume or not any(folder.iterdir()):
        return
    if has_journal(folder):
        raise WeightsError(f"{folder}: holds an unfinished conversion; resume it, or overwrite it")
    raise WeightsError(f"{folder}: exists already and is not empty; overwrite it, or choose another name")


def free_bytes(plan: Plan) -> int:
    """Return the free space where the destination is or will be."""
    folder = plan.destination if plan.destination.is_dir() else plan.destination.parent
    return shutil.disk_usage(folder).free


def check_space(plan: Plan, free: int, *, resume: bool) -> None:
    """Refuse what would fill the disk; what an earlier run has finished needs no more space.

    Raises
    ------
    WeightsError
    """
    needed = sum(plan.file_sizes.values())
    if plan.is_folder:
        needed += sum((plan.checkpoint.path / path).stat().st_size for path in plan.checkpoint.others)
        if resume:
            done = ((plan.destination / name, size) for name, size in plan.file_sizes.items())
            needed -= sum(size for path, size in done if path.is_file() and path.stat().st_size == size)
    needed += _MARGIN_BYTES + needed * _MARGIN_PERCENT // 100
    if needed > free:
        raise WeightsError(f"{plan.destination}: needs {needed} bytes of disk, {free} are free")
