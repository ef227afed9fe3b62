from typing import Any

from ..formats import Format

CAPSULE: Any
TILE: int

def packed_bits(fmt: Format) -> int: ...
