"""The one rounding step that all loops of bit code share."""

from libc.stdint cimport uint32_t, uint64_t

from lutcast._kernels.loop cimport Params

ctypedef fused word:
    uint32_t
    uint64_t


cdef inline word rounded_shift(word significand, word shift, word negative, const Params *p) noexcept nogil:
    """Shift right and round what falls off; shift is below the width of the word."""
    cdef word kept = significand >> shift
    cdef word low = (<word>1 << shift) - 1
    cdef word lost = significand & low
    cdef word add = ((low >> 1) & <word>p.nearest)
    add += low & 1 & ((kept & <word>p.tie_even) | <word>p.tie_away)
    add += low & (<word>p.away[1] if negative else <word>p.away[0])
    return (kept + ((lost + add) >> shift)) | (<word>(lost != 0) & <word>p.odd)
