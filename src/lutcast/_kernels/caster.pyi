from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lutcast._kernels.pipeline import Plan
from lutcast.formats import Format
from lutcast.policy import Policy

def remember(
    caster: Caster,
    source: object,
    dtype: object,
    rounding: object,
    overflow: object,
    nan: object,
    packs: bool,
    unpacks: bool,
) -> None: ...
def run_at(caster: Caster, source: int, destination: int, n: int) -> bool: ...

@final
class Front:
    def __new__(cls, function: Callable[..., Any]) -> Front: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@final
class Caster:
    plan: Plan
    src: Format
    dst: Format
    policy: Policy
    def __new__(
        cls,
        plan: Plan,
        src: Format,
        dst: Format,
        policy: Policy,
        src_dtype: np.dtype[Any],
        dst_dtype: np.dtype[Any],
        careful: Callable[[Caster, object, NDArray[Any] | None, int], NDArray[Any]],
    ) -> Caster: ...
    def __call__(self, x: object, out: NDArray[Any] | None = None, threads: int = 1) -> NDArray[Any]: ...
