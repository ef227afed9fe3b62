"""Casts from torch tensors to torch tensors, without a copy beyond the cast itself.

Tensors are read and written where they lie. float4_e2m1fn is packed as in torch; formats that torch
does not have come back as codes in ``torch.uint8``. Importing this module imports torch.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import torch

from . import casting
from ._kernels import Caster
from ._kernels.capsule import array_at
from ._kernels.caster import run_at
from .arrays import Array, as_array, check_tensor, has_distinct_elements, packed_size, unpack_pairs
from .formats import ALL, FLOAT4_E2M1FN, UINT8, Format
from .names import array_dtype, dtype_of, get_format

__all__ = ["cast", "cast_like", "torch_dtype"]

PAIRS = torch.float4_e2m1fn_x2
BYTES = np.dtype(np.uint8)
# What holds the elements of each format, one by one.
DTYPES: dict[Format, torch.dtype] = {
    fmt: getattr(torch, fmt.aliases.get("torch", "").removeprefix("torch."), torch.uint8) for fmt in ALL
}
FORMATS = {dtype: fmt for fmt, dtype in DTYPES.items() if dtype is not torch.uint8} | {
    torch.uint8: UINT8,
    PAIRS: FLOAT4_E2M1FN,
}
# How NumPy sees the elements of tensors, pairs as bytes.
ARRAY_DTYPES = {dtype: dtype_of(fmt) for fmt, dtype in DTYPES.items()} | {torch.uint8: BYTES, PAIRS: BYTES}


def cast(
    tensor: torch.Tensor,
    dtype: object,
    *,
    rounding: object = None,
    overflow: object = None,
    nan: object = "keep",
    packed: bool | None = None,
    out: torch.Tensor | None = None,
    threads: int = 1,
    src: object = None,
) -> torch.Tensor:
    """Cast a tensor to another number format, with one rounding.

    Parameters
    ----------
    tensor : torch.Tensor
        On the CPU, strided, of any strides. ``torch.float4_e2m1fn_x2`` counts as twice as many
        elements along its last dimension.
    dtype : format
        The destination: a torch.dtype or any name of a format (see `lutcast.get_format`).
    rounding, overflow, nan
        As for `lutcast.cast`.
    packed : bool, optional
        Whether elements of fewer than 8 bits are packed along the last dimension, which then
        shrinks: float4_e2m1fn as ``torch.float4_e2m1fn_x2``, others in ``torch.uint8``. Default: as
        torch has them, which is packed for float4_e2m1fn only. False: one to a byte.
    out : torch.Tensor, optional
        Tensor of the shape and dtype of the result; it may lie over ``tensor`` as for `lutcast.cast`.
    threads : int
        Threads to use, the calling one included.
    src : format, optional
        Format of the tensor, where it holds codes in unsigned integers.

    Returns
    -------
    torch.Tensor
        ``out``, or a new tensor with the memory layout of ``tensor``; ``torch.uint8`` codes for
        formats that torch does not have.

    Raises
    ------
    TypeError
        No such format, or no tensor.
    ValueError
        A tensor on another device, in another layout, with a gradient to record or traced by
        torch.jit; a bad policy, ``out`` or count of threads; a last dimension that cannot be packed.

    Notes
    -----
    A cast passes on no gradient. Where one is being recorded it is refused rather than lost, as by
    ``Tensor.numpy``: give ``tensor.detach()``, or cast under ``torch.no_grad()``.

    Examples
    --------
    >>> import lutcast.torch, torch
    >>> lutcast.torch.cast(torch.tensor([0.3, 1.7, -1000.0]), torch.bfloat16)
    tensor([ 3.0078e-01,  1.7031e+00, -1.0000e+03], dtype=torch.bfloat16)
    >>> lutcast.torch.cast(torch.tensor([0.3, 464.1, -1000.0]), "hifloat8", rounding="ties_to_away")
    tensor([ 50,  98, 228], dtype=torch.uint8)
    """
    if type(tensor) is torch.Tensor and packed is out is src is None and threads == 1:
        plain = _cast_plain(tensor, dtype, rounding, overflow, nan)
        if plain is not None:
            return plain
    _check_source(tensor)
    dst = (FORMATS.get(dtype) if isinstance(dtype, torch.dtype) else None) or get_format(dtype, "dtype")
    packs = _packs(dtype, dst, packed)
    kind = torch_dtype(dst, packed=True) if packs else DTYPES[dst]
    options: dict[str, Any] = {"rounding": rounding, "overflow": overflow, "nan": nan}
    if threads != 1:
        options["threads"] = threads
    array = _read(tensor)
    if src is not None:
        array, options["src"] = as_array(array, src, "tensor")
    elements: tuple[int, ...] = array.shape
    if tensor.dtype is PAIRS and src is None:
        if array.ndim and array.flags.c_contiguous:
            elements = (*array.shape[:-1], 2 * array.shape[-1])
            array = array.reshape(-1)
            options |= {"src": FLOAT4_E2M1FN, "shape": elements}
        else:
            array = unpack_pairs(array)
            elements = array.shape
    shape = _packed_shape(elements, dst) if packs else elements
    if out is not None:
        _check_out(out, kind, shape, dst, packs)
        result = out
    elif packs or shape != tensor.shape:
        result = torch.empty(shape, dtype=kind, device="cpu")
    else:
        result = torch.empty_like(tensor, dtype=kind, device="cpu")
    if packs:
        casting.cast(array, dst, packed=True, out=_memory(result, BYTES).reshape(-1), **options)
    else:
        casting.cast(array, dst, out=_memory(result, array_dtype(dst)), **options)
    if out is not None and not out.is_inference():
        torch.autograd.graph.increment_version(out)  # so that a graph that saved it notices
    return result


def cast_like(tensor: torch.Tensor, like: object, **options: Any) -> torch.Tensor:
    """Cast a tensor to the format of another one.

    Parameters
    ----------
    tensor : torch.Tensor
    like : torch.Tensor or array_like
        Only the format of its elements matters: it may be empty, and on any device.
    **options
        Those of `cast`.

    Returns
    -------
    torch.Tensor

    Raises
    ------
    TypeError, ValueError
        As `cast`.

    Examples
    --------
    >>> import lutcast.torch, torch
    >>> lutcast.torch.cast_like(torch.tensor([1.5, 300.0]), torch.empty(0, dtype=torch.int8))
    tensor([  1, 127], dtype=torch.int8)
    """
    dtype = like.dtype if isinstance(like, torch.Tensor) else as_array(like, argument="like")[1]
    return cast(tensor, dtype, **options)


def torch_dtype(fmt: object, *, packed: bool = False) -> torch.dtype:
    """Return the dtype of tensors of a format.

    Parameters
    ----------
    fmt : format
    packed : bool
        For elements of fewer than 8 bits, packed.

    Returns
    -------
    torch.dtype
        ``torch.uint8``, for codes, where torch does not have the format.

    Raises
    ------
    TypeError
        No such format.

    Examples
    --------
    >>> import lutcast.torch
    >>> lutcast.torch.torch_dtype("BF16"), lutcast.torch.torch_dtype("float6_e2m3fn")
    (torch.bfloat16, torch.uint8)
    """
    found = get_format(fmt, "fmt")
    if packed:
        return PAIRS if found is FLOAT4_E2M1FN else torch.uint8
    return DTYPES[found]


@cache
def _caster(source: torch.dtype, dtype: object, rounding: object, overflow: object, nan: object) -> Caster | None:
    """Return what casts tensors of a dtype element by element; None where either side is packed."""
    dst = get_format(dtype, "dtype")
    fmt = get_format(str(source), "tensor")
    if source is PAIRS or dst is FLOAT4_E2M1FN:
        return None
    return casting.caster(fmt, dst, rounding=rounding, overflow=overflow, nan=nan)


def _cast_plain(
    tensor: torch.Tensor, dtype: object, rounding: object, overflow: object, nan: object
) -> torch.Tensor | None:
    """Take the short way, which a contiguous tensor with nothing special goes; None where it is not one."""
    if (
        not tensor.is_cpu
        or tensor.is_nested
        or tensor.layout is not torch.strided
        or tensor.requires_grad
        or not tensor.is_contiguous()
        or tensor.is_conj()
        or tensor.is_neg()
        or torch.jit.is_tracing()
    ):
        return None
    try:
        caster = _caster(tensor.dtype, dtype, rounding, overflow, nan)
    except TypeError:  # an argument that is no key of the cache is named by the long way
        return None
    if caster is None:
        return None
    result = torch.empty_like(tensor, dtype=DTYPES[caster.dst])
    return result if run_at(caster, tensor.data_ptr(), result.data_ptr(), tensor.numel()) else None


def _memory(tensor: torch.Tensor, dtype: np.dtype[Any], argument: str = "out") -> Array:
    """Return the memory of a tensor; unlike ``Tensor.numpy``, this does not forbid it to be resized later."""
    address = tensor.data_ptr()
    if not address and tensor.numel():
        raise ValueError(f"{argument}: a tensor without memory given, such as a fake one")
    return array_at(address, dtype, tuple(tensor.shape), tensor.stride(), tensor)


def _read(tensor: torch.Tensor) -> Array:
    """Return the elements of a tensor, those of pairs as bytes."""
    dtype = ARRAY_DTYPES.get(tensor.dtype)
    if dtype is None:
        dtype = array_dtype(get_format(str(tensor.dtype), "tensor"))
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    return _memory(tensor, dtype, "tensor")


def _check_source(tensor: torch.Tensor) -> None:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"tensor: a {type(tensor).__name__} given, a torch.Tensor is needed")
    check_tensor(tensor, "tensor")
    _check_gradient(tensor, "tensor")
    if torch.jit.is_tracing():
        raise ValueError("tensor: is traced by torch.jit, which cannot record a cast; leave the cast out of the trace")


def _check_gradient(tensor: torch.Tensor, argument: str) -> None:
    if tensor.requires_grad and torch.is_grad_enabled():
        raise ValueError(
            f"{argument}: requires a gradient, which a cast does not pass on; "
            f"give {argument}.detach(), or cast under torch.no_grad()"
        )


def _packs(dtype: object, dst: Format, packed: bool | None) -> bool:
    if packed is None:
        return dst is FLOAT4_E2M1FN
    if packed:
        packed_size(0, dst, "packed")
    elif dtype is PAIRS:
        raise ValueError(f"packed: {packed!r} given for {PAIRS}, which is packed; 'float4_e2m1fn' names the format")
    return bool(packed)


def _packed_shape(elements: tuple[int, ...], dst: Format) -> tuple[int, ...]:
    multiple = 8 // math.gcd(8, dst.bits)
    if not elements or elements[-1] % multiple:
        raise ValueError(
            f"tensor: shape {tuple(elements)} given; packed {dst.name} needs a last dimension that is a multiple "
            f"of {multiple}, packed=False does not"
        )
    return (*elements[:-1], elements[-1] * dst.bits // 8)


def _check_out(out: torch.Tensor, dtype: torch.dtype, shape: tuple[int, ...], dst: Format, packs: bool) -> None:
    if not isinstance(out, torch.Tensor):
        raise ValueError(f"out: a {type(out).__name__} given, a torch.Tensor is needed")
    check_tensor(out, "out")
    _check_gradient(out, "out")
    if out.dtype is not dtype:
        raise ValueError(f"out: dtype {out.dtype} given, {dtype} is needed for {dst.name}")
    if out.shape != shape:
        raise ValueError(f"out: shape {tuple(out.shape)} given, {tuple(shape)} is needed")
    if out.is_conj() or out.is_neg():
        raise ValueError("out: a conjugate or negative view given, a tensor that holds its values is needed")
    if out.is_contiguous():
        return
    if packs:
        raise ValueError("out: a contiguous tensor is needed for the packed result")
    if not has_distinct_elements(_memory(out, array_dtype(dst))):
        raise ValueError("out: elements lie in the same memory, as those of an expanded tensor")
