"""`cast`: the rules of ``tf.cast`` as policies of the core.

Source: TensorFlow 2.21 on CPUs. Where its result is undefined (NaN, infinity and what is out of
range, from floats to integers) the value is the nearest one there is, and 0 for NaN.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array, as_array
from ..casting import cast as core_cast
from ..formats import Format
from ..names import array_dtype
from .dtype_names import FORMATS, format_of, is_of_tensorflow
from .python_values import array_of, is_python_value
from .sparse import IndexedSlices, SparseTensor, as_record

# By kind of source and destination, where it is not the core's default.
OVERFLOW = {
    ("int", "int"): "wrap",
    ("float", "float"): "ieee",
    ("int", "float"): "ieee",
    ("bool", "float"): "ieee",
    ("complex", "float"): "ieee",
}


def cast(x: Any, dtype: object, name: str | None = None) -> Any:
    """Cast a tensor as ``tf.cast`` does.

    Parameters
    ----------
    x : array_like, SparseTensor, IndexedSlices or scipy.sparse array or matrix
        Python floats become float32 first, ints int32 or int64, complex numbers complex128;
        arrays and NumPy scalars keep their dtype. Tensors of TensorFlow are taken too.
    dtype : str, dtype or tf.DType
        One of uint8 to uint64, int8 to int64, float16, float32, float64, bfloat16, complex64,
        complex128, bool, float8_e5m2, float8_e4m3fn, int4, uint4; by TensorFlow's names, as a NumPy
        dtype or as TensorFlow's object. Python's ``float`` is float32.
    name : str, optional
        Ignored: the name of an operation.

    Returns
    -------
    ndarray, SparseTensor, IndexedSlices or sparse matrix
        Of x's shape and kind; x itself where it is an array of that dtype already. Of scipy's
        lists and dicts of keys, which hold no float16 and no narrower float, coordinates then.

    Raises
    ------
    TypeError
        No such dtype, or elements that are not numbers.
    ValueError
        x cannot be converted: None, an object, a value that does not fit, a ragged sequence.

    Notes
    -----
    Two differences from TensorFlow are deliberate: subnormals are never flushed to zero, and from
    float64 to float16 or bfloat16 there is one rounding.

    Examples
    --------
    >>> import lutcast.tf, numpy as np
    >>> lutcast.tf.cast(np.array([1.8, 2.2], np.float32), "int32")
    array([1, 2], dtype=int32)
    >>> lutcast.tf.cast(np.array([np.nan, np.inf, -300.0]), np.int8)
    array([   0,  127, -128], dtype=int8)
    >>> lutcast.tf.cast(1.1, "float64")
    array(1.10000002)
    """
    dst = format_of(dtype)
    record = as_record(x)
    if record is not None:
        return _cast_record(record, dst)
    if _is_scipy_sparse(x):
        return _cast_scipy(x, dst)
    if is_python_value(x):
        return _cast_array(array_of(x), dst)
    is_tensor = isinstance(x, np.ndarray | np.generic) or is_of_tensorflow(x)
    if is_tensor and x.dtype == array_dtype(dst):
        return x
    return _cast_array(x, dst)


def _cast_array(x: Any, dst: Format) -> Array:
    try:
        array, src = as_array(x)
    except TypeError:
        elements = np.asarray(x).dtype
        if elements.kind in "SUT":
            raise TypeError("x: strings cannot be cast") from None
        what = f"an array of {elements}" if hasattr(x, "dtype") else f"a value of type {type(x).__name__}"
        raise ValueError(f"x: {what} cannot be converted to a tensor of numbers") from None
    if src not in FORMATS.values():
        raise TypeError(f"x: TensorFlow does not cast {src.name}; it casts {', '.join(FORMATS)}")
    return core_cast(array, dst, overflow=OVERFLOW.get((src.kind, dst.kind)))


def _cast_record(x: SparseTensor | IndexedSlices, dst: Format) -> SparseTensor | IndexedSlices:
    return replace(x, values=cast(x.values, dst.name))


def _is_scipy_sparse(x: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")  # whoever has a sparse matrix has imported it
    return sparse is not None and bool(sparse.issparse(x))


def _cast_scipy(x: Any, dst: Format) -> Any:
    """Cast what a sparse matrix stores; one without an array of values goes by way of coordinates."""
    if array_dtype(dst) == x.dtype:
        return x
    values = getattr(x, "data", None)
    result = x.copy() if isinstance(values, np.ndarray) and values.dtype == x.dtype else x.tocoo()
    result.data = _cast_array(result.data, dst)
    try:
        return result.asformat(x.format)
    except ValueError:  # scipy moves no values of float16, bfloat16 and narrower floats
        return result
