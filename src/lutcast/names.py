"""From any name of a format, in any of the systems that users come from, to the format."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .formats import ALL, Format

# Our own case-sensitive names; np.dtype() is never asked, where "I8" and "float" mean other things.
NAMES = {f.name: f for f in ALL} | {alias: f for f in ALL for alias in f.aliases.values()}


def get_format(name: object, argument: str = "name") -> Format:
    """Return a format by name, dtype or type.

    Parameters
    ----------
    name : str, Format, numpy.dtype, type, torch.dtype or tensorflow.DType
        A canonical name; an alias of ONNX (``FLOAT8E4M3FN``), safetensors (``F8_E4M3``), torch
        (``torch.float8_e4m3fn``), TensorFlow or AscendC (``fp8_e4m3fn_t``, ``half``); or an
        object that stands for a dtype. Strings are case-sensitive: ``"float"`` is float32 and
        ``"double"`` float64, as in ONNX, TensorFlow and AscendC.
    argument : str
        How an error names the argument.

    Returns
    -------
    Format

    Raises
    ------
    TypeError
        It is no format.

    Examples
    --------
    >>> import lutcast
    >>> lutcast.get_format("BF16")
    <Format bfloat16>
    """
    if isinstance(name, Format):
        return name
    found = NAMES.get(name) if isinstance(name, str) else _format_of_object(name)
    if found is None:
        known = ", ".join(f.name for f in ALL)
        raise TypeError(f"{argument}: {name!r} is not a format; formats are {known}, and their aliases")
    return found


def _format_of_object(name: Any) -> Format | None:
    if isinstance(name, np.dtype):
        return format_of_dtype(name)
    if isinstance(name, type):
        try:
            return format_of_dtype(np.dtype(name))
        except TypeError:
            return None
    match type(name).__module__.partition(".")[0]:
        case "torch":
            return NAMES.get(str(name))
        case "tensorflow":
            return NAMES.get(getattr(name, "name", ""))
    return None


@cache
def format_of_dtype(dtype: np.dtype[Any]) -> Format | None:
    """Return the format of a dtype of NumPy, ml_dtypes or en_dtypes, in any byte order."""
    if dtype.fields is not None or dtype.subdtype is not None:
        return None
    found = NAMES.get(dtype.name)
    return found if found is not None and found.itemsize == dtype.itemsize else None


@cache
def dtype_of(fmt: Format) -> np.dtype[Any] | None:
    """Return the dtype of a format; None for hifloat8 and float4_e1m2fn, which travel as uint8 codes."""
    import ml_dtypes

    scalar = getattr(np, "bool" if fmt.kind == "bool" else fmt.name, None) or getattr(ml_dtypes, fmt.name, None)
    return None if scalar is None else np.dtype(scalar)


def array_dtype(fmt: Format) -> np.dtype[Any]:
    """Return the dtype of arrays of a format: its own, or that of its codes.

    Raises
    ------
    TypeError
        complex32 where the installed ml_dtypes does not have it.
    """
    dtype = dtype_of(fmt)
    if dtype is not None:
        return dtype
    if fmt.kind == "complex":
        raise TypeError(f"dtype: {fmt.name} needs a newer ml_dtypes")
    return np.dtype(f"u{fmt.itemsize}")
