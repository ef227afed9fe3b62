"""Plans, for the compiled callers of this package."""

from lutcast._kernels.loop cimport Loop, Params
from lutcast._kernels.walk cimport Walk

cdef enum:
    MAX_STAGES = 4
    ENOUGH_TO_RELEASE = 2048  # elements for which releasing the GIL pays

cdef struct Stage:
    Loop loop
    Py_ssize_t parts       # loop elements for each element of the cast
    Params params

cdef struct Ends:
    Walk src
    Walk dst
    int src_bits           # of a packed side, 0 where elements take whole bytes
    int dst_bits

cdef class Plan:
    cdef Stage stages[MAX_STAGES]
    cdef int count
    cdef Py_ssize_t src_unit
    cdef Py_ssize_t dst_unit
    cdef readonly tuple tables

cdef void run_contiguous(
    const Stage *stages, int count, const char *src, Py_ssize_t src_itemsize, char *dst, Py_ssize_t dst_itemsize,
    Py_ssize_t n,
) noexcept nogil
cdef Params read_params(dict fields) except *
