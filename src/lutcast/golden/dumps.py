"""Goldens and dumps from files, made to fit each other vector by vector."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from ..arrays import Array
from ..names import get_format
from .check import read_manifest
from .files import GoldenFileError, Options, read_vectors
from .suites import MANIFEST, goldens_of
from .vectors import LEVELS, Vectors, count, vectors

Pathlike = str | os.PathLike[str]


class Meaning(TypedDict, total=False):
    """What the vectors of a file are: arguments of `vectors`."""

    src: str
    dst: str
    rounding: str | None
    overflow: str | None
    nan: str


def read_golden(
    path: Pathlike, meaning: Meaning, *, format: str | None = None, options: Options | None = None
) -> Vectors:
    """Read a golden from a file.

    Parameters
    ----------
    path : path-like
        A file with inputs, or one with results alone in the order of `vectors`.
    meaning : Meaning
        What the file itself does not say. A ``.json`` golden says everything, and so does the
        manifest of a suite of its files.
    format, options
        As for `files.read_codes`; of a file of a suite the manifest says them.

    Returns
    -------
    Vectors
        With the results of the file.

    Raises
    ------
    GoldenFileError
        The file is damaged, or has another number of results than there are vectors.
    ValueError
        Nobody says what the formats are, or two contradict each other.
    """
    path = Path(path)
    said, kind, layout = _own_words(path)
    contradicted = [key for key, value in meaning.items() if key in said and value not in (None, said[key])]
    if contradicted:
        key = contradicted[0]
        raise ValueError(f"{key}: {meaning[key]} given; {path} says {said[key]}")  # type: ignore[literal-required]
    known: Any = {**meaning, **said}
    if not {"src", "dst"} <= known.keys():
        raise ValueError(f"{path} does not say its formats: src and dst are needed")
    inputs, outputs = read_vectors(path, known["src"], known["dst"], format=format or kind, options=layout or options)
    if inputs is not None:
        made = vectors(**known, inputs=inputs)
    else:
        made = vectors(**known, level=_level_of(path, len(outputs), known))
    return dataclasses.replace(made, outputs=outputs)


def read_dump(
    path: Pathlike, golden: Vectors, *, format: str | None = None, options: Options | None = None
) -> tuple[Array, Vectors]:
    """Read what a device gave.

    Parameters
    ----------
    path : path-like
    golden : Vectors
    format, options
        As for `files.read_codes`.

    Returns
    -------
    got : ndarray
    golden : Vectors
        In the order of the dump, where that has inputs of its own.

    Raises
    ------
    GoldenFileError
        The file is damaged, has another number of results than there are vectors, or an input
        that the golden does not have.
    """
    inputs, got = read_vectors(path, golden.src.name, golden.dst.name, format=format, options=options)
    if inputs is not None:
        return got, _reordered(Path(path), golden, inputs)
    if len(got) != len(golden):
        raise GoldenFileError(f"{path}: {len(got)} results, the golden has {len(golden)} vectors")
    return got, golden


def _own_words(path: Path) -> tuple[dict[str, str], str | None, Options | None]:
    """Return what a file, or the manifest it is listed in, says of its vectors."""
    for folder in path.resolve().parents:
        if (folder / MANIFEST).is_file():
            for golden in goldens_of(read_manifest(folder)):
                if folder / golden.path == path.resolve():
                    said = {"rounding": golden.rounding, "overflow": golden.overflow, "nan": golden.nan}
                    return {"src": golden.src.name, "dst": golden.dst.name, **said}, golden.format, golden.options
    if path.suffix.lower() != ".json":
        return {}, None, None
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise GoldenFileError(f"{path}: no valid JSON: {error}") from None
    keys = {"source": "src", "destination": "dst", "rounding": "rounding", "overflow": "overflow", "nan": "nan"}
    if not isinstance(document, dict):
        return {}, None, None
    said = {argument: document[key] for key, argument in keys.items() if isinstance(document.get(key), str)}
    for argument in {"src", "dst"} & said.keys():
        try:
            said[argument] = get_format(said[argument], argument).name
        except TypeError as error:
            raise GoldenFileError(f"{path}: {error}") from None
    return said, None, None


def _level_of(path: Path, results: int, known: Any) -> int:
    counts = {level: count(known["src"], known["dst"], level) for level in LEVELS}
    for level, size in counts.items():
        if size == results:
            return level
    sizes = " or ".join(str(size) for size in dict.fromkeys(counts.values()))
    raise GoldenFileError(f"{path}: {results} results; from {known['src']} to {known['dst']} there are {sizes} vectors")


def _reordered(path: Path, golden: Vectors, inputs: Array) -> Vectors:
    """Return the vectors of a golden in the order of other inputs."""
    if np.array_equal(inputs, golden.inputs):
        return golden
    order = np.argsort(golden.inputs, kind="stable")
    places = np.searchsorted(golden.inputs, inputs, sorter=order)
    found = order[np.minimum(places, len(order) - 1)] if len(order) else np.zeros(0, int)
    strangers = np.flatnonzero(golden.inputs[found] != inputs) if len(order) else np.arange(len(inputs))
    if strangers.size:
        index = int(strangers[0])
        raise GoldenFileError(f"{path}: vector {index}: the golden has no input {int(inputs[index]):#x}")
    return dataclasses.replace(golden, level=0, inputs=inputs, outputs=golden.outputs[found], flags=golden.flags[found])
