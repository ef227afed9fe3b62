"""Loops in which the floating-point unit rounds, where its result is exactly the definition's.

Each sets the control word for its run and restores it, see fpu.h. They exist where that is
possible; everywhere else, and for what the unit has no mode for, plans use bit code.
"""

from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t,
)

from lutcast._kernels.loop cimport Params

cdef extern from "fpu.h" nogil:
    const bint HAS_FPU "LUTCAST_HAS_FPU"
    unsigned int fpu_enter "lutcast_fpu_enter"(int64_t direction)
    void fpu_leave "lutcast_fpu_leave"(unsigned int saved)
    uint32_t float_bits "lutcast_float_bits"(float value)
    float bits_float "lutcast_bits_float"(uint32_t bits)
    uint64_t double_bits "lutcast_double_bits"(double value)

cdef extern from "convert.h" nogil:
    Py_ssize_t vector_float32_to_int "lutcast_vector_float32_to_int"(
        const float *src, void *dst, int width, Py_ssize_t n, float low, float high, int32_t most, int32_t mask)
    Py_ssize_t vector_bfloat16_to_int "lutcast_vector_bfloat16_to_int"(
        const uint16_t *src, void *dst, int width, Py_ssize_t n, float low, float high, int32_t most, int32_t mask)
    Py_ssize_t vector_float64_to_int "lutcast_vector_float64_to_int"(
        const double *src, void *dst, int width, Py_ssize_t n, double low, double high, int32_t mask)
    Py_ssize_t vector_float32_to_int64 "lutcast_vector_float32_to_int64"(
        const float *src, void *dst, int width, Py_ssize_t n, double low, double high, int64_t most)
    Py_ssize_t vector_float64_to_int64 "lutcast_vector_float64_to_int64"(
        const double *src, void *dst, int width, Py_ssize_t n, double low, double high, int64_t most)
    Py_ssize_t vector_float64_to_float32 "lutcast_vector_float64_to_float32"(
        const double *src, uint32_t *dst, Py_ssize_t n, uint32_t change, uint32_t nan_keep)
    Py_ssize_t vector_int64_to_float32 "lutcast_vector_int64_to_float32"(
        const int64_t *src, uint32_t *dst, Py_ssize_t n)
    Py_ssize_t vector_integer_to_float64 "lutcast_vector_integer_to_float64"(
        const void *src, uint64_t *dst, Py_ssize_t n, int size, bint is_signed)

cdef enum:
    TIES_TO_EVEN = 0
    TOWARD_ZERO = 3

ctypedef fused number:
    int8_t
    uint8_t
    int16_t
    uint16_t
    int32_t
    uint32_t
    int64_t

ctypedef fused wide_number:
    int32_t
    uint32_t
    int64_t
    double

ctypedef fused code:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused real:
    float
    double

ctypedef fused whole:
    int32_t
    int64_t


# ---------------------------------------------------------------- to float32 and float64

cdef void float64_to_float32(const double *src, uint32_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef uint32_t change = 0x7F800000 ^ <uint32_t>params.infinity[0]
    cdef uint32_t nan_keep = <uint32_t>params.nan_keep
    cdef uint32_t bits, magnitude
    cdef unsigned int saved = fpu_enter(params.direction)
    cdef Py_ssize_t i
    for i in range(vector_float64_to_float32(src, dst, n, change, nan_keep), n):
        bits = float_bits(<float>src[i])
        magnitude = bits & <uint32_t>0x7FFFFFFF
        bits = bits ^ (change if magnitude == 0x7F800000 else 0)
        dst[i] = bits & nan_keep if magnitude > 0x7F800000 else bits
    fpu_leave(saved)


cdef void integer_to_float32(const number *src, uint32_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef unsigned int saved = fpu_enter(params.direction)
    cdef Py_ssize_t i, done = 0
    if number is int64_t:
        done = vector_int64_to_float32(src, dst, n)
    for i in range(done, n):
        if number is uint32_t:
            # Compilers take this apart into sums, which toward negative make -0 of 0.
            dst[i] = float_bits(<float><int64_t>src[i]) if src[i] else 0
        else:
            dst[i] = float_bits(<float>src[i])
    fpu_leave(saved)


cdef void integer_to_float64(const number *src, uint64_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    cdef unsigned int saved = fpu_enter(params.direction)
    cdef Py_ssize_t i
    for i in range(vector_integer_to_float64(src, dst, n, sizeof(number), <number>-1 < 0), n):
        if number is uint32_t:
            dst[i] = double_bits(<double><int64_t>src[i]) if src[i] else 0
        else:
            dst[i] = double_bits(<double>src[i])
    fpu_leave(saved)


# ---------------------------------------------------------------- round to odd at float32

cdef void odd_float32(const wide_number *src, uint32_t *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    """Toward zero, then the last bit set where converting back gives another value.

    For a NaN it never gives the same value, which sets a payload bit that no narrower float keeps.
    """
    cdef float narrow
    cdef unsigned int saved = fpu_enter(TOWARD_ZERO)
    cdef Py_ssize_t i
    for i in range(n):
        if wide_number is uint32_t:
            narrow = <float><int64_t>src[i]
            dst[i] = float_bits(narrow) | <uint32_t>(<int64_t>narrow != <int64_t>src[i])
        else:
            narrow = <float>src[i]
            dst[i] = float_bits(narrow) | <uint32_t>(<wide_number>narrow != src[i])
    fpu_leave(saved)


# ---------------------------------------------------------------- floats to integers

cdef inline whole rounded(real source, real low, real high, whole most, const Params *p) noexcept nogil:
    """Clamp, then round. ``high`` is ``most``, or the largest float below where no float is ``most``."""
    cdef real clamped = source if source > low else low
    cdef real lost
    cdef whole result, up, is_odd
    clamped = clamped if clamped < high else high
    result = <whole>clamped
    lost = clamped - <real>result
    lost = lost if lost >= 0 else -lost
    is_odd = result & 1
    up = <whole>(lost > 0.5) & <whole>p.nearest
    up |= <whole>(lost == 0.5) & ((is_odd & <whole>p.tie_even) | <whole>p.tie_away)
    up |= <whole>(lost > 0) & (<whole>p.away[1] if source < 0 else <whole>p.away[0])
    up |= <whole>(lost > 0) & (is_odd ^ 1) & <whole>p.odd
    up &= 1
    result = result - up if source < 0 else result + up
    result = most if source > high else result
    return result if source == source else 0


cdef void real_to_int32(const real *src, code *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    """Through int32: to its formats and all narrower ones."""
    cdef Params p = params[0]
    cdef unsigned int saved = fpu_enter(p.direction if p.direction >= 0 else TIES_TO_EVEN)
    cdef int32_t most = <int32_t>p.high
    cdef code mask = <code>p.mask
    cdef real low = <real>p.low
    cdef real high = <real>most
    cdef Py_ssize_t i, done = 0
    if real is float:
        high = high if high < 2147483520.0 else <float>2147483520.0
    if p.direction >= 0:
        if real is float:
            done = vector_float32_to_int(src, dst, sizeof(code), n, low, high, most, <int32_t>mask)
        else:
            done = vector_float64_to_int(src, dst, sizeof(code), n, low, high, <int32_t>mask)
    for i in range(done, n):
        dst[i] = <code>rounded[real, int32_t](src[i], low, high, most, &p) & mask
    fpu_leave(saved)


cdef void bfloat16_to_int32(const uint16_t *src, code *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    """Widen to float32 and go on as that."""
    cdef Params p = params[0]
    cdef unsigned int saved = fpu_enter(p.direction if p.direction >= 0 else TIES_TO_EVEN)
    cdef code mask = <code>p.mask
    cdef float low = <float>p.low
    cdef float high = <float>p.high
    cdef Py_ssize_t i, done = 0
    high = high if high < 2147483520.0 else <float>2147483520.0
    if p.direction >= 0:
        done = vector_bfloat16_to_int(src, dst, sizeof(code), n, low, high, <int32_t>p.high, <int32_t>mask)
    for i in range(done, n):
        dst[i] = <code>rounded[float, int32_t](
            bits_float(<uint32_t>src[i] << 16), low, high, <int32_t>p.high, &p) & mask
    fpu_leave(saved)


cdef void real_to_int64(const real *src, code *dst, Py_ssize_t n, const Params *params) noexcept nogil:
    """Through int64: to its format and uint32."""
    cdef Params p = params[0]
    cdef unsigned int saved = fpu_enter(p.direction if p.direction >= 0 else TIES_TO_EVEN)
    cdef code mask = <code>p.mask
    cdef double low = <double>p.low
    cdef double high = <double>p.high
    cdef Py_ssize_t i, done = 0
    high = high if high < 9223372036854774784.0 else 9223372036854774784.0
    if p.direction >= 0:
        if real is float:
            done = vector_float32_to_int64(src, dst, sizeof(code), n, low, high, p.high)
        else:
            done = vector_float64_to_int64(src, dst, sizeof(code), n, low, high, p.high)
    for i in range(done, n):
        dst[i] = <code>rounded[double, int64_t](<double>src[i], low, high, p.high, &p) & mask
    fpu_leave(saved)


LOOPS = {
    "float64_to_float32": <uintptr_t>&float64_to_float32,
    "int16_to_float32": <uintptr_t>&integer_to_float32[int16_t],
    "uint16_to_float32": <uintptr_t>&integer_to_float32[uint16_t],
    "int32_to_float32": <uintptr_t>&integer_to_float32[int32_t],
    "uint32_to_float32": <uintptr_t>&integer_to_float32[uint32_t],
    "int64_to_float32": <uintptr_t>&integer_to_float32[int64_t],
    "int8_to_float64": <uintptr_t>&integer_to_float64[int8_t],
    "uint8_to_float64": <uintptr_t>&integer_to_float64[uint8_t],
    "int16_to_float64": <uintptr_t>&integer_to_float64[int16_t],
    "uint16_to_float64": <uintptr_t>&integer_to_float64[uint16_t],
    "int32_to_float64": <uintptr_t>&integer_to_float64[int32_t],
    "uint32_to_float64": <uintptr_t>&integer_to_float64[uint32_t],
    "int64_to_float64": <uintptr_t>&integer_to_float64[int64_t],
    "float64_to_odd_float32": <uintptr_t>&odd_float32[double],
    "int32_to_odd_float32": <uintptr_t>&odd_float32[int32_t],
    "uint32_to_odd_float32": <uintptr_t>&odd_float32[uint32_t],
    "int64_to_odd_float32": <uintptr_t>&odd_float32[int64_t],
    "float32_to_int8": <uintptr_t>&real_to_int32[float, uint8_t],
    "float32_to_int16": <uintptr_t>&real_to_int32[float, uint16_t],
    "float32_to_int32": <uintptr_t>&real_to_int32[float, uint32_t],
    "float32_to_uint32": <uintptr_t>&real_to_int64[float, uint32_t],
    "float32_to_int64": <uintptr_t>&real_to_int64[float, uint64_t],
    "bfloat16_to_int8": <uintptr_t>&bfloat16_to_int32[uint8_t],
    "bfloat16_to_int16": <uintptr_t>&bfloat16_to_int32[uint16_t],
    "bfloat16_to_int32": <uintptr_t>&bfloat16_to_int32[uint32_t],
    "float64_to_int8": <uintptr_t>&real_to_int32[double, uint8_t],
    "float64_to_int16": <uintptr_t>&real_to_int32[double, uint16_t],
    "float64_to_int32": <uintptr_t>&real_to_int32[double, uint32_t],
    "float64_to_uint32": <uintptr_t>&real_to_int64[double, uint32_t],
    "float64_to_int64": <uintptr_t>&real_to_int64[double, uint64_t],
} if HAS_FPU else {}
