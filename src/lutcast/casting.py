"""`cast`, `cast_like`, `caster` and `table`: check the arguments, find the plan, run it."""

from __future__ import annotations

import copyreg
import math
import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np

from ._kernels import Caster, Front, Plan, remember
from .arrays import (
    Array,
    as_array,
    check_out,
    has_distinct_elements,
    packed_size,
    packed_source,
    share_memory,
)
from .formats import Format
from .names import array_dtype, get_format
from .plan import plan as find_plan
from .policy import resolve

Function = TypeVar("Function", bound=Callable[..., Any])

# Below this many bytes read and written, starting a thread costs more than it brings.
BYTES_WORTH_A_THREAD = 1 << 21
# Shares of threads begin at whole blocks of the pipeline.
SHARE_MULTIPLE = 1024


def _with_short_way(function: Function) -> Function:
    """Answer calls that were made before in compiled code."""
    return Front(function)  # type: ignore[return-value]


@_with_short_way
def cast(
    x: object,
    dtype: object,
    *,
    rounding: object = None,
    overflow: object = None,
    nan: object = "keep",
    src: object = None,
    out: Array | None = None,
    copy: bool = True,
    packed: bool = False,
    shape: int | Sequence[int] | None = None,
    threads: int = 1,
) -> Array:
    """Cast an array to another number format, with one rounding.

    Parameters
    ----------
    x : array_like or torch.Tensor
        Any shape, strides, alignment and byte order. With ``shape``, the packed bytes.
    dtype : format
        The destination: a name, an alias or a dtype (see `get_format`).
    rounding : str or Rounding, optional
        Default ``"ties_to_even"`` into floats, ``"toward_zero"`` into integers.
    overflow : str or Overflow, optional
        ``"saturate"``, ``"ieee"`` (floats) or ``"wrap"`` (integers). Default ``"saturate"`` into
        integers and floats of 8 bits or fewer, ``"ieee"`` into wider floats.
    nan : {"keep", "zero"}
        What becomes of NaN; a destination without NaN gets zero in any case.
    src : format, optional
        Format of x, where x holds codes in unsigned integers.
    out : ndarray, optional
        Array of the shape and format of the result. It may be x itself, or begin where x begins,
        if its elements are not wider.
    copy : bool
        False: x itself comes back where nothing is to be done.
    packed : bool
        Return a 1-D uint8 array of ``ceil(n * bits / 8)`` bytes, for formats below 8 bits.
    shape : int or sequence of int, optional
        x is a packed 1-D uint8 buffer of elements of format ``src`` in this shape.
    threads : int
        Threads to use, the calling one included.

    Returns
    -------
    ndarray
        Of x's shape; uint8 codes for hifloat8 and float4_e1m2fn, which have no dtype.

    Raises
    ------
    TypeError
        No such format.
    UnsupportedCast
        No such cast between these formats (a TypeError).
    ValueError
        A bad policy, shape, ``out`` or count of threads.

    Notes
    -----
    Rounding and overflow follow IEEE 754-2019 (4.3, 7.4), NaN payloads 6.2.3.

    Examples
    --------
    >>> import lutcast, numpy as np
    >>> print(lutcast.cast(np.array([0.3, 464.1, -1000.0], np.float32), "float8_e4m3fn"))
    [0.3125 448 -448]
    >>> lutcast.cast([1.0, 2.0, 3.0], "float4_e2m1fn", packed=True)
    array([66,  5], dtype=uint8)
    """
    dst = get_format(dtype, "dtype")
    src_bits, elements = 0, None
    if shape is None:
        array, fmt = as_array(x, src)
    else:
        array, fmt, elements = packed_source(x, src, shape)
        src_bits = fmt.bits
    chosen = _plan(fmt, dst, rounding, overflow, nan)
    threads = _check_threads(threads)
    result_shape = array.shape if elements is None else elements
    if type(x) is np.ndarray and (src is None) is (shape is None) and copy and not (src_bits and packed):
        prepared = _prepared(fmt, dst, rounding, overflow, nan)
        source = array.dtype if src is None else src
        remember(prepared, source, dtype, rounding, overflow, nan, bool(packed), bool(src_bits))
    if packed:
        return _cast_packed(chosen, array, src_bits, math.prod(result_shape), dst, out, threads)
    if out is None and not copy and fmt is dst and not src_bits and array.dtype == array_dtype(dst):
        return array
    return _run(chosen, array, src_bits, result_shape, dst, out, threads)


def cast_like(x: object, target: object, **options: Any) -> Array:
    """Cast an array to the format of another one.

    Parameters
    ----------
    x : array_like or torch.Tensor
    target : array_like or torch.Tensor
        Only the format of its elements matters; it may be empty.
    **options
        Those of `cast`.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError, ValueError
        As `cast`.

    Examples
    --------
    >>> import lutcast, numpy as np
    >>> lutcast.cast_like([1.5, 2.5], np.empty(0, np.float16))
    array([1.5, 2.5], dtype=float16)
    """
    return cast(x, as_array(target, argument="target")[1], **options)


def caster(
    src: object, dst: object, *, rounding: object = None, overflow: object = None, nan: object = "keep"
) -> Caster:
    """Prepare a cast that is to be made many times.

    Parameters
    ----------
    src, dst : format
    rounding, overflow, nan
        As for `cast`.

    Returns
    -------
    Caster
        A callable ``(x, out=None, threads=1)``, to be shared by threads.

    Raises
    ------
    TypeError, ValueError
        As `cast`.

    Examples
    --------
    >>> import lutcast, numpy as np
    >>> to_fp8 = lutcast.caster("float32", "float8_e5m2", rounding="toward_zero")
    >>> print(to_fp8(np.array([1.9, 1e9], np.float32)))
    [1.75 57344]
    """
    return _prepare(get_format(src, "src"), get_format(dst, "dst"), rounding, overflow, nan)


def table(src: object, dst: object, *, rounding: object = None, overflow: object = None, nan: object = "keep") -> Array:
    """Return what every code of a source becomes.

    Parameters
    ----------
    src : format
        16 bits or fewer.
    dst : format
    rounding, overflow, nan
        As for `cast`.

    Returns
    -------
    ndarray
        Read-only; ``2**bits(src)`` values of the destination by code of the source.

    Raises
    ------
    ValueError
        The source has more than 16 bits.
    TypeError
        As `cast`.

    Examples
    --------
    >>> import lutcast
    >>> lutcast.table("float4_e2m1fn", "float16")[:8]
    array([0. , 0.5, 1. , 1.5, 2. , 3. , 4. , 6. ], dtype=float16)
    """
    source, destination = get_format(src, "src"), get_format(dst, "dst")
    if not source.is_narrow:
        raise ValueError(f"src: {source.name} has {source.bits} bits; tables exist for 16 bits or fewer")
    codes = np.arange(1 << source.bits, dtype=f"u{source.itemsize}")
    result = cast(codes, destination, rounding=rounding, overflow=overflow, nan=nan, src=source)
    result.setflags(write=False)
    return result


def _prepare(src: Format, dst: Format, rounding: object, overflow: object, nan: object) -> Caster:
    chosen = _plan(src, dst, rounding, overflow, nan)
    policy = resolve(src, dst, rounding, overflow, nan)
    return Caster(chosen, src, dst, policy, array_dtype(src), array_dtype(dst), _call)


# For `cast`, which comes here on every call that the short way does not take, such as one with threads=2.
_prepared = cache(_prepare)


def _reduce(caster: Caster) -> tuple[Any, ...]:
    return _prepare, (caster.src, caster.dst, *caster.policy)


copyreg.pickle(Caster, _reduce)


def _call(caster: Caster, x: object, out: Array | None, threads: int) -> Array:
    """Call a caster with arguments that are not ordinary."""
    array, _ = as_array(x, caster.src)
    return _run(caster.plan, array, 0, array.shape, caster.dst, out, _check_threads(threads))


def _plan(src: Format, dst: Format, rounding: object, overflow: object, nan: object) -> Plan:
    try:
        return find_plan(src, dst, rounding, overflow, nan)
    except TypeError:
        resolve(src, dst, rounding, overflow, nan)  # names an unhashable argument
        raise


def _check_threads(threads: object) -> int:
    try:
        count = operator.index(threads)  # type: ignore[arg-type]
    except TypeError:
        count = 0
    if count < 1:
        raise ValueError(f"threads: {threads!r} given, an integer of at least 1 is needed")
    return count


def _run(
    plan: Plan, array: Array, src_bits: int, shape: tuple[int, ...], dst: Format, out: Array | None, threads: int
) -> Array:
    """Run a plan into ``out`` or a new array, which has the memory layout of the source."""
    if out is None:
        dtype = array_dtype(dst)
        result = np.empty(shape, dtype) if src_bits else np.empty_like(array, dtype, subok=False)
    else:
        result = check_out(out, shape, dst)
        if share_memory(array, result):
            if src_bits:
                raise ValueError("out: overlaps x, which is packed")
            threads = _check_overlap(array, result, threads)
    _share_out(plan, array, result, result.size, src_bits, 0, threads)
    return result


def _cast_packed(
    plan: Plan, array: Array, src_bits: int, elements: int, dst: Format, out: Array | None, threads: int
) -> Array:
    size = packed_size(elements, dst, "packed")
    if out is None:
        result = np.empty(size, np.uint8)
    else:
        if not (isinstance(out, np.ndarray) and out.dtype == np.uint8 and out.shape == (size,)):
            raise ValueError(f"out: a uint8 array of shape ({size},) is needed for the packed result")
        if not (out.flags.writeable and out.flags.c_contiguous):
            raise ValueError("out: a contiguous, writable array is needed for the packed result")
        if share_memory(array, out):
            raise ValueError("out: overlaps x")
        result = out
    _share_out(plan, array, result, elements, src_bits, dst.bits, threads)
    return result


def _check_overlap(array: Array, out: Array, threads: int) -> int:
    """Return how many threads may cast in place; ValueError where an overlap is not safe."""
    if array.ctypes.data == out.ctypes.data:
        if array.itemsize == out.itemsize and array.strides == out.strides and has_distinct_elements(out):
            return threads
        both = [a.flags for a in (array, out)]
        same_order = all(f.c_contiguous for f in both) or all(f.f_contiguous for f in both)
        if array.itemsize > out.itemsize and same_order:
            return 1  # a block is read before anything is written over it, in order
    raise ValueError(
        "out: overlaps x in a way that is not safe; both must begin at the same place and be "
        "contiguous, and elements of out must not be wider"
    )


def _share_out(
    plan: Plan, array: Array, result: Array, elements: int, src_bits: int, dst_bits: int, threads: int
) -> None:
    """Run a plan in equal shares; the calling thread takes the first."""
    threads = min(threads, (array.nbytes + result.nbytes) // BYTES_WORTH_A_THREAD)
    if threads < 2:
        plan.run(array, result, 0, elements, src_bits, dst_bits)
        return
    from concurrent.futures import ThreadPoolExecutor  # here, as few calls need it and it is slow to import

    share = -(-elements // (threads * SHARE_MULTIPLE)) * SHARE_MULTIPLE
    starts = range(share, elements, share)
    with ThreadPoolExecutor(len(starts)) as pool:
        futures = [
            pool.submit(plan.run, array, result, start, min(start + share, elements), src_bits, dst_bits)
            for start in starts
        ]
        plan.run(array, result, 0, min(share, elements), src_bits, dst_bits)
        for future in futures:
            future.result()
