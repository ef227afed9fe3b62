from collections.abc import Callable
from typing import Any, final

from numpy import dtype
from numpy.typing import NDArray

from lutcast._kernels.pipeline import Plan
from lutcast.formats import Format
from lutcast.policy import Policy

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
        src_dtype: dtype[Any],
        dst_dtype: dtype[Any],
        careful: Callable[[Caster, object, NDArray[Any] | None, int], NDArray[Any]],
    ) -> Caster: ...
    def __call__(self, x: object, out: NDArray[Any] | None = None, threads: int = 1) -> NDArray[Any]: ...
