"""`warmup`: what a first cast pays, paid at start-up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .casting import cast
from .names import array_dtype, dtype_of, get_format
from .policy import resolve

DEFAULTS: dict[str, Any] = {"rounding": None, "overflow": None, "nan": "keep"}


def warmup(casts: Iterable[Sequence[Any]]) -> int:
    """Build plans and load their tables, so that first requests do not.

    Parameters
    ----------
    casts : iterable of (src, dst) or (src, dst, options)
        Formats, and a dict of ``rounding``, ``overflow`` and ``nan`` as for `cast`.

    Returns
    -------
    int
        The number of plans: casts that differ in a format or in what their policy means.

    Raises
    ------
    TypeError
        No such format.
    ValueError
        Something else than such a tuple, another option, or a bad policy.

    Notes
    -----
    A later call of `cast` is fastest where it spells the destination and the policy in the same
    way. Plans and tables are there for every spelling, for `caster`, and for the C interface.

    Examples
    --------
    >>> import lutcast
    >>> lutcast.warmup([("float32", "bfloat16"), ("bfloat16", "float8_e4m3fn", {"overflow": "ieee"})])
    2
    """
    plans = set()
    for index, item in enumerate(casts):
        src, dst, options = _parts(item, f"casts[{index}]")
        source, destination = get_format(src, f"casts[{index}] src"), get_format(dst, f"casts[{index}] dst")
        dtype = array_dtype(source)
        codes = None if dtype_of(source) else source
        # A cast of nothing takes every step of a real one.
        cast(np.empty(0, dtype), dst, src=codes, **options)
        plans.add((source, destination, resolve(source, destination, **{**DEFAULTS, **options})))
    return len(plans)


def _parts(item: object, argument: str) -> tuple[Any, Any, Mapping[str, Any]]:
    if not isinstance(item, (tuple, list)) or len(item) not in (2, 3):
        raise ValueError(f"{argument}: {item!r} given; (src, dst) or (src, dst, options) is needed")
    options = item[2] if len(item) == 3 else {}
    if not isinstance(options, Mapping):
        raise ValueError(f"{argument}: options {options!r} given; a dict of {', '.join(DEFAULTS)} is needed")
    for name in options:
        if name not in DEFAULTS:
            raise ValueError(f"{argument}: option {name!r} given; options are {', '.join(DEFAULTS)}")
    return item[0], item[1], options
