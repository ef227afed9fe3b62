"""Exact, fast casts between number formats of tensors on the CPU, by tables.

See `cast`; the definition that everything is proven against is `lutcast.exact`.
The dialects `lutcast.onnx`, `lutcast.tf` and `lutcast.ascend`, and `lutcast.golden`, `lutcast.torch`
and `lutcast.weights`, are imported on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

from . import _interpreter  # noqa: F401  # before all else, as it refuses sub-interpreters
from ._kernels import Caster
from ._version import __version__
from .audit import Audit, audit
from .casting import cast, cast_like, caster, table
from .config import get_include, show_config
from .errors import UnsupportedCast
from .formats import Format, formats
from .integral import round_to_integral
from .names import get_format
from .packing import pack, unpack
from .policy import Overflow, Rounding
from .tiling import tile
from .warmup import warmup

if TYPE_CHECKING:
    from .dlpack import from_dlpack, to_dlpack

__all__ = [
    "Audit",
    "Caster",
    "Format",
    "Overflow",
    "Rounding",
    "UnsupportedCast",
    "__version__",
    "audit",
    "cast",
    "cast_like",
    "caster",
    "formats",
    "from_dlpack",
    "get_format",
    "get_include",
    "pack",
    "round_to_integral",
    "show_config",
    "table",
    "tile",
    "to_dlpack",
    "unpack",
    "warmup",
]

ON_FIRST_USE = ("ascend", "golden", "onnx", "tf", "torch", "weights")


def __getattr__(name: str) -> Any:
    if name in ON_FIRST_USE:
        return importlib.import_module(f".{name}", __name__)
    if name in ("from_dlpack", "to_dlpack"):
        return getattr(importlib.import_module(".dlpack", __name__), name)
    if name == "_C_API":
        from ._kernels.capi import CAPSULE

        return CAPSULE
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
