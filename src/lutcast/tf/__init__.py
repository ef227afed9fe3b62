"""``tf.cast`` without TensorFlow: the same values, undefined cases fixed."""

from . import dtypes
from .casting import cast
from .sparse import IndexedSlices, SparseTensor

__all__ = ["IndexedSlices", "SparseTensor", "cast", "dtypes"]
