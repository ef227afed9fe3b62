"""ONNX Cast, CastLike and Tile, bit for bit as the operators are specified.

`cast`, `cast_like` and `tile` need nothing but lutcast; `backend` and `ops` plug them into the
package ``onnx`` (extra ``[onnx]``) and are imported on first use.
"""

import importlib
from types import ModuleType

from .casting import cast, cast_like
from .tiling import tile

__all__ = ["cast", "cast_like", "tile"]

USING_ONNX = ("backend", "ops")


def __getattr__(name: str) -> ModuleType:
    if name in USING_ONNX:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
