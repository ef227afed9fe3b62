"""What every loop looks like, and the parameters that it may read.

A loop turns n elements at src into n elements at dst: contiguous, aligned, native byte order.
It knows words and masks; which policy they stand for is known to `lutcast.plan` only.
"""

from libc.stdint cimport int64_t, uint64_t

cdef struct Params:
    # look-ups
    const void *table
    const void *pieces     # the same table in pieces that fit in registers, or NULL
    # rounding of the bits below the last place, as masks of all ones or zero
    uint64_t nearest       # add just below half of the last place
    uint64_t tie_even      # and 1 more where the place above is odd
    uint64_t tie_away      # and 1 more always
    uint64_t away[2]       # add just below the last place, by sign
    uint64_t odd           # set the last place where anything was lost
    int64_t direction      # the same for the floating-point unit, see fpu.h; -1: it cannot
    # the source: an IEEE float in a word
    uint64_t src_fraction_bits
    uint64_t src_sign_shift
    uint64_t src_infinity
    int64_t src_bias
    # the destination
    uint64_t dst_fraction_bits
    uint64_t dst_sign_shift
    int64_t dst_bias
    uint64_t max_code      # magnitude of the largest finite value
    uint64_t overflow[2]   # code of finite overflow, by sign
    uint64_t infinity[2]   # code of an infinity, by sign
    uint64_t nan           # code of the canonical NaN
    uint64_t nan_keep      # all ones: NaN stays NaN; zero: it becomes zero
    # integers
    uint64_t limit[2]      # largest magnitude, by sign
    uint64_t saturate      # all ones: what exceeds the limit becomes the limit; zero: it wraps
    int64_t low            # clamps of an integer source, in its own signedness
    int64_t high
    uint64_t mask          # bits of a destination code

ctypedef void (*Loop)(const void *src, void *dst, Py_ssize_t n, const Params *params) noexcept nogil
