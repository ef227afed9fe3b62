"""Arrays of every format to and from other libraries by DLPack, without a copy.

NumPy exports none of the formats that ml_dtypes adds to it. The numbers and layouts are those of
``dlpack.h`` 1.3: code, bits and lanes of an element; sub-byte elements packed, or one to a byte
where a flag says so; torch's pairs of float4 as two lanes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._kernels.capsule import consume, export, read
from .arrays import Array, as_array, packed_source
from .formats import ALL, FLOAT4_E2M1FN, Format
from .names import array_dtype
from .packing import unpack

# Kinds of elements that several formats share, told apart by their bits.
INT, UINT, FLOAT, COMPLEX, BOOL = 0, 1, 2, 5, 6
SHARED = {"float16": FLOAT, "float32": FLOAT, "float64": FLOAT}
# Formats that have a code of their own.
OWN = {
    "bfloat16": 4, "float8_e3m4": 7, "float8_e4m3": 8, "float8_e4m3b11fnuz": 9, "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14,
    "float6_e2m3fn": 15, "float6_e3m2fn": 16, "float4_e2m1fn": 17,
}  # fmt: skip

READ_ONLY, IS_COPIED, IS_PADDED = 1, 2, 4  # flags
CPU = 1
# Devices whose memory the processor reads: the CPU, and pinned memory of CUDA and ROCm.
READABLE = (CPU, 3, 11)
# The newest version that is written, and the first in which a flag can say that elements are padded.
VERSION = (1, 3)
VERSION_OF_PADDING = (1, 1)


def _element(fmt: Format) -> tuple[int, int] | None:
    """Return code and bits of a format; None for hifloat8 and float4_e1m2fn, which DLPack lacks."""
    if fmt.kind == "bool":
        return BOOL, 8
    kinds = {"int": INT if fmt.is_signed else UINT, "complex": COMPLEX}
    code = (SHARED | OWN).get(fmt.name, kinds.get(fmt.kind))
    return None if code is None else (code, fmt.bits)


ELEMENTS = {fmt: element for fmt in ALL if (element := _element(fmt))}
FORMATS = {element: fmt for fmt, element in ELEMENTS.items()}


class Export:
    """An array that any consumer of DLPack takes: `to_dlpack` makes it.

    It keeps the array alive, and so does every tensor that a consumer made of it.

    Attributes
    ----------
    array : ndarray
        The memory that consumers share.
    format : Format
    """

    def __init__(self, array: Array, fmt: Format, shape: tuple[int, ...], lanes: int, is_padded: bool):
        self.array = array
        self.format = fmt
        self._shape = shape
        self._lanes = lanes
        self._is_padded = is_padded

    def __repr__(self) -> str:
        return f"<Export of {self.format.name}, shape {self._shape}>"

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the CPU."""
        return CPU, 0

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Return a capsule, as the Python array API says.

        Raises
        ------
        BufferError
            The capsule cannot say what it would have to: a read-only array, or sub-byte elements
            one to a byte, for a consumer of an old version; another device; a stream.
        """
        if stream is not None:
            raise BufferError(f"stream: {stream!r} given, the CPU has none")
        if dl_device is not None and tuple(dl_device) != (CPU, 0):
            raise BufferError(f"dl_device: {tuple(dl_device)} given, the array is on (1, 0), the CPU")
        version = None if max_version is None or max_version[0] < 1 else min((max_version[0], max_version[1]), VERSION)
        if self._is_padded and (version is None or version < VERSION_OF_PADDING):
            raise BufferError(
                f"max_version: {max_version} given; {self.format.name} one to a byte can be told from packed "
                "ones since DLPack 1.1"
            )
        array = self.array.copy("K") if copy else self.array
        if version is None and not array.flags.writeable:
            raise BufferError(f"max_version: {max_version} given; a read-only array needs DLPack 1.0 or copy=True")
        flags = READ_ONLY * (not array.flags.writeable) | IS_COPIED * bool(copy) | IS_PADDED * self._is_padded
        strides = _strides(array) if array.shape == self._shape else _contiguous(self._shape)
        return export(array, (*ELEMENTS[self.format], self._lanes), self._shape, strides, flags, version)


def to_dlpack(
    array: object,
    dtype: object = None,
    *,
    shape: int | Sequence[int] | None = None,
    pairs: bool = False,
) -> Export:
    r"""Offer an array to consumers of DLPack, as ``torch.from_dlpack`` and ``jax.dlpack.from_dlpack``.

    Nothing is copied: the consumer shares the memory, and keeps it alive.

    Parameters
    ----------
    array : array_like or torch.Tensor
        Any strides that are multiples of the element size. With ``shape`` or ``pairs``, packed bytes.
    dtype : format, optional
        Where the array holds codes in unsigned integers.
    shape : int or sequence of int, optional
        The array is a packed 1-D uint8 buffer of sub-byte elements in this shape; they are
        exported packed, as DLPack has them by default.
    pairs : bool
        The array holds float4_e2m1fn two to a byte along its last axis, in uint8: what torch calls
        ``torch.float4_e2m1fn_x2``.

    Returns
    -------
    Export
        An object with ``__dlpack__`` and ``__dlpack_device__``, which can be consumed many times.

    Raises
    ------
    TypeError
        No such format, or one that DLPack has no code for: hifloat8 and float4_e1m2fn travel as uint8.
    ValueError
        A foreign byte order or strides that DLPack cannot express; a bad shape.

    Notes
    -----
    Sub-byte elements that lie one to a byte are marked as padded, which needs DLPack 1.1. A
    read-only array needs DLPack 1.0, where a flag says so.

    Examples
    --------
    >>> import lutcast, ml_dtypes, numpy as np
    >>> weights = np.array([0.5, 1.5], ml_dtypes.bfloat16)
    >>> array, fmt = lutcast.from_dlpack(lutcast.to_dlpack(weights))
    >>> print(array, fmt)
    [0.5 1.5] <Format bfloat16>
    >>> np.shares_memory(array, weights)
    True
    """
    if shape is not None:
        data, fmt, elements = packed_source(array, dtype, shape, "array")
        return Export(data, _exportable(fmt), elements, 1, False)
    if pairs:
        return _pairs(array, dtype)
    found, fmt = as_array(array, dtype, "array")
    if not found.dtype.isnative:
        raise ValueError(f"array: dtype {found.dtype} has a foreign byte order, which DLPack cannot express")
    if any(stride % found.itemsize for stride, size in zip(found.strides, found.shape, strict=True) if size > 1):
        raise ValueError(f"array: strides {found.strides} are not multiples of its {found.itemsize} bytes an element")
    return Export(found, _exportable(fmt), found.shape, 1, fmt.bits < 8 and fmt.kind != "bool")


def from_dlpack(obj: Any) -> tuple[Array, Format]:
    """Take an array of any format from another library, without a copy where elements are not packed.

    Parameters
    ----------
    obj : object with ``__dlpack__`` and ``__dlpack_device__``
        Such as a torch.Tensor, a jax.Array or what `to_dlpack` returns.

    Returns
    -------
    array : ndarray
        Of the dtype of the format; the memory is shared, and kept alive. Packed elements are
        unpacked into new memory. It is read-only where the producer says so or cannot say.
    fmt : Format

    Raises
    ------
    TypeError
        No such object, or elements of no format.
    ValueError
        Memory that is not the CPU's, a capsule that was consumed before, or one that contradicts itself.
    BufferError
        Another major version of DLPack.

    Examples
    --------
    >>> import lutcast, numpy as np
    >>> lutcast.from_dlpack(np.arange(3, dtype=np.float32))
    (array([0., 1., 2.], dtype=float32), <Format float32>)
    """
    if not (hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__")):
        raise TypeError(f"obj: a {type(obj).__name__} given, an object with __dlpack__ and __dlpack_device__ is needed")
    _check_device(obj.__dlpack_device__())
    try:
        capsule = obj.__dlpack__(max_version=VERSION)
    except TypeError:  # a producer from before versions
        capsule = obj.__dlpack__()
    return _from_capsule(capsule)


def _from_capsule(capsule: object) -> tuple[Array, Format]:
    address, offset, device, (code, bits, lanes), shape, strides, flags = read(capsule)
    _check_device(device)
    fmt = FORMATS.get((code, bits))
    if fmt is None:
        raise TypeError(f"obj: elements of DLPack code {code} with {bits} bits have no format")
    holds_pairs = fmt is FLOAT4_E2M1FN and lanes == 2
    if lanes != 1 and not holds_pairs:
        raise ValueError(f"obj: {lanes} lanes given; elements of 1 are read, and of 2 for float4_e2m1fn")
    if any(size < 0 for size in shape):
        raise ValueError(f"obj: shape {shape} has a negative size")
    is_packed = bits < 8 and not holds_pairs and not (flags or 0) & IS_PADDED
    if is_packed:
        if strides is not None and not _is_contiguous(shape, strides):
            raise ValueError(f"obj: strides {strides} given for shape {shape}; packed elements must be contiguous")
        layout: tuple[int, ...] = (-(-math.prod(shape) * bits // 8),)
        strides = None
    else:
        layout = shape
    dtype = np.dtype(np.uint8) if is_packed or holds_pairs else array_dtype(fmt)
    strides = tuple(stride * dtype.itemsize for stride in (_contiguous(layout) if strides is None else strides))
    start = _check_memory(address, offset, layout, strides, dtype.itemsize)
    is_writable = flags is not None and not flags & READ_ONLY
    array = consume(capsule, start, dtype, layout, strides, is_writable)
    if is_packed:
        return unpack(array, fmt, shape), fmt
    if holds_pairs:
        return unpack(array.reshape(-1), fmt, (*shape[:-1], 2 * shape[-1]) if shape else 2), fmt
    return array, fmt


def _pairs(array: object, dtype: object) -> Export:
    if dtype is not None and as_array(np.empty(0, np.uint8), dtype)[1] is not FLOAT4_E2M1FN:
        raise ValueError(f"pairs: {dtype!r} given, only float4_e2m1fn goes in pairs")
    data = np.asarray(array)
    if data.dtype != np.uint8 or not data.ndim:
        raise ValueError(f"array: {data.dtype} of shape {data.shape} given, pairs are uint8 with an axis or more")
    return Export(data, FLOAT4_E2M1FN, data.shape, 2, False)


def _exportable(fmt: Format) -> Format:
    if fmt not in ELEMENTS:
        raise TypeError(f"array: DLPack has no code for {fmt.name}; its codes can be exported as uint8")
    return fmt


def _check_device(device: Any) -> None:
    try:
        kind, number = map(int, device)
    except (TypeError, ValueError):
        raise TypeError(f"obj: __dlpack_device__ gave {device!r}, two integers are needed") from None
    if kind not in READABLE:
        raise ValueError(f"obj: memory on the DLPack device ({kind}, {number}) given, the CPU's is needed")


def _check_memory(address: int, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> int:
    """Return where the first element lies, 0 where there is none; ValueError if memory cannot reach so far."""
    beyond = f"obj: shape {shape} with strides {strides} reaches beyond the memory"
    if math.prod(size for size in shape if size) * itemsize >> 63:
        raise ValueError(beyond)
    if 0 in shape:
        return 0
    if not address:
        raise ValueError(f"obj: a data pointer of NULL given for shape {shape}")
    reach = [stride * (size - 1) for stride, size in zip(strides, shape, strict=True)]
    start = address + offset
    low = start + sum(r for r in reach if r < 0)
    high = start + sum(r for r in reach if r > 0) + itemsize
    if low < 0 or high >> 63:
        raise ValueError(beyond)
    return start


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return strides in elements, in C order."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    pairs = zip(shape, strides, _contiguous(shape), strict=True)
    return 0 in shape or all(size == 1 or stride == expected for size, stride, expected in pairs)


def _strides(array: Array) -> tuple[int, ...]:
    """Return strides in elements; those of axes of one element, which mean nothing, as in C order where that is so."""
    if array.flags.c_contiguous:
        return _contiguous(array.shape)
    return tuple(stride // array.itemsize for stride in array.strides)
