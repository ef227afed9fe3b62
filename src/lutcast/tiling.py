"""`tile`: an array repeated along its axes, bit for bit."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._kernels import tile_into
from .arrays import Array, share_memory

LARGEST_SIZE = np.iinfo(np.intp).max
MOST_AXES = 64


def tile(x: object, repeats: int | Sequence[int] | Array, *, out: Array | None = None) -> Array:
    """Repeat an array along its axes.

    Parameters
    ----------
    x : array_like
        Any dtype, strings and objects included.
    repeats : int or sequence of int
        How often, by axis. As with `numpy.tile`, the shorter of shape and repeats is filled
        with ones in front.
    out : ndarray, optional
        C-contiguous array of the dtype and shape of the result, which does not overlap x.

    Returns
    -------
    ndarray
        Of shape ``x.shape[i] * repeats[i]``. Bits are copied as they are.

    Raises
    ------
    ValueError
        A negative or non-integer repeat, a result too large for memory or the index type, a
        bad ``out``.

    Examples
    --------
    >>> import lutcast
    >>> lutcast.tile([[1, 2]], (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    array = np.asarray(x)
    counts = _counts(repeats)
    if len(counts) != array.ndim:
        counts = (1,) * (array.ndim - len(counts)) + counts
        array = array.reshape((1,) * (len(counts) - array.ndim) + array.shape)
    shape = tuple(map(operator.mul, array.shape, counts))
    result = _new(shape, array.dtype) if out is None else _check_out(out, shape, array)
    if 0 in shape:
        return result
    if array.dtype.hasobject:
        result[...] = np.tile(array, counts)
    else:
        tile_into(array, counts, result)
    return result


def _counts(repeats: int | Sequence[int] | Array) -> tuple[int, ...]:
    if not (isinstance(repeats, tuple) and {*map(type, repeats)} <= {int}):
        repeats = _counts_of_array(repeats)
    counts: tuple[int, ...] = repeats
    if counts and min(counts) < 0:
        raise ValueError(f"repeats: {counts} has a negative count")
    if len(counts) > MOST_AXES:
        raise ValueError(f"repeats: {len(counts)} counts given, an array has at most {MOST_AXES} axes")
    return counts


def _counts_of_array(repeats: object) -> tuple[int, ...]:
    try:
        values = np.asarray(repeats)
    except ValueError:
        raise ValueError(f"repeats: {repeats!r} given, an integer or a sequence of integers is needed") from None
    if values.size == 0 and values.ndim == 1:
        return ()
    if values.dtype.kind not in "iuO" or values.ndim > 1:
        raise ValueError(f"repeats: {values.dtype} of {values.ndim} dimensions given, integers in 1-D are needed")
    try:
        return tuple(operator.index(n) for n in values.ravel().tolist())
    except TypeError:
        raise ValueError(f"repeats: {repeats!r} given, integers are needed") from None


def _new(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    size = math.prod(shape) * max(dtype.itemsize, 1)
    if size > LARGEST_SIZE or any(n > LARGEST_SIZE for n in shape):
        raise ValueError(f"repeats: a result of shape {shape} does not fit the index type")
    try:
        return np.empty(shape, dtype)
    except MemoryError:
        raise ValueError(f"repeats: a result of shape {shape} takes {size} bytes and does not fit in memory") from None


def _check_out(out: object, shape: tuple[int, ...], array: Array) -> Array:
    if not isinstance(out, np.ndarray) or out.dtype != array.dtype or out.shape != shape:
        raise ValueError(f"out: an array of {array.dtype} and shape {shape} is needed")
    flags = out.flags
    if not (flags.writeable and flags.c_contiguous):
        raise ValueError("out: a C-contiguous, writable array is needed")
    if share_memory(array, out):
        raise ValueError("out: overlaps x")
    return out
