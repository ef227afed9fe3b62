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

cdef struct Chain:
    Stage stages[MAX_STAGES]
    int count
    Loop from_packed       # the same as the only stage, reading packed codes, or NULL
    Loop to_packed         # the same, writing them

cdef class Plan:
    cdef Chain chain
    cdef Py_ssize_t src_unit
    cdef Py_ssize_t dst_unit
    cdef readonly tuple tables

cdef Loop packer(int bits) noexcept nogil
cdef Loop unpacker(int bits) noexcept nogil
cdef void run(const Chain *chain, Ends *ends, Py_ssize_t start, Py_ssize_t stop) noexcept nogil
cdef void run_contiguous(
    const Chain *chain, const char *src, Py_ssize_t src_itemsize, int src_bits, char *dst, Py_ssize_t dst_itemsize,
    int dst_bits, Py_ssize_t n,
) noexcept nogil
cdef Params read_params(dict fields) except *
