from typing import Any, final

import numpy as np
from numpy.typing import NDArray

def export(
    array: NDArray[Any],
    element: tuple[int, int, int],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    flags: int,
    version: tuple[int, int] | None,
) -> object: ...
def read(
    capsule: object,
) -> tuple[int, int, tuple[int, int], tuple[int, int, int], tuple[int, ...], tuple[int, ...] | None, int | None]: ...
def consume(
    capsule: object,
    address: int,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    is_writable: bool,
) -> NDArray[Any]: ...
def array_at(
    address: int,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    owner: object,
) -> NDArray[Any]: ...

@final
class Owner: ...
