"""Sparse tensors: their values are cast, all else is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .dtype_names import is_of_tensorflow


@dataclass(frozen=True, eq=False)
class SparseTensor:
    """A tensor as the places and values of its elements that are not zero.

    Attributes
    ----------
    indices : array_like of int64, of shape (n, rank)
    values : array_like of shape (n,)
    dense_shape : array_like of int64, of shape (rank,)

    Examples
    --------
    >>> import lutcast.tf
    >>> x = lutcast.tf.SparseTensor([[0, 1]], [1.8], [2, 2])
    >>> lutcast.tf.cast(x, "int32").values
    array([1], dtype=int32)
    """

    indices: Any
    values: Any
    dense_shape: Any


@dataclass(frozen=True, eq=False)
class IndexedSlices:
    """Some slices of a tensor, and their indices along its first axis.

    Attributes
    ----------
    values : array_like of shape (n, ...)
    indices : array_like of int, of shape (n,)
    dense_shape : array_like of int64, optional

    Examples
    --------
    >>> import lutcast.tf
    >>> x = lutcast.tf.IndexedSlices([[1.8, 2.2]], [3])
    >>> lutcast.tf.cast(x, "int32").values
    array([[1, 2]], dtype=int32)
    """

    values: Any
    indices: Any
    dense_shape: Any = None


def as_record(x: Any) -> SparseTensor | IndexedSlices | None:
    """Return a sparse tensor of ours or of TensorFlow as a record of ours; None for anything else."""
    if isinstance(x, SparseTensor | IndexedSlices):
        return x
    if not is_of_tensorflow(x):
        return None
    match type(x).__name__:
        case "SparseTensor" | "SparseTensorValue":
            return SparseTensor(x.indices, x.values, x.dense_shape)
        case "IndexedSlices" | "IndexedSlicesValue":
            return IndexedSlices(x.values, x.indices, x.dense_shape)
    return None
