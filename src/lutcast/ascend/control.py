"""The control registers that decide about overflow and NaN."""

from __future__ import annotations

from dataclasses import dataclass

from .products import Product

# These saturate whatever the registers say.
ALWAYS_SATURATING = (Product.ASCEND_910, Product.ASCEND_310P, Product.ASCEND_310B)


@dataclass(frozen=True)
class Control:
    """The saturation registers; the defaults are their state after a reset.

    Attributes
    ----------
    saturate_float : bool
        CTRL[48]: what overflows in half, bfloat16_t, float8 and hifloat8_t becomes the largest
        finite value, and NaN becomes 0. Off: infinity and NaN.
    saturate_int : bool
        CTRL[59]: what overflows in an integer becomes the nearest one. Off: the low bits.
    keep_nan : bool
        CTRL[50], product 950 only: NaN stays NaN in float8 also when saturating.

    Examples
    --------
    >>> import lutcast.ascend, numpy as np
    >>> x = np.array([np.inf, np.nan], np.float32)
    >>> lutcast.ascend.cast(x, "half", "CAST_RINT", control=lutcast.ascend.Control(saturate_float=False))
    array([inf, nan], dtype=float16)
    """

    saturate_float: bool = True
    saturate_int: bool = True
    keep_nan: bool = False


def check_control(control: object, product: Product) -> Control:
    """Check that a product has such a state; ValueError otherwise."""
    if not isinstance(control, Control):
        raise ValueError(f"control: {control!r} given, a Control is needed")
    if product in ALWAYS_SATURATING and control != Control():
        raise ValueError(f"control: product {product.value} saturates always; only Control() is possible")
    if control.keep_nan and product is not Product.ASCEND_950:
        raise ValueError(f"control: keep_nan exists on product 950 only, not on {product.value}")
    return control
