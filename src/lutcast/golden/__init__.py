"""Golden tables for whoever verifies kernels, simulators and RTL: exact, complete, reproducible."""

from . import files, presets
from .check import CheckReport, check
from .explain import Explanation, explain
from .suites import Golden, golden_of, write_suite
from .vectors import Flags, Vectors, count, vectors
from .verify import Cause, Mismatch, Verdict, verify

__all__ = [
    "Cause",
    "CheckReport",
    "Explanation",
    "Flags",
    "Golden",
    "Mismatch",
    "Vectors",
    "Verdict",
    "check",
    "count",
    "explain",
    "files",
    "golden_of",
    "presets",
    "vectors",
    "verify",
    "write_suite",
]
