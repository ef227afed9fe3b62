"""`verify_checkpoint`: convert again in memory and compare."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import WeightsError
from .options import Options, make_options, options_of
from .outputs import Output
from .plan import Plan, joined_metadata, make_plan
from .shard_file import Stored
from .shard_job import OWN_KEYS, RECORD_KEY
from .source import Checkpoint, read_checkpoint


@dataclass(frozen=True)
class Difference:
    """The first thing in a destination that is not as it should be.

    Attributes
    ----------
    tensor : str
        Name of the tensor; empty where the difference is none of a tensor.
    what : str
        What differs: "element", "shape", "format", "tensor", or which metadata.
    expected, found : str
        For an element the codes, in hexadecimal.
    index : tuple of int or None
        Of the element.
    """

    tensor: str
    what: str
    expected: str
    found: str
    index: tuple[int, ...] | None = None

    def __str__(self) -> str:
        where = f"tensor {self.tensor!r}: " if self.tensor else ""
        place = f" {list(self.index)}" if self.index is not None else ""
        return f"{where}{self.what}{place}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True)
class Verification:
    """What a comparison came to.

    Attributes
    ----------
    tensors : int
        Tensors that agree.
    difference : Difference or None
        The first difference; None if there is none.
    """

    tensors: int
    difference: Difference | None


def verify_checkpoint(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    to: Any = None,
    *,
    threads: int = 1,
    **options: Any,
) -> Verification:
    """Convert a checkpoint again, in memory, and compare it with what is there.

    Parameters
    ----------
    source, destination : path-like
        As for `convert_checkpoint`.
    to : format, optional
        By default format, policy and patterns are those that the destination records.
    threads : int
        Threads of each cast.
    **options
        With `to` only: ``rounding``, ``overflow``, ``nan``, ``include``, ``exclude`` and ``keep``
        as for `convert_checkpoint`.

    Returns
    -------
    Verification

    Raises
    ------
    WeightsError
        A file is damaged, or the destination does not record its options.
    TypeError
        Options without `to`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from lutcast.weights import convert, convert_checkpoint, verify_checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = pathlib.Path(folder, "model.safetensors")
    ...     np.save(model.with_name("w.npy"), np.float32([1, 2, 3]))
    ...     report = convert(model.with_name("w.npy"), model, "float32")
    ...     report = convert_checkpoint(model, model.with_name("small.safetensors"), "bfloat16")
    ...     good = verify_checkpoint(model, model.with_name("small.safetensors"))
    ...     bad = verify_checkpoint(model, model.with_name("small.safetensors"), "bfloat16", exclude=["w"])
    >>> good
    Verification(tensors=1, difference=None)
    >>> print(bad.difference)
    tensor 'w': format: expected float32, found bfloat16
    """
    if to is None and options:
        raise TypeError(f"to: None given with {', '.join(options)}; options are either all recorded or all given")
    before, after = read_checkpoint(Path(source)), read_checkpoint(Path(destination))
    chosen = make_options(to, **options) if to is not None else _recorded(after)
    plan = make_plan(before, Path(destination), chosen, threads=threads)
    return _compare(plan, after, threads)


def _recorded(checkpoint: Checkpoint) -> Options:
    records = {(shard.metadata or {}).get(RECORD_KEY) for shard in checkpoint.shards}
    record = records.pop()
    if record is None or records:
        raise WeightsError(f"{checkpoint.path}: does not record the options of its conversion; give them")
    try:
        return options_of(json.loads(record))
    except ValueError as error:
        raise WeightsError(f"{checkpoint.path}: metadata {RECORD_KEY}: {error}") from None


def _compare(plan: Plan, found: Checkpoint, threads: int) -> Verification:
    tensors = {name: stored for shard in found.shards for name, stored in shard.tensors.items()}
    expected = {output.entry.name: output for shard in plan.shards for output in shard.outputs}
    good = 0
    for name, output in expected.items():
        difference = _compare_tensor(output, tensors.get(name), threads)
        if difference:
            return Verification(good, difference)
        good += 1
    for name in tensors:
        if name not in expected:
            return Verification(good, Difference(name, "tensor", "none", "one"))
    return Verification(good, _compare_metadata(plan.checkpoint, found))


def _compare_tensor(output: Output, stored: Stored | None, threads: int) -> Difference | None:
    name, entry = output.entry.name, output.entry
    if stored is None:
        return Difference(name, "tensor", "one", "none")
    if stored.format is not output.format:
        return Difference(name, "format", output.format.name, stored.format.name)
    if stored.entry.shape != entry.shape:
        return Difference(name, "shape", str(entry.shape), str(stored.entry.shape))
    if stored.entry.dtype != entry.dtype:
        return Difference(name, "format", str(entry.dtype), str(stored.entry.dtype))
    bits = entry.format.bits if entry.is_packed and entry.format else 8 * entry.dtype.itemsize
    place = 0  # of a piece, in elements
    for piece in output.pieces(threads):
        right = np.ascontiguousarray(piece).reshape(-1).view(np.uint8)
        there = stored.raw(place * bits // 8, right.size)
        differing = np.flatnonzero(right != there)
        if differing.size:
            byte = int(differing[0])
            lowest = int(right[byte]) ^ int(there[byte])
            element = (8 * byte + (lowest & -lowest).bit_length() - 1) // bits
            index = tuple(map(int, np.unravel_index(place + element, entry.shape)))
            return Difference(name, "element", _code(right, element, bits), _code(there, element, bits), index)
        place += 8 * right.size // bits
    return None


def _code(data: NDArray[np.uint8], element: int, bits: int) -> str:
    first = element * bits
    whole = int.from_bytes(data[first // 8 : (first + bits + 7) // 8].tobytes(), "little")
    return f"0x{whole >> first % 8 & (1 << bits) - 1:0{-(-bits // 4)}x}"


def _compare_metadata(source: Checkpoint, found: Checkpoint) -> Difference | None:
    """Compare the metadata that is not our own."""
    for shard in found.shards:
        expected = joined_metadata(s for s in source.shards if s.tensors.keys() & shard.tensors.keys())
        there = {key: text for key, text in (shard.metadata or {}).items() if not key.startswith(OWN_KEYS)}
        for key in sorted(expected.keys() | there.keys()):
            if expected.get(key) != there.get(key):
                return Difference(
                    "", f"metadata {key!r} of {shard.path.name}", str(expected.get(key)), str(there.get(key))
                )
    return None
