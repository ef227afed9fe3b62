"""AscendC ``Cast`` on CPUs, bit for bit: six products, eight rounding modes, HiFloat8, 4-bit types, slicing.

Source: the AscendC documentation of Cast, with its slips mended (see docs/ascend.md).
"""

from .control import Control
from .instruction import Cast
from .local_tensor import LocalTensor
from .products import Product
from .registers import MASK_PLACEHOLDER, set_deq_scale, set_vector_mask
from .round_mode import RoundMode
from .slicing import UnaryRepeatParams
from .support import Row, supported
from .values import cast

__all__ = [
    "MASK_PLACEHOLDER",
    "Cast",
    "Control",
    "LocalTensor",
    "Product",
    "RoundMode",
    "Row",
    "UnaryRepeatParams",
    "cast",
    "set_deq_scale",
    "set_vector_mask",
    "supported",
]
