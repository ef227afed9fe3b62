"""Random codes that are the same for good."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..formats import Format

# Its raw stream is fixed by NumPy; what a Generator makes of it is not.
GENERATOR = "PCG64"
SEED = 754
COUNT = 1 << 16


def random_inputs(src: Format) -> Array:
    """Return random codes of a format, in the order in which they were drawn."""
    return np.random.PCG64(SEED).random_raw(COUNT).astype(f"u{src.itemsize}")
