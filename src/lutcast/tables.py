"""Tables at run time: opened lazily, inflated on first use under a lock, read-only ever after."""

from __future__ import annotations

import os
import threading
from functools import cache

import numpy as np

from . import exact
from .formats import FLOAT32, Format
from .policy import Policy
from .store import Reader, Table, code_dtype

STORE = "tables.bin"

_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    # A child must not inherit the lock from a thread that it does not have.
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_tables: dict[tuple[Format, Format, Policy], Table] = {}


@cache
def store() -> Reader:
    """Open the table store of the package."""
    from importlib import resources  # here, as importing lutcast should cost little

    return Reader(resources.files("lutcast").joinpath(STORE).read_bytes())


def codes(src: Format, dst: Format, policy: Policy) -> Table:
    """Return a table for the loops: an entry for every word that can hold a code of ``src``.

    Of a sub-byte source only the low bits of a byte count, so its table is repeated; a bool is
    true when its byte is not zero.

    Parameters
    ----------
    src : Format
        16 bits or fewer.
    dst : Format
        Any but complex from 8 bits or fewer; 16 bits or fewer, or float32, from 16 bits.
    policy : Policy

    Returns
    -------
    ndarray
        256 or 65,536 codes of ``dst``, unsigned and read-only.
    """
    key = (src, dst, policy)
    table = _tables.get(key)
    if table is None:
        with _lock:
            table = _tables.get(key)
            if table is None:
                table = _load(src, dst, policy)
                table.setflags(write=False)
                _tables[key] = table
    return table


def loaded() -> tuple[int, int]:
    """Return how many tables are resident, and their bytes."""
    tables = list(_tables.values())
    return len(tables), sum(table.nbytes for table in tables)


def _load(src: Format, dst: Format, policy: Policy) -> Table:
    if src is dst:
        table = np.arange(1 << src.bits, dtype=code_dtype(dst))
    elif dst.is_narrow or dst is FLOAT32:
        table = store().table(store().number(src, dst, policy), dst)
    else:
        values = [exact.cast_code(code, src, dst, policy) for code in range(1 << src.bits)]
        table = np.array(values, dtype=code_dtype(dst))
    if policy.nan == "zero" and src is not dst:
        table[_nan_codes(src)] = 0
    if src.kind == "bool":
        return np.append(table[:1], np.repeat(table[1:], 255))
    return np.tile(table, 256 // len(table)) if len(table) < 256 else table


@cache
def _nan_codes(src: Format) -> list[int]:
    if src.kind != "float":
        return []
    return [code for code in range(1 << src.bits) if exact.decode(code, src).kind == "nan"]
