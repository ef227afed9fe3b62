"""The casts of a product as policies of the core, where they are nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..formats import Format
from ..policy import Rounding
from .control import Control
from .products import parse_product
from .support import table
from .types import TYPES
from .values import limits, rounding_of


def policies(product: object) -> Iterator[tuple[Format, Format, Rounding, Any, str]]:
    """Yield source, destination, rounding, overflow and nan of each cast, registers after a reset.

    Left out are casts with a scale, of complex numbers, and those that round to an integer and
    stay float.
    """
    chosen = parse_product(product)
    for row in table().values():
        src, dst = TYPES[row.src], TYPES[row.dst]
        if row.product is not chosen or row.needs_deq_scale or src.part or src is dst:
            continue
        rule = limits(row, Control())
        for rounding in dict.fromkeys(rounding_of(mode, chosen) for mode in row.round_modes):
            yield src, dst, rounding, rule.get("overflow"), rule.get("nan", "keep")
