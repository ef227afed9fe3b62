from typing import Any

from numpy.typing import NDArray

COUNTS: tuple[str, ...]
SUMS: tuple[str, ...]

def measure(
    values: NDArray[Any],
    quotients: NDArray[Any],
    results: NDArray[Any],
    scales: NDArray[Any],
    quanta: NDArray[Any],
    smallest: int,
    shift: int,
    high: float,
    low: float,
    clamps: bool,
    counts: NDArray[Any],
    sums: NDArray[Any],
) -> None: ...
