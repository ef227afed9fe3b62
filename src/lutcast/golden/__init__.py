"""Golden tables for whoever verifies kernels, simulators and RTL: exact, complete, reproducible."""

from . import files, presets
from .check import CheckReport, check
from .suites import Golden, golden_of, write_suite
from .vectors import Flags, Vectors, count, vectors

__all__ = [
    "CheckReport",
    "Flags",
    "Golden",
    "Vectors",
    "check",
    "count",
    "files",
    "golden_of",
    "presets",
    "vectors",
    "write_suite",
]
