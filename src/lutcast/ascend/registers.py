"""What a kernel sets ahead of ``Cast``: the scale and the mask, of the running context."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar

import numpy as np

# The mask argument where set_vector_mask has said it.
MASK_PLACEHOLDER = 0

_deq_scale: ContextVar[np.float16 | None] = ContextVar("deq_scale", default=None)
_vector_mask: ContextVar[int | Sequence[int] | None] = ContextVar("vector_mask", default=None)


def set_deq_scale(scale: float | None) -> None:
    """Set the scale of casts from int32_t to half; None removes it.

    It holds in the running context, that is in this thread or task (see `contextvars`).

    Parameters
    ----------
    scale : float or None
        Rounded to half.

    Raises
    ------
    ValueError
        It is no number.

    Examples
    --------
    >>> import lutcast.ascend, numpy as np
    >>> lutcast.ascend.set_deq_scale(0.1)
    >>> float(lutcast.ascend.cast(np.array([123457], np.int32), "half", "CAST_NONE")[0])
    12344.0
    >>> lutcast.ascend.set_deq_scale(None)
    """
    _deq_scale.set(None if scale is None else as_scale(scale))


def set_vector_mask(mask: int | Sequence[int] | None) -> None:
    """Set the mask of sliced casts that are called with ``is_set_mask=False``; None removes it.

    Parameters
    ----------
    mask : int, sequence of int or None
        As for `Cast`; checked when it is used.

    Examples
    --------
    >>> import lutcast.ascend
    >>> lutcast.ascend.set_vector_mask([0xFF])
    >>> lutcast.ascend.set_vector_mask(None)
    """
    _vector_mask.set(mask)


def deq_scale(given: float | None) -> np.float16:
    """Return the scale: the one given, else the one that was set; ValueError where there is none."""
    scale = _deq_scale.get() if given is None else as_scale(given)
    if scale is None:
        raise ValueError("deq_scale: int32_t to half needs a scale; give deq_scale= or call set_deq_scale")
    return scale


def vector_mask() -> int | Sequence[int]:
    """Return the mask that was set; ValueError where none was."""
    mask = _vector_mask.get()
    if mask is None:
        raise ValueError("mask: is_set_mask=False needs set_vector_mask before")
    return mask


def as_scale(scale: object) -> np.float16:
    """Round a scale to half; ValueError for what is no number."""
    try:
        with np.errstate(over="ignore"):
            return np.float16(float(scale))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError(f"deq_scale: {scale!r} given, a number is needed") from None
