"""Sub-byte storage: C order, the first element in the lowest bits of a byte.

4-bit codes lie two to a byte, 2-bit codes four to a byte, 6-bit codes as a stream of bits, four
of them in three bytes; the last byte is padded with zeros. ONNX, AscendC, torch and
compressed-tensors store them so.
"""

from __future__ import annotations

from collections.abc import Sequence

from .arrays import Array, as_array, packed_size, packed_source
from .casting import cast
from .names import get_format


def pack(x: object, format: object = None) -> Array:
    """Pack the elements of an array of a sub-byte format.

    Parameters
    ----------
    x : array_like
        Elements, one to a byte.
    format : format, optional
        Where x is a uint8 array of codes.

    Returns
    -------
    ndarray
        1-D uint8, ``ceil(n * bits / 8)`` bytes.

    Raises
    ------
    TypeError, ValueError
        No such format, or one of 8 bits or more.

    Examples
    --------
    >>> import lutcast, numpy as np
    >>> lutcast.pack(np.array([1, 2, 3], np.uint8), "uint4")
    array([33,  3], dtype=uint8)
    """
    array, fmt = as_array(x, None if format is None else get_format(format, "format"))
    packed_size(0, fmt, "x" if format is None else "format")
    return cast(array, fmt, src=fmt, packed=True)


def unpack(buffer: object, format: object, shape: int | Sequence[int]) -> Array:
    r"""Unpack the elements of a sub-byte format, one to a byte.

    Parameters
    ----------
    buffer : array_like or bytes-like
        1-D uint8, ``ceil(n * bits / 8)`` bytes.
    format : format
    shape : int or sequence of int
        Shape of the elements.

    Returns
    -------
    ndarray
        Of the dtype of the format, or uint8 codes where it has none.

    Raises
    ------
    TypeError, ValueError
        No such format, one of 8 bits or more, or a buffer of the wrong size.

    Examples
    --------
    >>> import lutcast
    >>> print(lutcast.unpack(b"\x21\x03", "int4", 3))
    [1 2 3]
    """
    fmt = get_format(format, "format")
    packed_size(0, fmt, "format")
    data, _, sizes = packed_source(buffer, fmt, shape, "buffer")
    return cast(data, fmt, src=fmt, shape=sizes)
