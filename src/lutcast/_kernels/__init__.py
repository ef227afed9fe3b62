"""Compiled loops in the variant that suits the processor, and the plans that chain them.

Each family of loops is one source, compiled once for each instruction set: ``baseline``; ``v3``
with AVX2, FMA and F16C; ``v4`` with AVX-512 and VBMI. All give the same bits. The environment variable
``LUTCAST_CPU`` names another variant than the best one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module, util
from typing import Any

import numpy as np

from .caster import Caster, Front, remember
from .cpu import supported
from .pipeline import Plan, use_packing

Array = np.ndarray[Any, np.dtype[Any]]

FAMILIES = ("lookup", "bitcode", "hardware", "parts", "pack")


def _choose() -> str:
    usable = [v for v in supported() if v == "baseline" or util.find_spec(f"{__name__}.lookup_{v}")]
    wanted = os.environ.get("LUTCAST_CPU") or usable[-1]
    if wanted not in usable:
        raise ImportError(f"LUTCAST_CPU: {wanted!r} is not one of {', '.join(usable)}, which this processor runs")
    return wanted


def load(family: str) -> Any:
    """Import the chosen variant of a family."""
    return import_module(f"{__name__}.{family}" + f"_{VARIANT}" * (VARIANT != "baseline"))


VARIANT = _choose()
_modules = [load(family) for family in FAMILIES]

# Address of each loop by name.
LOOPS: dict[str, int] = {name: address for module in _modules for name, address in module.LOOPS.items()}
USES_PIECES: bool = _modules[0].USES_PIECES
USES_F16C: bool = _modules[0].USES_F16C
USES_AVX512: bool = _modules[1].USES_AVX512

use_packing(LOOPS)
_tile = load("tile")
tile_into: Callable[[Array, tuple[int, ...], Array], None] = _tile.tile_into
TILE: int = _tile.TILE

__all__ = [
    "LOOPS",
    "TILE",
    "USES_AVX512",
    "USES_F16C",
    "USES_PIECES",
    "VARIANT",
    "Caster",
    "Front",
    "Plan",
    "load",
    "remember",
    "supported",
    "tile_into",
]
