"""LocalTensor: bytes seen as elements of a type, 4-bit ones two to a byte."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..names import array_dtype
from .types import TYPES, bytes_of, is_packed, parse_type

BLOCK_BYTES = 32

Codes = NDArray[Any]


class LocalTensor:
    """A typed view of a buffer, as kernels have of their local memory.

    Parameters
    ----------
    buffer : bytearray, memoryview, ndarray or other writable buffer
        Shared, not copied; contiguous.
    type : str or format
        AscendC's name of a type, or any name of its format.
    offset : int
        Where the tensor begins in the buffer, in bytes: a multiple of 32.

    Attributes
    ----------
    buffer : ndarray of uint8
        The bytes from the beginning of the tensor to the end of the buffer.
    type : str
    size : int
        Number of elements; all that fit, until `set_size` says less.

    Raises
    ------
    ValueError
        The buffer is read-only or not contiguous; a bad offset.
    TypeError
        No buffer, or no such type.

    Examples
    --------
    >>> import lutcast.ascend, numpy as np
    >>> half = lutcast.ascend.LocalTensor(np.array([1.5, -2.5], np.float16), "half")
    >>> int4 = lutcast.ascend.LocalTensor(bytearray(32), "int4b_t").set_size(2)
    >>> lutcast.ascend.Cast(int4, half, "CAST_RINT", 2)
    >>> print(int4.numpy())
    [2 -2]
    """

    def __init__(self, buffer: Any, type: object, offset: int = 0) -> None:
        data = _bytes_of(buffer)
        start = _index(offset, "offset")
        if start % BLOCK_BYTES or not 0 <= start <= data.size:
            raise ValueError(
                f"offset: {start} given; a multiple of {BLOCK_BYTES} is needed, at most the {data.size} bytes there are"
            )
        self.buffer = data[start:]
        self.type = parse_type(type, "type")
        self.size = self.capacity

    def __repr__(self) -> str:
        return f"<LocalTensor of {self.size} {self.type}>"

    @property
    def capacity(self) -> int:
        """Elements that fit the buffer."""
        return self.buffer.size * 8 // TYPES[self.type].bits

    def set_size(self, size: int) -> LocalTensor:
        """Say how many elements the tensor has; return the tensor.

        Raises
        ------
        ValueError
            They do not fit the buffer, or are half a byte.
        """
        count = _index(size, "size")
        if not 0 <= count <= self.capacity:
            raise ValueError(f"size: {count} given; the buffer holds 0 to {self.capacity} elements of {self.type}")
        if is_packed(self.type) and count % 2:
            raise ValueError(
                f"size: {count} given; {self.type} has two elements to a byte, so an even number is needed"
            )
        self.size = count
        return self

    def reinterpret_cast(self, type: object) -> LocalTensor:
        """Return a tensor of another type over the same bytes."""
        other = LocalTensor(self.buffer, type)
        other.size = bytes_of(self.type, self.size) * 8 // TYPES[other.type].bits
        return other

    def numpy(self) -> Array:
        """Return a copy of the elements, one for each item of the array.

        Returns
        -------
        ndarray
            1-D, of ``size`` elements; uint8 codes for types without a dtype.
        """
        return self.read(np.arange(self.size)).view(array_dtype(TYPES[self.type]))

    def read(self, places: NDArray[np.intp]) -> Codes:
        """Return the codes of elements by their numbers."""
        if is_packed(self.type):
            return np.asarray((self.buffer[places >> 1] >> (places % 2 * 4).astype(np.uint8)) & 15)
        itemsize = TYPES[self.type].itemsize
        # A record for an element: unaligned memory is allowed, and nothing but bytes is read.
        return self._records()[places].view(f"u{itemsize}" if itemsize <= 8 else f"V{itemsize}")

    def write(self, places: NDArray[np.intp], codes: Codes) -> None:
        """Set elements by their numbers; the last of several for one place stays. Those of 4 bits come in pairs."""
        if is_packed(self.type):
            flat = codes.reshape(-1, 2).view(np.uint8)
            self.buffer[places.reshape(-1, 2)[:, 0] >> 1] = (flat[:, 0] & 15) | (flat[:, 1] << 4)
        else:
            self._records()[places] = codes.view(f"V{TYPES[self.type].itemsize}")

    def _records(self) -> Array:
        itemsize = TYPES[self.type].itemsize
        return self.buffer[: self.buffer.size - self.buffer.size % itemsize].view(f"V{itemsize}")


def _bytes_of(buffer: Any) -> NDArray[np.uint8]:
    if isinstance(buffer, np.ndarray):
        if not buffer.flags.c_contiguous:
            raise ValueError("buffer: the array is not contiguous")
        if not buffer.flags.writeable:
            raise ValueError("buffer: the array is read-only")
        return buffer.reshape(-1).view(np.uint8)
    try:
        view = memoryview(buffer)
    except TypeError:
        raise TypeError(f"buffer: a {type(buffer).__name__} given, a writable buffer of bytes is needed") from None
    if view.readonly:
        raise ValueError("buffer: it is read-only")
    if not view.c_contiguous:
        raise ValueError("buffer: it is not contiguous")
    return np.frombuffer(view.cast("B"), np.uint8)


def _index(value: object, argument: str) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{argument}: {value!r} given, an integer is needed") from None
