"""`cast` and `cast_like`: the rules of ONNX as policies of the core.

Source: the texts of Cast and CastLike in ONNX 1.23; where they leave a result undefined, that of
the reference implementation (an integer out of range keeps its low bits).
"""

from __future__ import annotations

from typing import Any

from ..arrays import Array
from ..casting import cast as core_cast
from ..formats import (
    FLOAT8_E4M3FN,
    FLOAT8_E4M3FNUZ,
    FLOAT8_E5M2,
    FLOAT8_E5M2FNUZ,
    FLOAT8_E8M0FNU,
    Format,
)
from .number_to_string import number_to_string
from .string_to_number import string_to_number
from .types import ElementType, as_tensor, element_type, element_type_of
from .versions import check_opset, check_type, has_attribute

SATURATING = (FLOAT8_E4M3FN, FLOAT8_E4M3FNUZ, FLOAT8_E5M2, FLOAT8_E5M2FNUZ, FLOAT8_E8M0FNU)
OVERFLOW = {0: "ieee", 1: "saturate"}
ROUND_MODES = {"up": "away_from_zero", "down": "toward_zero", "nearest": "ties_to_away"}


def cast(x: object, to: object, *, saturate: int = 1, round_mode: str = "up", opset: int | None = None) -> Array:
    """Cast a tensor as the operator Cast does.

    Parameters
    ----------
    x : array_like or torch.Tensor
        Numbers, or strings in an array of str, bytes or objects.
    to : int, str or dtype
        The type of the result: its integer in ``TensorProto`` (10), its name there (``"FLOAT16"``)
        or in lutcast (``"float16"``), or a dtype. ``"STRING"``, ``"string"`` and ``str`` mean strings.
    saturate : {1, 0}
        For a result in float8: 1 turns infinity and values out of range into the largest finite
        value, 0 into infinity, or NaN where the type has no infinity.
    round_mode : {"up", "down", "nearest"}
        For a result in float8_e8m0fnu.
    opset : int, optional
        Only types that the operator takes in this version; attributes that it does not have yet
        are ignored. Default: the newest.

    Returns
    -------
    ndarray
        Of x's shape; an array of ``str`` objects for strings.

    Raises
    ------
    TypeError
        A type that the operator does not take, with the opset that brings it.
    ValueError
        A bad attribute or opset; a string that is no number, with its index.

    Examples
    --------
    >>> import lutcast.onnx, numpy as np
    >>> print(lutcast.onnx.cast(np.array([480, np.nan], np.float32), "FLOAT8E4M3FN", saturate=0))
    [nan nan]
    >>> lutcast.onnx.cast(np.array([300.0, -1.5]), "UINT8")
    array([ 44, 255], dtype=uint8)
    >>> lutcast.onnx.cast(["3.25", "-INF"], "FLOAT16")
    array([3.25, -inf], dtype=float16)
    """
    return _cast("Cast", x, element_type(to, "to"), "to", saturate, round_mode, opset)


def cast_like(
    x: object, target: object, *, saturate: int = 1, round_mode: str = "up", opset: int | None = None
) -> Array:
    """Cast a tensor to the type of another one, as the operator CastLike does.

    Parameters
    ----------
    x : array_like or torch.Tensor
    target : array_like or torch.Tensor
        Only the type of its elements matters; it may be empty.
    saturate, round_mode, opset
        As for `cast`; both attributes take effect.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError, ValueError
        As `cast`.

    Examples
    --------
    >>> import lutcast.onnx, numpy as np
    >>> lutcast.onnx.cast_like([1.5, 2.5], np.empty(0, np.float16))
    array([1.5, 2.5], dtype=float16)
    """
    return _cast("CastLike", x, element_type_of(target, "target"), "target", saturate, round_mode, opset)


def _cast(
    operator: str, x: object, target: ElementType, argument: str, saturate: int, round_mode: str, opset: int | None
) -> Array:
    version = check_opset(operator, opset)
    tensor, source = as_tensor(x, "x")
    check_type(operator, source, version, "x")
    check_type(operator, target, version, argument)
    overflow = _attribute("saturate", saturate, OVERFLOW, 1, version)
    rounding = _attribute("round_mode", round_mode, ROUND_MODES, "up", version)
    if isinstance(target, str):
        return tensor if isinstance(source, str) else number_to_string(tensor, source)
    if isinstance(source, str):
        tensor = string_to_number(tensor, target, "x")
    return core_cast(tensor, target, **_policy(target, overflow, rounding))


def _attribute(name: str, value: Any, allowed: dict[Any, str], default: Any, opset: int | None) -> str:
    if not has_attribute(name, opset):
        value = default
    if not isinstance(value, int | str) or value not in allowed:
        raise ValueError(f"{name}: {value!r} is not one of {', '.join(map(repr, allowed))}")
    return allowed[value]


def _policy(dst: Format, overflow: str, rounding: str) -> dict[str, Any]:
    if dst.kind == "int":
        return {"overflow": "wrap"}
    if dst is FLOAT8_E8M0FNU:
        return {"overflow": overflow, "rounding": rounding}
    return {"overflow": overflow} if dst in SATURATING else {}
