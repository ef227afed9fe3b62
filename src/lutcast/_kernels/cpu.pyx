"""What the processor can do."""

cdef extern from "cpu.h":
    bint has_v3 "lutcast_cpu_has_v3"()
    bint has_v4 "lutcast_cpu_has_v4"()


def supported():
    """Return the names of the kernel variants that this processor runs, slowest first."""
    return ("baseline",) + ("v3",) * has_v3() + ("v4",) * has_v4()
