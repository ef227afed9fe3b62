"""From anything array-like to an ndarray and the format of its elements, without a copy."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .formats import FLOAT4_E2M1FN, Format
from .names import array_dtype, dtype_of, format_of_dtype, get_format

Array = np.ndarray[Any, np.dtype[Any]]


def as_array(x: object, src: object = None, argument: str = "x") -> tuple[Array, Format]:
    """Return x as an array with the format of its elements.

    Parameters
    ----------
    x : array_like or torch.Tensor
        A tensor is taken as it lies in memory; torch is not imported for that.
    src : format, optional
        The format, where the dtype does not say it: x then has the dtype of that format or
        holds its codes in unsigned integers of the same width.
    argument : str
        How errors name x.

    Raises
    ------
    TypeError
        The elements have no format.
    ValueError
        The dtype contradicts ``src``.
    """
    expected = None if src is None else get_format(src, "src")
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)  # None too while torch is being imported
    if tensor is not None and isinstance(x, tensor):
        array, found = _from_torch(x, argument)
    else:
        array = np.asarray(x)
        found = format_of_dtype(array.dtype)
    if expected is not None and found is not expected:
        if not holds_codes(array.dtype, expected):
            raise ValueError(
                f"{argument}: dtype {array.dtype} given for {expected.name}; "
                f"it takes {array_dtype(expected)} or codes as uint{8 * expected.itemsize}"
            )
        return array, expected
    if found is None:
        raise TypeError(f"{argument}: elements of dtype {array.dtype} have no format; src= names that of codes")
    return array, found


def holds_codes(dtype: np.dtype[Any], fmt: Format) -> bool:
    """Whether arrays of this dtype can hold codes of the format."""
    return dtype.kind == "u" and dtype.itemsize == fmt.itemsize and fmt.kind != "complex"


def check_out(out: object, shape: tuple[int, ...], dst: Format) -> Array:
    """Return ``out`` if it can take a result of that shape and format; ValueError otherwise."""
    if not isinstance(out, np.ndarray):
        raise ValueError(f"out: a {type(out).__name__} given, an ndarray is needed")
    takes_codes = dtype_of(dst) is None and out.dtype == np.uint8
    if format_of_dtype(out.dtype) is not dst and not takes_codes:
        raise ValueError(f"out: dtype {out.dtype} given, {array_dtype(dst)} is needed for {dst.name}")
    if out.shape != shape:
        raise ValueError(f"out: shape {out.shape} given, {shape} is needed")
    if not out.flags.writeable:
        raise ValueError("out: the array is read-only")
    return out


def share_memory(a: Array, b: Array) -> bool:
    """Whether two arrays overlap; where that is too hard to tell, they do."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=100_000))  # type: ignore[arg-type]  # any int is allowed
    except np.exceptions.TooHardError:
        return True


def has_distinct_elements(array: Array) -> bool:
    """Whether no two elements lie in the same memory; where that is hard to tell, they do."""
    reach = array.itemsize
    for stride, size in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if size > 1:
            if stride < reach:
                return False
            reach += stride * (size - 1)
    return True


def packed_size(elements: int, fmt: Format, argument: str) -> int:
    """Return the bytes that packed elements take; ValueError for a format that is not packed."""
    if fmt.bits >= 8 or fmt.kind == "bool":
        raise ValueError(f"{argument}: {fmt.name} is not packed; formats of 2, 4 and 6 bits are")
    return -(-elements * fmt.bits // 8)


def packed_source(
    x: object, src: object, shape: int | Sequence[int], argument: str = "x"
) -> tuple[Array, Format, tuple[int, ...]]:
    """Check a packed source; return its bytes, its format and the shape of its elements."""
    if src is None:
        raise ValueError("src: the format of the packed elements is needed with shape=")
    fmt = get_format(src, "src")
    try:
        sizes = tuple(operator.index(n) for n in (shape if isinstance(shape, Sequence) else (shape,)))
    except TypeError:
        raise ValueError(f"shape: {shape!r} given, an integer or a sequence of integers is needed") from None
    if any(n < 0 for n in sizes):
        raise ValueError(f"shape: {sizes} has a negative size")
    size = packed_size(math.prod(sizes), fmt, "src")
    data = np.frombuffer(x, np.uint8) if isinstance(x, (bytes, bytearray, memoryview)) else np.asarray(x)
    if data.dtype != np.uint8 or data.ndim != 1:
        raise ValueError(f"{argument}: {data.dtype} of shape {data.shape} given, packed elements are 1-D uint8")
    if data.size != size:
        raise ValueError(f"{argument}: {data.size} bytes given, {math.prod(sizes)} elements of {fmt.name} take {size}")
    return np.ascontiguousarray(data), fmt, sizes


def check_tensor(tensor: Any, argument: str) -> None:
    """ValueError unless the elements of a tensor lie in the memory of the CPU, by strides."""
    if tensor.is_nested or not tensor.is_cpu or tensor.layout is not sys.modules["torch"].strided:
        layout = "nested" if tensor.is_nested else tensor.layout
        raise ValueError(f"{argument}: a {layout} tensor on {tensor.device} given, a strided one on the CPU is needed")


def unpack_pairs(pairs: Array) -> Array:
    """Return the elements of bytes that hold float4_e2m1fn in pairs along the last axis."""
    halves = np.stack((pairs & 15, pairs >> 4), axis=-1)
    return halves.reshape(*pairs.shape[:-1], -1).view(array_dtype(FLOAT4_E2M1FN))


def _from_torch(x: Any, argument: str) -> tuple[Array, Format | None]:
    torch = sys.modules["torch"]
    check_tensor(x, argument)
    tensor = x.detach().resolve_conj().resolve_neg()
    name = str(tensor.dtype)
    if name == "torch.float4_e2m1fn_x2":
        return unpack_pairs(tensor.view(torch.uint8).numpy()), FLOAT4_E2M1FN
    fmt = get_format(name, argument)
    carrier = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}.get(fmt.itemsize)
    array = tensor.numpy() if carrier is None else tensor.view(carrier).numpy()
    return array.view(array_dtype(fmt)), fmt
