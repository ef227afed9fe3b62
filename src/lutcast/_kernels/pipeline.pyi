from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, final

from numpy.typing import NDArray

_Stage: TypeAlias = tuple[int, int, dict[str, Any], NDArray[Any] | None, NDArray[Any] | None]

__pyx_capi__: dict[str, Any]

def use_packing(loops: Mapping[str, int]) -> None: ...

@final
class Plan:
    tables: tuple[NDArray[Any], ...]
    def __init__(
        self, stages: Sequence[_Stage], src_unit: int, dst_unit: int, from_packed: int = 0, to_packed: int = 0
    ) -> None: ...
    def run(
        self, src: NDArray[Any], dst: NDArray[Any], start: int, stop: int, src_bits: int = 0, dst_bits: int = 0
    ) -> None: ...
