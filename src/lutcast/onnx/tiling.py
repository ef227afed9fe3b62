"""`tile`: the operator Tile, which is stricter than NumPy's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from ..tiling import tile as core_tile
from .types import as_tensor
from .versions import check_type


def tile(x: object, repeats: Sequence[int] | Array) -> Array:
    """Repeat a tensor along its axes as the operator Tile does.

    Parameters
    ----------
    x : array_like
        Of a type that Tile takes: up to opset 28 numbers of 8 bits or more but float8, strings, bool.
    repeats : array_like of int
        1-D, one count for each axis of x.

    Returns
    -------
    ndarray
        Of shape ``x.shape[i] * repeats[i]``. Bits are copied as they are.

    Raises
    ------
    TypeError
        Tile does not take elements of this type; `lutcast.tile` does.
    ValueError
        ``repeats`` is not 1-D, not of x's rank, negative or no integers; the result is too large.

    Examples
    --------
    >>> import lutcast.onnx
    >>> lutcast.onnx.tile([[0.0, 1.0]], [2, 2])
    array([[0., 1., 0., 1.],
           [0., 1., 0., 1.]])
    """
    tensor, element = as_tensor(x, "x")
    check_type("Tile", element, None, "x")
    try:
        counts = np.asarray(repeats)
    except ValueError:
        raise ValueError(f"repeats: {repeats!r} given, 1-D integers are needed") from None
    if counts.ndim != 1:
        raise ValueError(f"repeats: {counts.ndim} dimensions given, 1-D is needed")
    if counts.size != tensor.ndim:
        raise ValueError(f"repeats: {counts.size} counts given for {tensor.ndim} axes")
    return core_tile(tensor, counts)
