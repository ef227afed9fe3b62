"""The arrays that are cast: two kinds of data, every one aligned to a cache line."""

from __future__ import annotations

import zlib
from functools import cache, lru_cache
from typing import Any

import numpy as np

import lutcast

Array = np.ndarray[Any, Any]

SIGMA = 0.05  # of weights
MODEST = 300  # integers up to here lie partly beyond 8-bit destinations
LINE = 64


def aligned(shape: int | tuple[int, ...], dtype: np.dtype | type) -> Array:
    """Return an array of any content, which begins with a cache line and whose pages are there."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    room = np.zeros(size + LINE, np.uint8)
    room[:] = 1
    start = -room.ctypes.data % LINE
    return room[start : start + size].view(dtype).reshape(shape)


@cache
def dtype_of(name: str) -> np.dtype:
    """Return the dtype of arrays of a format; uint8 where they hold codes."""
    return lutcast.cast(np.zeros(0, np.float32), name).dtype


@lru_cache(maxsize=1)
def make(name: str, elements: int, data: str) -> Array:
    """Return ``weights`` or random ``codes`` of a format."""
    fmt = lutcast.get_format(name)
    random = np.random.default_rng(zlib.crc32(f"{name} {elements} {data}".encode()))
    array = aligned(elements, dtype_of(name))
    if data == "codes":
        codes = array.view(f"u{fmt.itemsize}")
        codes[:] = np.frombuffer(random.bytes(array.nbytes), codes.dtype) & codes.dtype.type(fmt.mask)
    elif fmt.kind == "int":
        array[:] = random.integers(max(fmt.min_integer, -MODEST), min(fmt.max_integer, MODEST), elements, endpoint=True)
    else:
        lutcast.cast(random.normal(0.0, SIGMA, elements), name, out=array)
    return array
