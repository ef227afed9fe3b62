"""The arrays that are cast: two kinds of data, every one at the same place of a page.

A load waits for a store before it to an address with the same last 12 bits. With sources at the
beginning of a page and destinations in its middle, none does, for any contender.
"""

from __future__ import annotations

import zlib
from functools import cache, lru_cache
from typing import Any

import numpy as np

import lutcast

Array = np.ndarray[Any, Any]

SIGMA = 0.05  # of weights
MODEST = 300  # integers up to here lie partly beyond 8-bit destinations
PAGE = 4096


def source(shape: int | tuple[int, ...], dtype: np.dtype | type) -> Array:
    """Return an array to read, of any content, whose memory is there."""
    return _array(shape, dtype, 0)


def destination(shape: int | tuple[int, ...], dtype: np.dtype | type) -> Array:
    """Return an array to write, of any content, whose memory is there."""
    return _array(shape, dtype, PAGE // 2)


def _array(shape: int | tuple[int, ...], dtype: np.dtype | type, place: int) -> Array:
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    room = np.zeros(size + PAGE, np.uint8)
    room[:] = 1
    start = (place - room.ctypes.data) % PAGE
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
    array = source(elements, dtype_of(name))
    if data == "codes":
        codes = array.view(f"u{fmt.itemsize}")
        codes[:] = np.frombuffer(random.bytes(array.nbytes), codes.dtype) & codes.dtype.type(fmt.mask)
    elif fmt.kind == "int":
        array[:] = random.integers(max(fmt.min_integer, -MODEST), min(fmt.max_integer, MODEST), elements, endpoint=True)
    else:
        lutcast.cast(random.normal(0.0, SIGMA, elements), name, out=array)
    return array
