"""Compiled loops, and the plans that chain them."""

from . import bitcode, lookup, parts
from .pipeline import Plan
from .tile import tile_into

# Address of each loop by name.
LOOPS: dict[str, int] = lookup.LOOPS | bitcode.LOOPS | parts.LOOPS

__all__ = ["LOOPS", "Plan", "tile_into"]
