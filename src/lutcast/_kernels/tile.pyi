from typing import Any

from numpy.typing import NDArray

def tile_into(src: NDArray[Any], repeats: tuple[int, ...], dst: NDArray[Any]) -> None: ...

TILE: int
