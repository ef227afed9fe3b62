"""Python scalars and sequences to arrays, by TensorFlow's rules.

The first element decides: after a bool only bools may come, after an int ints and floats, after
a float ints too, after a complex number all numbers. Floats become float32, ints int32 or int64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array

Scalars = tuple[type, ...]
SEQUENCES = (list, tuple, range)
PYTHON_VALUES = (bool, int, float, complex, str, bytes, *SEQUENCES)


class Rule(NamedTuple):
    """Which types may follow a first element, and the dtypes they become; the first that holds them."""

    followers: Scalars
    dtypes: tuple[str, ...]


RULES: dict[type, Rule] = {
    bool: Rule((bool,), ("bool",)),
    int: Rule((bool, int), ("int32", "int64")),
    float: Rule((bool, int, float), ("float32",)),
    complex: Rule((bool, int, float, complex), ("complex128",)),
}


def is_python_value(x: object) -> bool:
    """Whether x is a Python scalar or sequence rather than an array of some library."""
    return isinstance(x, PYTHON_VALUES) and not isinstance(x, np.generic)


def array_of(x: Any) -> Array:
    """Return a Python scalar or nested sequence as TensorFlow converts it.

    Raises
    ------
    TypeError
        Strings.
    ValueError
        A value does not fit, types do not mix, the sequence is ragged, or holds something else.
    """
    shape = _shape(x)
    leaves = list(_leaves(x, shape))
    if not leaves:
        return np.empty(shape, np.float32)
    if isinstance(leaves[0], np.inexact):  # a float of NumPy in front: its own dtype
        dtype = leaves[0].dtype
        rule = RULES[complex if dtype.kind == "c" else float]._replace(dtypes=(dtype.name,))
        leaves = _python(leaves)
    else:
        leaves = _python(leaves)
        rule = _rule(leaves)
    for leaf in leaves:
        if type(leaf) not in rule.followers:
            raise ValueError(
                f"x: Python values of mixed types cannot be converted: {type(leaves[0]).__name__} "
                f"first, then {type(leaf).__name__}"
            )
    return _fitting(leaves, rule.dtypes).reshape(shape)


def _rule(leaves: list[Any]) -> Rule:
    for leaf in leaves:
        if isinstance(leaf, str | bytes):
            raise TypeError(f"x: strings cannot be cast; {leaf!r} given")
        if type(leaf) not in RULES:
            raise ValueError(f"x: a value of type {type(leaf).__name__} cannot be converted to a tensor")
    first = type(leaves[0])
    return RULES[float if first is int and any(type(leaf) is float for leaf in leaves) else first]


def _python(leaves: list[Any]) -> list[Any]:
    return [leaf.item() if isinstance(leaf, np.generic) else leaf for leaf in leaves]


def _fitting(leaves: list[Any], dtypes: tuple[str, ...]) -> Array:
    for dtype in dtypes:
        try:
            with np.errstate(over="ignore"):
                array = np.array(leaves, dtype)
        except OverflowError:
            continue
        if array.dtype.kind == "f":
            _check_range(leaves, array)
        return array
    raise ValueError(f"x: an integer does not fit {' or '.join(dtypes)}")


def _check_range(leaves: list[Any], array: Array) -> None:
    for index in np.flatnonzero(np.isinf(array)).tolist():
        if abs(leaves[index]) != float("inf"):
            raise ValueError(f"x: {leaves[index]!r} is out of range for {array.dtype}")
    for leaf in leaves:
        if type(leaf) is int and not -(2**63) <= leaf < 2**63:
            raise ValueError("x: an integer does not fit int64")


def _is_sequence(x: Any) -> bool:
    return isinstance(x, SEQUENCES) or (isinstance(x, np.ndarray) and x.ndim > 0)


def _shape(x: Any) -> tuple[int, ...]:
    """Return the shape of a sequence by its first elements."""
    if not _is_sequence(x):
        return ()
    return (len(x), *_shape(x[0])) if len(x) else (0,)


def _leaves(x: Any, shape: tuple[int, ...]) -> Iterator[Any]:
    """Yield the elements; ValueError where a part has another shape."""
    if _is_sequence(x) != bool(shape) or (shape and len(x) != shape[0]):
        raise ValueError("x: a ragged sequence cannot be converted; all its parts need the same length")
    if not shape:
        yield x[()] if isinstance(x, np.ndarray) else x
        return
    for part in x:
        yield from _leaves(part, shape[1:])
