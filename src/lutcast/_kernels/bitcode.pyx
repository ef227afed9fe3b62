"""Loops of branchless bit code, for sources that no table holds.

Integer arithmetic decides every bit in them, so nothing depends on the state of the
floating-point unit, which other libraries in a process change. Where the processor has vector
conversions that give the same bits, see convert.h, a loop lets them do whole vectors first, with
the control word set for them.
"""

from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t,
)
from libc.string cimport memcpy, memset

from lutcast._kernels.loop cimport Params
from lutcast._kernels.rounding cimport narrow_float, rounded_shift, word

cdef extern from "bits.h" nogil:
    uint64_t clz64 "lutcast_clz64"(uint64_t word)

cdef extern from "fpu.h" nogil:
    unsigned int fpu_enter "lutcast_fpu_enter"(int64_t direction)
    void fpu_leave "lutcast_fpu_leave"(unsigned int saved)

cdef extern from "convert.h" nogil:
    Py_ssize_t vector_float32_to_float16 "lutcast_vector_float32_to_float16"(
        const uint32_t *src, uint16_t *dst, Py_ssize_t n, uint64_t infinity, uint64_t nan_keep)
    const bint HAS_AVX512 "LUTCAST_HAS_AVX512"
    const int FLOAT32 "LUTCAST_FLOAT32"
    const int FLOAT64 "LUTCAST_FLOAT64"
    const int INT32 "LUTCAST_INT32"
    const int FLOAT16 "LUTCAST_FLOAT16"
    const int INT16 "LUTCAST_INT16"
    const int UINT16 "LUTCAST_UINT16"
    Py_ssize_t vector_to_float16 "lutcast_vector_to_float16"(
        const void *src, uint16_t *dst, Py_ssize_t n, int source, int64_t direction)
    Py_ssize_t vector_to_bfloat16 "lutcast_vector_to_bfloat16"(
        const void *src, uint16_t *dst, Py_ssize_t n, int source,
        uint32_t positive, uint32_t negative, uint32_t tie_even, uint32_t odd, uint32_t saturate, uint32_t nan_keep)
    Py_ssize_t vector_float32_to_float64 "lutcast_vector_float32_to_float64"(
        const uint32_t *src, uint64_t *dst, Py_ssize_t n)
    Py_ssize_t vector_16_to_float64 "lutcast_vector_16_to_float64"(
        const uint16_t *src, uint64_t *dst, Py_ssize_t n, int is_bfloat16)

cdef enum:
    TAIL = 32  # elements that every vector loop does at once

ctypedef fused float_word:
    uint32_t
    uint64_t

ctypedef fused wide:
    int32_t
    uint64_t

ctypedef fused integer:
    int8_t
    uint8_t
    int16_t
    uint16_t
    int32_t
    uint32_t
    int64_t
    uint64_t

ctypedef fused code:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


# ---------------------------------------------------------------- floats to narrower floats

cdef void float_to_float(const float_word *src, code *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef Params p = params[0]
    cdef Py_ssize_t i
    for i in range(n):
        dst[i] = <code>narrow_float[float_word](src[i], &p)


cdef void float32_to_float16(const uint32_t *src, uint16_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef Py_ssize_t done = 0
    cdef unsigned int saved
    if params.direction >= 0:
        saved = fpu_enter(params.direction)
        done = vector_float32_to_float16(src, dst, n, params.infinity[0], params.nan_keep)
        fpu_leave(saved)
    float_to_float[uint32_t, uint16_t](src + done, dst + done, n - done, params)


cdef Py_ssize_t cut_words(
    const void *src, uint16_t *dst, Py_ssize_t n, int source, const Params *p,
) noexcept nogil:
    """Let the vector unit round to bfloat16; return how many elements it did."""
    cdef uint32_t nearest = (0x7FFF & <uint32_t>p.nearest) + (1 & <uint32_t>p.tie_away)
    cdef unsigned int saved = fpu_enter(0)
    cdef Py_ssize_t done = vector_to_bfloat16(
        src, dst, n, source, nearest + (0xFFFF & <uint32_t>p.away[0]), nearest + (0xFFFF & <uint32_t>p.away[1]),
        <uint32_t>p.tie_even & 1, <uint32_t>p.odd, <uint32_t>(p.infinity[0] != 0x7F80), <uint32_t>p.nan_keep)
    fpu_leave(saved)
    return done


cdef void float32_to_bfloat16(const uint32_t *src, uint16_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    """Cut the word in two: the exponent is the same, so a carry into it is right."""
    cdef Params p = params[0]
    cdef uint32_t magnitude, negative, result
    cdef Py_ssize_t i
    for i in range(cut_words(src, dst, n, FLOAT32, params), n):
        negative = src[i] >> 31
        magnitude = src[i] & <uint32_t>0x7FFFFFFF
        result = rounded_shift[uint32_t](magnitude, 16, negative, &p)
        result = result | (negative << 15) if result < 0x7F80 else (
            <uint32_t>p.overflow[1] if negative else <uint32_t>p.overflow[0])
        result = result if magnitude != 0x7F800000 else (
            <uint32_t>p.infinity[1] if negative else <uint32_t>p.infinity[0])
        dst[i] = <uint16_t>(result if magnitude <= 0x7F800000 else (
            (src[i] >> 16) | <uint32_t>0x40) & <uint32_t>p.nan_keep)


cdef Py_ssize_t halves(const void *src, uint16_t *dst, Py_ssize_t n, int source, const Params *p) noexcept nogil:
    """Let the vector unit round to float16; return how many elements it did."""
    cdef Py_ssize_t done = 0
    cdef unsigned int saved
    if p.direction >= 0 and p.infinity[0] == 0x7C00 and p.nan_keep != 0:
        saved = fpu_enter(p.direction)
        done = vector_to_float16(src, dst, n, source, p.direction)
        fpu_leave(saved)
    return done


cdef void wide_to_bfloat16(const wide *src, uint16_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef Py_ssize_t done
    if wide is uint64_t:
        done = cut_words(src, dst, n, FLOAT64, params)
        float_to_float[uint64_t, uint16_t](src + done, dst + done, n - done, params)
    else:
        done = cut_words(src, dst, n, INT32, params)
        integer_to_float[int32_t, uint16_t](src + done, dst + done, n - done, params)


cdef void wide_to_float16(const wide *src, uint16_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef Py_ssize_t done
    if wide is uint64_t:
        done = halves(src, dst, n, FLOAT64, params)
        float_to_float[uint64_t, uint16_t](src + done, dst + done, n - done, params)
    else:
        done = halves(src, dst, n, INT32, params)
        integer_to_float[int32_t, uint16_t](src + done, dst + done, n - done, params)


cdef inline void narrow_to_bfloat16(
    const uint16_t *src, uint16_t *dst, Py_ssize_t n, int source, const Params *params,
) noexcept nogil:
    """From a format of 16 bits, by the vector unit alone: the rest of a range goes through a padded copy."""
    cdef uint16_t padded[TAIL]
    cdef Py_ssize_t done = cut_words(src, dst, n, source, params)
    if done < n:
        memset(padded, 0, sizeof(padded))
        memcpy(padded, src + done, (n - done) * sizeof(uint16_t))
        cut_words(padded, padded, TAIL, source, params)
        memcpy(dst + done, padded, (n - done) * sizeof(uint16_t))


cdef void float16_to_bfloat16(const uint16_t *src, uint16_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    narrow_to_bfloat16(src, dst, n, FLOAT16, params)


cdef void int16_to_bfloat16(const uint16_t *src, uint16_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    narrow_to_bfloat16(src, dst, n, INT16, params)


cdef void uint16_to_bfloat16(const uint16_t *src, uint16_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    narrow_to_bfloat16(src, dst, n, UINT16, params)


cdef inline void narrow_to_float64(const uint16_t *src, uint64_t *dst, Py_ssize_t n, bint is_bfloat16) noexcept nogil:
    """From float16 or bfloat16, by the vector unit alone, infinity and NaN kept."""
    cdef uint16_t padded[TAIL]
    cdef uint64_t results[TAIL]
    cdef unsigned int saved = fpu_enter(0)
    cdef Py_ssize_t done = vector_16_to_float64(src, dst, n, is_bfloat16)
    if done < n:
        memset(padded, 0, sizeof(padded))
        memcpy(padded, src + done, (n - done) * sizeof(uint16_t))
        vector_16_to_float64(padded, results, TAIL, is_bfloat16)
        memcpy(dst + done, results, (n - done) * sizeof(uint64_t))
    fpu_leave(saved)


cdef void float16_to_float64(const uint16_t *src, uint64_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    narrow_to_float64(src, dst, n, False)


cdef void bfloat16_to_float64(const uint16_t *src, uint64_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    narrow_to_float64(src, dst, n, True)


cdef void bfloat16_to_float32(const uint16_t *src, uint32_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef uint32_t wide
    cdef Py_ssize_t i
    for i in range(n):
        wide = <uint32_t>src[i] << 16
        dst[i] = wide | (<uint32_t>0x00400000 if (wide & <uint32_t>0x7FFFFFFF) > 0x7F800000 else 0)


cdef void float32_to_float64(const uint32_t *src, uint64_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    """Widen; a subnormal float32 is its fraction times 2**-149, exact in float64."""
    cdef uint64_t nan_keep = params.nan_keep
    cdef uint64_t infinity = params.infinity[0]
    cdef uint64_t magnitude, result
    cdef double subnormal
    cdef unsigned int saved
    cdef Py_ssize_t i, done = 0
    if infinity == <uint64_t>0x7FF0000000000000 and nan_keep != 0:
        saved = fpu_enter(0)
        done = vector_float32_to_float64(src, dst, n)
        fpu_leave(saved)
    for i in range(done, n):
        magnitude = src[i] & <uint32_t>0x7FFFFFFF
        subnormal = <double><int32_t>(src[i] & <uint32_t>0x007FFFFF) * 1.401298464324817e-45
        result = (magnitude << 29) + (<uint64_t>896 << 52)
        result = result if magnitude >= 0x00800000 else (<uint64_t *>&subnormal)[0]
        result = result if magnitude < 0x7F800000 else infinity
        result = result if magnitude <= 0x7F800000 else (magnitude << 29) | <uint64_t>0x7FF8000000000000
        result = result | (<uint64_t>(src[i] >> 31) << 63)
        dst[i] = result if magnitude <= 0x7F800000 else result & nan_keep


# ---------------------------------------------------------------- round to odd at bfloat16

cdef void odd_bfloat16(const uint32_t *src, uint16_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        dst[i] = <uint16_t>((src[i] >> 16) | <uint32_t>((src[i] & 0xFFFF) != 0))


cdef void hybrid_bfloat16(const uint32_t *src, uint16_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    """CAST_HYBRID to hifloat8, left as the bfloat16 that the table of ties_to_away finishes.

    Where HYBRID rules, the value is moved to the grid here: kept bits 2, 1 or 0 by exponent, the
    14 bits below them against the 14 lowest bits. Elsewhere it is rounded to odd.
    """
    cdef uint32_t magnitude, exponent, distance, drop, fraction, up, ruled, moved, significand
    cdef Py_ssize_t i
    for i in range(n):
        magnitude = src[i] & <uint32_t>0x7FFFFFFF
        exponent = magnitude >> 23  # biased: 127 is 2**0
        distance = exponent - 127 if exponent >= 127 else 127 - exponent
        ruled = <uint32_t>(distance >= 4) & <uint32_t>(exponent >= 104) & <uint32_t>(magnitude < 0x47200000)
        drop = 21 if distance < 8 else 22
        drop = drop if exponent >= 112 else 23
        drop = drop if exponent >= 105 else 24
        significand = (magnitude & 0x007FFFFF) | <uint32_t>0x00800000
        fraction = (significand & ((<uint32_t>1 << drop) - 1)) >> (drop - 14)
        up = <uint32_t>(fraction >= (magnitude & 0x3FFF))
        moved = ((magnitude >> drop) + up) << drop
        # At 2**-23 the lower neighbour is zero and the upper one 2**-22.
        moved = moved if exponent >= 105 else (<uint32_t>0x34800000 if up else 0)
        moved = (moved if ruled else magnitude) | (src[i] & <uint32_t>0x80000000)
        dst[i] = <uint16_t>((moved >> 16) | <uint32_t>((moved & 0xFFFF) != 0))


# ---------------------------------------------------------------- floats to integers

cdef inline word truncate_float(word source, const Params *p) noexcept nogil:
    cdef word fraction_bits = <word>p.src_fraction_bits
    cdef word infinity = <word>p.src_infinity
    cdef word negative = (source >> <word>p.src_sign_shift) & 1
    cdef word magnitude = source & ((<word>1 << <word>p.src_sign_shift) - 1)
    cdef word exponent = magnitude >> fraction_bits
    cdef word significand = (magnitude & ((<word>1 << fraction_bits) - 1)) | (
        <word>(exponent != 0) << fraction_bits)
    cdef word width = 8 * sizeof(word)
    cdef word at = exponent + (exponent == 0)
    cdef word unit = <word>p.src_bias + fraction_bits  # biased exponent at which the last bit is 1
    cdef word right = unit - at if at < unit else 0
    cdef word left = at - unit if at > unit else 0
    cdef word is_huge = <word>(left + fraction_bits + 1 > width)
    cdef word limit = <word>p.limit[1] if negative else <word>p.limit[0]
    cdef word result, is_over
    right = right if right < fraction_bits + 2 else fraction_bits + 2
    result = rounded_shift(significand, right, negative, p)
    result = result << (left if left < width else width - 1)
    result = result if left < width else 0
    is_over = (is_huge | <word>(result > limit)) & <word>p.saturate & 1
    is_over |= <word>(magnitude == infinity)
    result = limit if is_over else result
    result = 0 - result if negative else result
    return (result if magnitude <= infinity else 0) & <word>p.mask


cdef void float_to_integer(const float_word *src, code *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef Params p = params[0]
    cdef Py_ssize_t i
    for i in range(n):
        if code is uint64_t:
            dst[i] = <code>truncate_float[uint64_t](<uint64_t>src[i], &p)
        else:
            dst[i] = <code>truncate_float[float_word](src[i], &p)


# ---------------------------------------------------------------- integers

cdef void integer_to_float(const integer *src, code *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef Params p = params[0]
    cdef uint64_t magnitude, negative, zeros, result
    cdef Py_ssize_t i
    for i in range(n):
        negative = 0
        magnitude = <uint64_t>src[i]
        if integer is int8_t or integer is int16_t or integer is int32_t or integer is int64_t:
            negative = <uint64_t>(src[i] < 0)
            magnitude = 0 - magnitude if negative else magnitude
        zeros = clz64(magnitude | 1)
        # The leading bit, at the top of the word, carries into the exponent and completes it.
        result = (<uint64_t>(62 - <int64_t>zeros + p.dst_bias) << p.dst_fraction_bits) + rounded_shift[uint64_t](
            magnitude << zeros, 63 - p.dst_fraction_bits, negative, &p)
        result = result | (negative << p.dst_sign_shift) if result <= p.max_code else (
            p.overflow[1] if negative else p.overflow[0])
        dst[i] = <code>(result if magnitude else 0)


cdef void integer_to_integer(const integer *src, code *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef integer low = <integer>params.low
    cdef integer high = <integer>params.high
    cdef code mask = <code>params.mask
    cdef integer clamped
    cdef Py_ssize_t i
    for i in range(n):
        clamped = src[i] if src[i] > low else low
        clamped = clamped if clamped < high else high
        dst[i] = <code>clamped & mask


cdef void to_bool(const float_word *src, uint8_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef float_word mask = <float_word>params.mask
    # Where NaN becomes zero the largest magnitude that is true is infinity.
    cdef float_word largest = <float_word>params.max_code
    cdef float_word magnitude
    cdef Py_ssize_t i
    for i in range(n):
        magnitude = src[i] & mask
        dst[i] = <uint8_t>(magnitude != 0) & <uint8_t>(magnitude <= largest)


# ---------------------------------------------------------------- floats to integral floats

cdef inline word integral(word source, const Params *p) noexcept nogil:
    cdef word fraction_bits = <word>p.src_fraction_bits
    cdef word infinity = <word>p.src_infinity
    cdef word sign = source & (<word>1 << <word>p.src_sign_shift)
    cdef word negative = <word>(sign != 0)
    cdef word magnitude = source & ((<word>1 << <word>p.src_sign_shift) - 1)
    cdef word exponent = magnitude >> fraction_bits
    cdef word one = <word>p.src_bias << fraction_bits
    cdef word unit = <word>p.src_bias + fraction_bits
    cdef word significand = (magnitude & ((<word>1 << fraction_bits) - 1)) | (
        <word>(exponent != 0) << fraction_bits)
    cdef word at = exponent + (exponent == 0)
    cdef word shift = unit - at if at < unit else 0
    cdef word small, large
    # Below 1 the result is 0 or 1. Above, the bias is odd, so the exponent's last bit stands
    # for the hidden one and a carry into the exponent is right.
    small = shift if shift < fraction_bits + 2 else fraction_bits + 2
    small = one if rounded_shift(significand, small, negative, p) else 0
    shift = shift if shift <= fraction_bits else 0
    large = rounded_shift(magnitude, shift, negative, p) << shift
    large = large if magnitude <= infinity else magnitude | (<word>1 << (fraction_bits - 1))
    return sign | (small if magnitude < one else large)


cdef void round_to_integral(const code *src, code *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef Params p = params[0]
    cdef Py_ssize_t i
    for i in range(n):
        if code is uint64_t:
            dst[i] = <code>integral[uint64_t](src[i], &p)
        else:
            dst[i] = <code>integral[uint32_t](src[i], &p)


LOOPS = {
    "float32_to_float16": <uintptr_t>&float32_to_float16,
    "float32_to_bfloat16": <uintptr_t>&float32_to_bfloat16,
    "bfloat16_to_float32": <uintptr_t>&bfloat16_to_float32,
    "float32_to_float64": <uintptr_t>&float32_to_float64,
    "float64_to_float16": <uintptr_t>&wide_to_float16[uint64_t],
    "float64_to_bfloat16": <uintptr_t>&wide_to_bfloat16[uint64_t],
    "float_to_float_64_32": <uintptr_t>&float_to_float[uint64_t, uint32_t],
    "odd_bfloat16": <uintptr_t>&odd_bfloat16,
    "hybrid_bfloat16": <uintptr_t>&hybrid_bfloat16,
    "float_to_integer_32_8": <uintptr_t>&float_to_integer[uint32_t, uint8_t],
    "float_to_integer_32_16": <uintptr_t>&float_to_integer[uint32_t, uint16_t],
    "float_to_integer_32_32": <uintptr_t>&float_to_integer[uint32_t, uint32_t],
    "float_to_integer_32_64": <uintptr_t>&float_to_integer[uint32_t, uint64_t],
    "float_to_integer_64_8": <uintptr_t>&float_to_integer[uint64_t, uint8_t],
    "float_to_integer_64_16": <uintptr_t>&float_to_integer[uint64_t, uint16_t],
    "float_to_integer_64_32": <uintptr_t>&float_to_integer[uint64_t, uint32_t],
    "float_to_integer_64_64": <uintptr_t>&float_to_integer[uint64_t, uint64_t],
    "int16_to_float_64": <uintptr_t>&integer_to_float[int16_t, uint64_t],
    "uint16_to_float_64": <uintptr_t>&integer_to_float[uint16_t, uint64_t],
    "int32_to_float16": <uintptr_t>&wide_to_float16[int32_t],
    "int32_to_bfloat16": <uintptr_t>&wide_to_bfloat16[int32_t],
    "int32_to_float_32": <uintptr_t>&integer_to_float[int32_t, uint32_t],
    "int32_to_float_64": <uintptr_t>&integer_to_float[int32_t, uint64_t],
    "uint32_to_float_16": <uintptr_t>&integer_to_float[uint32_t, uint16_t],
    "uint32_to_float_32": <uintptr_t>&integer_to_float[uint32_t, uint32_t],
    "uint32_to_float_64": <uintptr_t>&integer_to_float[uint32_t, uint64_t],
    "int64_to_float_16": <uintptr_t>&integer_to_float[int64_t, uint16_t],
    "int64_to_float_32": <uintptr_t>&integer_to_float[int64_t, uint32_t],
    "int64_to_float_64": <uintptr_t>&integer_to_float[int64_t, uint64_t],
    "uint64_to_float_16": <uintptr_t>&integer_to_float[uint64_t, uint16_t],
    "uint64_to_float_32": <uintptr_t>&integer_to_float[uint64_t, uint32_t],
    "uint64_to_float_64": <uintptr_t>&integer_to_float[uint64_t, uint64_t],
    "int8_to_integer_16": <uintptr_t>&integer_to_integer[int8_t, uint16_t],
    "int8_to_integer_32": <uintptr_t>&integer_to_integer[int8_t, uint32_t],
    "int8_to_integer_64": <uintptr_t>&integer_to_integer[int8_t, uint64_t],
    "uint8_to_integer_16": <uintptr_t>&integer_to_integer[uint8_t, uint16_t],
    "uint8_to_integer_32": <uintptr_t>&integer_to_integer[uint8_t, uint32_t],
    "uint8_to_integer_64": <uintptr_t>&integer_to_integer[uint8_t, uint64_t],
    "int16_to_integer_8": <uintptr_t>&integer_to_integer[int16_t, uint8_t],
    "int16_to_integer_16": <uintptr_t>&integer_to_integer[int16_t, uint16_t],
    "int16_to_integer_32": <uintptr_t>&integer_to_integer[int16_t, uint32_t],
    "int16_to_integer_64": <uintptr_t>&integer_to_integer[int16_t, uint64_t],
    "uint16_to_integer_8": <uintptr_t>&integer_to_integer[uint16_t, uint8_t],
    "uint16_to_integer_16": <uintptr_t>&integer_to_integer[uint16_t, uint16_t],
    "uint16_to_integer_32": <uintptr_t>&integer_to_integer[uint16_t, uint32_t],
    "uint16_to_integer_64": <uintptr_t>&integer_to_integer[uint16_t, uint64_t],
    "int32_to_integer_8": <uintptr_t>&integer_to_integer[int32_t, uint8_t],
    "int32_to_integer_16": <uintptr_t>&integer_to_integer[int32_t, uint16_t],
    "int32_to_integer_32": <uintptr_t>&integer_to_integer[int32_t, uint32_t],
    "int32_to_integer_64": <uintptr_t>&integer_to_integer[int32_t, uint64_t],
    "uint32_to_integer_8": <uintptr_t>&integer_to_integer[uint32_t, uint8_t],
    "uint32_to_integer_16": <uintptr_t>&integer_to_integer[uint32_t, uint16_t],
    "uint32_to_integer_32": <uintptr_t>&integer_to_integer[uint32_t, uint32_t],
    "uint32_to_integer_64": <uintptr_t>&integer_to_integer[uint32_t, uint64_t],
    "int64_to_integer_8": <uintptr_t>&integer_to_integer[int64_t, uint8_t],
    "int64_to_integer_16": <uintptr_t>&integer_to_integer[int64_t, uint16_t],
    "int64_to_integer_32": <uintptr_t>&integer_to_integer[int64_t, uint32_t],
    "int64_to_integer_64": <uintptr_t>&integer_to_integer[int64_t, uint64_t],
    "uint64_to_integer_8": <uintptr_t>&integer_to_integer[uint64_t, uint8_t],
    "uint64_to_integer_16": <uintptr_t>&integer_to_integer[uint64_t, uint16_t],
    "uint64_to_integer_32": <uintptr_t>&integer_to_integer[uint64_t, uint32_t],
    "uint64_to_integer_64": <uintptr_t>&integer_to_integer[uint64_t, uint64_t],
    "bool_32": <uintptr_t>&to_bool[uint32_t],
    "bool_64": <uintptr_t>&to_bool[uint64_t],
    "integral_16": <uintptr_t>&round_to_integral[uint16_t],
    "integral_32": <uintptr_t>&round_to_integral[uint32_t],
    "integral_64": <uintptr_t>&round_to_integral[uint64_t],
}
if HAS_AVX512:
    LOOPS |= {
        "float16_to_bfloat16": <uintptr_t>&float16_to_bfloat16,
        "int16_to_bfloat16": <uintptr_t>&int16_to_bfloat16,
        "uint16_to_bfloat16": <uintptr_t>&uint16_to_bfloat16,
        "float16_to_float64": <uintptr_t>&float16_to_float64,
        "bfloat16_to_float64": <uintptr_t>&bfloat16_to_float64,
    }

# Whether float64 and int32 reach 16-bit floats faster in one loop than by way of float32, rounded to odd.
USES_AVX512 = bool(HAS_AVX512)
