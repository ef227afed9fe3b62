"""The rounding steps that loops of bit code share."""

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


cdef inline word narrow_float(word source, const Params *p) noexcept nogil:
    """Round an IEEE float to a narrower one."""
    cdef word fraction_bits = <word>p.src_fraction_bits
    cdef word drop = fraction_bits - <word>p.dst_fraction_bits
    cdef word infinity = <word>p.src_infinity
    cdef word negative = source >> <word>p.src_sign_shift
    cdef word magnitude = source & ((<word>1 << <word>p.src_sign_shift) - 1)
    cdef word exponent = magnitude >> fraction_bits
    cdef word fraction = magnitude & ((<word>1 << fraction_bits) - 1)
    cdef word significand = fraction | (<word>(exponent != 0) << fraction_bits)
    # Biased exponents below `first` are subnormal in the destination and lose more bits.
    cdef word first = <word>(p.src_bias - p.dst_bias + 1)
    cdef word at = exponent + (exponent == 0)
    cdef word below = first - at if at < first else 0
    cdef word field = 0 if at < first else at - first
    cdef word shift = drop + below
    cdef word result
    # Shifted by two more than its width a significand is below half of the last place.
    shift = shift if shift < fraction_bits + 2 else fraction_bits + 2
    result = (field << <word>p.dst_fraction_bits) + rounded_shift(significand, shift, negative, p)
    result = result | (negative << <word>p.dst_sign_shift) if result <= <word>p.max_code else (
        <word>p.overflow[1] if negative else <word>p.overflow[0])
    result = result if magnitude < infinity else (
        <word>p.infinity[1] if negative else <word>p.infinity[0])
    return result if magnitude <= infinity else (
        ((fraction >> drop) | <word>p.nan | (negative << <word>p.dst_sign_shift)) & <word>p.nan_keep)
