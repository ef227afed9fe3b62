"""Golden tables for whoever verifies kernels, simulators and RTL: exact, complete, reproducible."""

from .vectors import Flags, Vectors, count, vectors

__all__ = ["Flags", "Vectors", "count", "vectors"]
