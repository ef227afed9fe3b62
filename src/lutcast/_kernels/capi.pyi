from typing import Any

from ..formats import Format

CAPSULE: Any

def packed_bits(fmt: Format) -> int: ...
