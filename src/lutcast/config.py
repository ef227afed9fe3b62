"""What this installation is made of."""

from __future__ import annotations

import os
import sys
from typing import Any, Literal

import ml_dtypes
import numpy as np

from . import tables
from ._kernels import LOOPS, VARIANT, supported
from ._version import __version__


def show_config(mode: Literal["stdout", "dicts"] = "stdout") -> dict[str, Any] | None:
    """Show the compiled variants, the one in use, the table store and the versions.

    Parameters
    ----------
    mode : {"stdout", "dicts"}
        Print as JSON, or return as a dict, as ``numpy.show_config`` does.

    Returns
    -------
    dict or None

    Raises
    ------
    ValueError
        Another mode.

    Examples
    --------
    >>> import lutcast
    >>> "baseline" in lutcast.show_config("dicts")["kernels"]["variants"]
    True
    """
    resident, size = tables.loaded()
    config: dict[str, Any] = {
        "versions": {
            "lutcast": __version__,
            "numpy": np.__version__,
            "ml_dtypes": ml_dtypes.__version__,
            "python": sys.version.split()[0],
        },
        "kernels": {"variants": list(supported()), "in use": VARIANT, "loops": len(LOOPS)},
        "tables": {
            "distinct": tables.store().count,
            "store bytes": len(tables.store().data),
            "resident": resident,
            "resident bytes": size,
        },
    }
    if mode == "dicts":
        return config
    if mode != "stdout":
        raise ValueError(f"mode: {mode!r} is not one of 'stdout', 'dicts'")
    import json  # here, as importing lutcast should cost little

    print(json.dumps(config, indent=2))
    return None


def get_include() -> str:
    """Return the directory of ``lutcast.h``, the header of the C interface.

    Examples
    --------
    >>> import lutcast, pathlib
    >>> (pathlib.Path(lutcast.get_include()) / "lutcast.h").is_file()
    True
    """
    return os.path.join(os.path.dirname(__file__), "include")  # pathlib costs milliseconds of every import
