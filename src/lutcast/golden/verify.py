"""Verify what a device gave against a golden, and say why it differs."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..arrays import Array
from .comparison import Kind, are_equal, kinds_of, steps_between
from .faults import FAMILIES, Setting
from .values import code_text, value_text
from .vectors import Vectors

#: Upper ends of the classes of the histogram, in steps.
CLASSES = (0, 1, 2, 4, 16, 256, math.inf)
#: How the histogram calls mismatches of which one side is NaN.
NO_DISTANCE = "NaN"
MOST_CAUSES = 8


@dataclass(frozen=True)
class Mismatch:
    """One vector whose result is wrong.

    Attributes
    ----------
    index : int
    input, expected, got : str
        Codes in hexadecimal.
    input_value, expected_value, got_value : str
    steps : float
        Values of the destination between the two results, positive where the device gave more; NaN
        where either is NaN.
    kind : Kind
        What is special about the vector.
    """

    index: int
    input: str
    input_value: str
    expected: str
    expected_value: str
    got: str
    got_value: str
    steps: float
    kind: Kind


@dataclass(frozen=True)
class Cause:
    """A fault that may have made the mismatches.

    Attributes
    ----------
    fault : str
    explained : int
        Mismatches that a device with this fault gives exactly so.
    contradicted : int
        Vectors on which the device was right and one with this fault would not have been.
    """

    fault: str
    explained: int
    contradicted: int


@dataclass(frozen=True)
class Verdict:
    """What a comparison came to.

    Attributes
    ----------
    source, destination : str
    policy : str
    vectors : int
    mismatches : int
    kinds : mapping of Kind to int
        Mismatches by what is special about the vector.
    histogram : mapping of str to int
        Mismatches by distance in steps: "-1", "+1", "+2", "+3..4" and so on, and "NaN".
    first : tuple of Mismatch
    causes : tuple of Cause
        The likeliest first; none where no known fault explains anything.
    unexplained : int
        Mismatches that no cause of the list explains.
    """

    source: str
    destination: str
    policy: str
    vectors: int
    mismatches: int
    kinds: Mapping[Kind, int]
    histogram: Mapping[str, int]
    first: tuple[Mismatch, ...]
    causes: tuple[Cause, ...]
    unexplained: int

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs."""
        return self.mismatches == 0

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict in JSON's types; a distance to NaN is null."""
        document = dataclasses.asdict(self)
        for mismatch in document["first"]:
            mismatch["steps"] = None if math.isnan(mismatch["steps"]) else int(mismatch["steps"])
        return document


def verify(got: Array, golden: Vectors, *, any_nan: bool = False, first: int = 10) -> Verdict:
    """Compare the results of a device with a golden.

    Parameters
    ----------
    got : ndarray
        A result for each vector, in their order: codes in unsigned integers, or an array of the
        destination's own dtype.
    golden : Vectors
    any_nan : bool
        Take all NaNs for equal; by default bits decide.
    first : int
        How many mismatches to decode.

    Returns
    -------
    Verdict

    Raises
    ------
    ValueError
        Another number of results than vectors, or of another width.

    Examples
    --------
    >>> import lutcast
    >>> from lutcast.golden import vectors, verify
    >>> golden = vectors("float32", "bfloat16")
    >>> device = (golden.inputs >> 16).astype("uint16")  # drops the low half
    >>> verify(device, golden, any_nan=True).causes[0].fault
    'rounding toward_zero'
    """
    found = _codes(got, golden)
    wrong = ~are_equal(found, golden.outputs, golden.dst, any_nan=any_nan)
    where = np.flatnonzero(wrong)
    kinds = kinds_of(golden, found, where)
    steps = steps_between(found[where], golden.outputs[where], golden.dst)
    causes, unexplained = _causes(found, golden, wrong, any_nan) if where.size else ((), 0)
    counted = Counter(kinds)
    return Verdict(
        golden.src.name,
        golden.dst.name,
        str(golden.policy),
        len(golden),
        len(where),
        {kind: counted[kind] for kind in Kind if counted[kind]},
        histogram(steps),
        tuple(_mismatch(golden, found, *row) for row in zip(where[:first].tolist(), steps, kinds, strict=False)),
        causes,
        unexplained,
    )


def _codes(got: Array, golden: Vectors) -> Array:
    array = np.ascontiguousarray(got).reshape(-1)
    if array.dtype.itemsize != golden.dst.itemsize:
        raise ValueError(
            f"got: dtype {array.dtype} given; results in {golden.dst.name} or codes in "
            f"uint{8 * golden.dst.itemsize} are needed"
        )
    if len(array) != len(golden):
        raise ValueError(f"got: {len(array)} results given, the golden has {len(golden)} vectors")
    return array.view(f"u{golden.dst.itemsize}")


def histogram(steps: Array) -> dict[str, int]:
    """Count distances in classes that grow, from the most negative on; those that are not there are left out."""
    counts = {}
    magnitudes = np.abs(steps)
    classes = [(low + 1, high) for low, high in pairwise(CLASSES)]
    for low, high in reversed(classes):
        counts[_class_name("-", low, high)] = _count((magnitudes >= low) & (magnitudes <= high) & (steps < 0))
    counts["0"] = _count(steps == 0)  # zeros of either sign
    for low, high in classes:
        counts[_class_name("+", low, high)] = _count((magnitudes >= low) & (magnitudes <= high) & (steps > 0))
    counts[NO_DISTANCE] = _count(np.isnan(steps))
    return {name: count for name, count in counts.items() if count}


def _class_name(sign: str, low: float, high: float) -> str:
    if high == math.inf:
        return f"{sign}{low:.0f} and more"
    return f"{sign}{low:.0f}" if low == high else f"{sign}{low:.0f}..{high:.0f}"


def _count(mask: Array) -> int:
    return int(np.count_nonzero(mask))


def _causes(found: Array, golden: Vectors, wrong: Array, any_nan: bool) -> tuple[tuple[Cause, ...], int]:
    """Rank faults; of the less likely ones keep those that explain something more, or just as well."""
    setting = Setting(golden)
    candidates: list[tuple[Cause, Array]] = []
    for family in FAMILIES:
        for fault, results in family(setting):
            agrees = are_equal(results, found, golden.dst, any_nan=any_nan)
            explained = agrees & wrong
            cause = Cause(fault, _count(explained), _count(~agrees & ~wrong))
            if cause.explained > cause.contradicted:
                candidates.append((cause, explained))
    candidates.sort(key=lambda item: item[0].contradicted - item[0].explained)  # stable: simple faults come first
    chosen: list[tuple[Cause, Array]] = []
    covered = np.zeros_like(wrong)
    for cause, explained in candidates:
        adds = _count(explained & ~covered) > cause.contradicted
        is_equal = any(
            cause.contradicted == other.contradicted and np.array_equal(explained, same) for other, same in chosen
        )
        if len(chosen) < MOST_CAUSES and (adds or is_equal):
            chosen.append((cause, explained))
            covered |= explained
    return tuple(cause for cause, _ in chosen), _count(wrong & ~covered)


def _mismatch(golden: Vectors, found: Array, index: int, steps: float, kind: Kind) -> Mismatch:
    texts: dict[str, str] = {}
    for name, codes, fmt in (
        ("input", golden.inputs, golden.src),
        ("expected", golden.outputs, golden.dst),
        ("got", found, golden.dst),
    ):
        code = int(codes[index]) & fmt.mask
        texts |= {name: code_text(code, fmt), f"{name}_value": value_text(code, fmt)}
    return Mismatch(index, **texts, steps=float(steps), kind=kind)
