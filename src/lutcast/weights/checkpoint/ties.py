"""Tied tensors: one tensor that a checkpoint holds twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from .shard_file import Stored

#: Reason to copy a tensor whose twin is copied.
TIED = "tied to a tensor that is copied"
_SAMPLE = 4096


def keep_ties(tensors: Mapping[str, Stored], reasons: Mapping[str, str | None]) -> dict[str, str | None]:
    """Copy, too, what would be converted although a tensor of the same elements is copied.

    Parameters
    ----------
    tensors : mapping
        All tensors by name.
    reasons : mapping
        Why each is copied, None where it is converted.

    Returns
    -------
    dict
        The reasons, with those of ties.

    Notes
    -----
    Most ties are not in the file at all: one of the names is left out, and the configuration of the model
    says so. Where both are there they get the same bytes, as long as both are selected or neither
    is. Only matrices count, and not those of one value: biases of zeros are no ties.
    """
    alike: dict[object, list[str]] = defaultdict(list)
    for name, stored in tensors.items():
        if stored.format.kind == "float" and sum(size > 1 for size in stored.entry.shape) > 1:
            alike[stored.format, stored.entry.shape].append(name)
    result = dict(reasons)
    for names in alike.values():
        kept = [name for name in names if reasons[name] is not None]
        samples = _by_sample(tensors, kept) if len(kept) < len(names) else {}
        for name in names:
            if reasons[name] is not None or not samples:
                continue
            twins = samples.get(_sample(tensors[name]), ())
            if any(_are_equal(tensors[name], tensors[twin]) for twin in twins):
                result[name] = TIED
    return result


def _by_sample(tensors: Mapping[str, Stored], names: Iterable[str]) -> dict[bytes, list[str]]:
    samples: dict[bytes, list[str]] = defaultdict(list)
    for name in names:
        samples[_sample(tensors[name])].append(name)
    return samples


def _sample(stored: Stored) -> bytes:
    return next(stored.pieces()).view(np.uint8)[:_SAMPLE].tobytes()


def _are_equal(one: Stored, other: Stored) -> bool:
    first = next(one.pieces()).view(np.uint8)[: one.entry.dtype.itemsize]
    is_constant = True
    for a, b in zip(one.pieces(), other.pieces(), strict=True):
        a, b = a.view(np.uint8), b.view(np.uint8)
        if not np.array_equal(a, b):
            return False
        is_constant = is_constant and bool((a.reshape(-1, first.size) == first).all())
    return not is_constant
