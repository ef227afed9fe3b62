"""Which casts a product has, in which modes: its table, as data."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple

from ..errors import UnsupportedCast
from .products import Product, parse_product
from .round_mode import RoundMode, parse_round_mode
from .types import parse_type

# In the table: with a scale set by SetDeqScale; the mode has no effect.
DEQ = "DEQ"


class Row(NamedTuple):
    """One line of a product's table.

    Attributes
    ----------
    product : Product
    src, dst : str
        Types by AscendC's names.
    round_modes : tuple of RoundMode
    needs_deq_scale : bool
        Whether a scale takes part; the mode then has no effect.
    """

    product: Product
    src: str
    dst: str
    round_modes: tuple[RoundMode, ...]
    needs_deq_scale: bool = False


def supported(product: object, src: object = None, dst: object = None) -> tuple[Row, ...] | tuple[RoundMode, ...]:
    """Return the casts that a product has.

    Parameters
    ----------
    product : Product or str
    src, dst : str, optional
        Only casts from or to a type.

    Returns
    -------
    tuple of Row or tuple of RoundMode
        The lines of the product's table; with both types, the modes of that cast, none where the
        product does not have it.

    Raises
    ------
    ValueError
        No such product.
    TypeError
        No such type.

    Examples
    --------
    >>> from lutcast.ascend import supported
    >>> [mode.name for mode in supported("950", "float", "hifloat8_t")]
    ['CAST_ROUND', 'CAST_HYBRID']
    >>> len(supported("A2"))
    25
    """
    chosen = parse_product(product)
    source = None if src is None else parse_type(src, "src")
    destination = None if dst is None else parse_type(dst, "dst")
    if source and destination:
        row = table().get((chosen, source, destination))
        return row.round_modes if row else ()
    return tuple(
        row
        for row in table().values()
        if row.product is chosen and source in (None, row.src) and destination in (None, row.dst)
    )


def find(product: Product, src: str, dst: str, mode: RoundMode) -> Row:
    """Return the line of a cast; UnsupportedCast where the product does not have it in that mode."""
    row = table().get((product, src, dst))
    if row is None:
        targets = ", ".join(r.dst for r in table().values() if (r.product, r.src) == (product, src))
        raise UnsupportedCast(
            f"product {product.value} has no Cast from {src} to {dst}; from {src} it casts to {targets or 'nothing'}"
        )
    if mode not in row.round_modes:
        modes = ", ".join(allowed.name for allowed in row.round_modes)
        raise UnsupportedCast(f"product {product.value} casts {src} to {dst} with {modes}, not with {mode.name}")
    return row


@cache
def table() -> dict[tuple[Product, str, str], Row]:
    """Read the tables of all products."""
    text = resources.files(__package__).joinpath("support.tsv").read_text(encoding="utf-8")
    rows = {}
    for line in csv.DictReader(text.splitlines(), delimiter="\t"):
        product, src, dst = Product(line["product"]), line["src"], line["dst"]
        modes = (
            tuple(RoundMode)
            if line["round_modes"] == DEQ
            else tuple(map(parse_round_mode, line["round_modes"].split()))
        )
        rows[product, src, dst] = Row(product, src, dst, modes, line["round_modes"] == DEQ)
    return rows
