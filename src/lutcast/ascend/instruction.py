"""`Cast`: the instruction on LocalTensors, by count or sliced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..names import array_dtype
from .control import Control
from .local_tensor import LocalTensor
from .slicing import (
    COUNT_ONLY,
    MOST_REPEATS,
    Places,
    UnaryRepeatParams,
    active_lanes,
    checked_index,
    places_of,
)
from .types import TYPES, bytes_of, is_packed
from .values import Job, prepare


def Cast(  # noqa: N802 - AscendC's name
    dst: LocalTensor,
    src: LocalTensor,
    round_mode: object,
    count_or_mask: int | Sequence[int],
    repeat_time: int | None = None,
    repeat_params: UnaryRepeatParams | None = None,
    is_set_mask: bool = True,
    *,
    product: object = "950",
    control: Control = Control(),  # noqa: B008 - immutable
    deq_scale: float | None = None,
) -> None:
    """Cast elements from one LocalTensor to another.

    ``Cast(dst, src, round_mode, count)`` casts the first ``count`` elements;
    ``Cast(dst, src, round_mode, mask, repeat_time, repeat_params)`` those that mask, repeats and
    strides address. All other bytes of dst stay as they are.

    Parameters
    ----------
    dst, src : LocalTensor
        They may overlap only if they begin together and have elements of the same size.
    round_mode : RoundMode, int or str
    count_or_mask : int or sequence of int
        The count; or a mask: how many lanes of each repeat, from the first on, or one or two
        64-bit words with a bit for each lane.
    repeat_time : int, optional
        0 to 255.
    repeat_params : UnaryRepeatParams, optional
        Default: all blocks and repeats of 256 bytes one after another.
    is_set_mask : bool
        False: the mask is that of `set_vector_mask`, the argument is MASK_PLACEHOLDER.
    product, control, deq_scale
        As for `cast`.

    Raises
    ------
    UnsupportedCast
        The product does not have this cast in this mode (a TypeError).
    ValueError
        A rule of the instruction is broken; dst is untouched then.

    Examples
    --------
    >>> import lutcast.ascend as ascend, numpy as np
    >>> src = ascend.LocalTensor(np.arange(1.4, 129.4).astype(np.float16), "half")
    >>> dst = ascend.LocalTensor(bytearray(512), "int32_t")
    >>> ascend.Cast(dst, src, "CAST_CEIL", 3, 2, ascend.UnaryRepeatParams(1, 1, 8, 4))
    >>> dst.numpy()[:5], dst.numpy()[64:67]
    (array([2, 3, 4, 0, 0], dtype=int32), array([66, 67, 68], dtype=int32))
    """
    for name, tensor in (("dst", dst), ("src", src)):
        if not isinstance(tensor, LocalTensor):
            raise ValueError(f"{name}: a {type(tensor).__name__} given, a LocalTensor is needed")
    job = prepare(src.type, dst.type, round_mode, product, control, deq_scale)
    if repeat_time is None:
        if repeat_params is not None or not is_set_mask:
            raise ValueError("repeat_time: it is needed with a mask")
        to = fro = _first(src, dst, count_or_mask)
    else:
        fro, to = _sliced(src, dst, count_or_mask, repeat_time, repeat_params or UnaryRepeatParams(), is_set_mask)
    if to.size == 0:
        return
    _check_reach(src, fro, "src")
    _check_reach(dst, to, "dst")
    if _overlap(src, fro, dst, to):
        for one_from, one_to in zip(fro, to, strict=True):  # a repeat may read what another wrote
            _run(job, src, one_from, dst, one_to)
    else:
        _run(job, src, fro, dst, to)


def _first(src: LocalTensor, dst: LocalTensor, count: Any) -> Places:
    number = checked_index(count, "count", min(src.size, dst.size))
    if number % 2 and (is_packed(src.type) or is_packed(dst.type)):
        raise ValueError(f"count: {number} given; 4-bit elements are cast in pairs, an even number is needed")
    return np.arange(number)[None]


def _sliced(
    src: LocalTensor, dst: LocalTensor, mask: Any, repeat_time: Any, params: UnaryRepeatParams, is_set_mask: bool
) -> tuple[Places, Places]:
    for tensor in (src, dst):
        if tensor.type in COUNT_ONLY:
            raise ValueError(f"mask: {tensor.type} is cast by count only")
    lanes = active_lanes(mask, src.type, dst.type, is_set_mask)
    repeats = checked_index(repeat_time, "repeat_time", MOST_REPEATS)
    return (
        places_of(src.type, lanes, repeats, params.src_blk_stride, params.src_rep_stride),
        places_of(dst.type, lanes, repeats, params.dst_blk_stride, params.dst_rep_stride),
    )


def _check_reach(tensor: LocalTensor, places: Places, name: str) -> None:
    last = int(places.max())
    if last >= tensor.size:
        raise ValueError(f"{name}: element {last} is addressed; the tensor has {tensor.size}")


def _overlap(src: LocalTensor, fro: Places, dst: LocalTensor, to: Places) -> bool:
    """Whether the memory that is read and that is written overlap; ValueError where that is not allowed."""
    read, written = _bytes_spanned(src, fro), _bytes_spanned(dst, to)
    if not np.shares_memory(read, written):
        return False
    begin_together = src.buffer.ctypes.data == dst.buffer.ctypes.data
    if not begin_together or TYPES[src.type].bits != TYPES[dst.type].bits:
        raise ValueError("dst: it overlaps src; both must begin together and have elements of the same size")
    return True


def _bytes_spanned(tensor: LocalTensor, places: Places) -> Any:
    first, last = int(places.min()), int(places.max())
    return tensor.buffer[bytes_of(tensor.type, first) : bytes_of(tensor.type, last + 1)]


def _run(job: Job, src: LocalTensor, fro: Places, dst: LocalTensor, to: Places) -> None:
    values = src.read(fro.ravel()).view(array_dtype(TYPES[src.type]))
    dst.write(to.ravel(), job(values))
