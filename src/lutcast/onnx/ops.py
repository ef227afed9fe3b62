"""Cast, CastLike and Tile for ONNX's reference evaluator.

>>> import onnx.parser
>>> from onnx.reference import ReferenceEvaluator
>>> import lutcast.onnx, numpy as np
>>> model = onnx.parser.parse_model('''<ir_version: 11, opset_import: ["" : 24]>
...     f (float[N] x) => (float8e8m0[N] y) { y = Cast <to = 24, round_mode = "nearest"> (x) }''')
>>> evaluator = ReferenceEvaluator(model, new_ops=lutcast.onnx.ops.ALL)
>>> print(*evaluator.run(None, {"x": np.array([1.4, 1.5], np.float32)}))
[1 2]
"""

from __future__ import annotations

from typing import Any

try:
    from onnx.reference.op_run import OpRun
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("lutcast.onnx.ops needs the package onnx: pip install 'lutcast[onnx]'") from error

from ..arrays import Array
from .casting import cast, cast_like
from .tiling import tile


class Cast(OpRun):
    """The operator Cast, of every version."""

    def _run(self, x: Any, to: Any, saturate: int = 1, round_mode: str = "up") -> tuple[Array]:
        return (cast(x, to, saturate=saturate, round_mode=round_mode),)


class CastLike(OpRun):
    """The operator CastLike, of every version."""

    def _run(self, x: Any, target: Any, saturate: int = 1, round_mode: str = "up") -> tuple[Array]:
        return (cast_like(x, target, saturate=saturate, round_mode=round_mode),)


class Tile(OpRun):
    """The operator Tile, of version 6 and later."""

    def _run(self, x: Any, repeats: Any) -> tuple[Array]:
        return (tile(x, repeats),)


ALL = [Cast, CastLike, Tile]
