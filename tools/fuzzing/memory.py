"""Memory in which a byte touched too many is noticed, a write by its value and a read by a crash."""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
NO_ACCESS = 0  # PROT_NONE


class Place(NamedTuple):
    """Where an array begins in a stretch of memory; all else there has to stay as it is."""

    whole: Bytes
    start: int

    @property
    def address(self) -> int:
        """Return the address where the array begins."""
        return int(self.whole.ctypes.data) + self.start

    def view(self, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int, of: Bytes) -> npt.NDArray[Any]:
        """Return elements without a type, which ``of``, memory of this size, has from here on."""
        return np.ndarray(shape, f"V{itemsize}", of, self.start, strides)


class Room:
    """Some pages, before and behind which lies one that nobody may touch, where the system allows that."""

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        page = mmap.PAGESIZE
        size = -(-size // page) * page
        self._map = mmap.mmap(-1, size + 2 * page)
        everything = np.frombuffer(self._map, np.uint8)
        self.bytes: Bytes = everything[page : page + size]
        self.bytes[:] = rng.integers(0, 256, size, np.uint8)
        if os.name == "posix":
            protect = ctypes.CDLL(None, use_errno=True).mprotect
            for address in (everything.ctypes.data, self.bytes.ctypes.data + size):
                if protect(ctypes.c_void_p(address), ctypes.c_size_t(page), NO_ACCESS):
                    raise OSError(ctypes.get_errno(), "mprotect")

    def place(self, rng: np.random.Generator, size: int) -> Place:
        """Return a place for so many bytes: at either end of the room, amid, or in memory of just that size."""
        if rng.random() < 0.25:
            return Place(rng.integers(0, 256, size, np.uint8), 0)  # a sanitizer knows its borders
        rest = self.bytes.size - size
        near = min(int(rng.integers(0, 17)), rest)
        start = (0, rest, near, rest - near, int(rng.integers(0, rest + 1)))[rng.integers(5)]
        self.bytes[start : start + size] = rng.integers(0, 256, size, np.uint8)
        return Place(self.bytes, start)
