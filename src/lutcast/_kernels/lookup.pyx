"""Loops that look values up: codes of 8 or 16 bits, or packed ones of 4, to words of 8, 16, 32 or 64."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from lutcast._kernels.loop cimport Params

cdef extern from "registers.h" nogil:
    const bint HAS_REGISTER_TABLES "LUTCAST_HAS_REGISTER_TABLES"
    Py_ssize_t vector_lookup_8_8 "lutcast_vector_lookup_8_8"(
        const uint8_t *src, uint8_t *dst, Py_ssize_t n, const void *table)
    Py_ssize_t vector_lookup "lutcast_vector_lookup"(
        const uint8_t *src, void *dst, Py_ssize_t n, const void *planes, bint packed, int width)

cdef extern from "steps.h" nogil:
    Py_ssize_t vector_steps "lutcast_vector_steps"(
        const void *src, uint8_t *dst, Py_ssize_t n, const void *steps, bint is_float32, bint packed)

cdef extern from "fpu.h" nogil:
    unsigned int fpu_enter "lutcast_fpu_enter"(int64_t direction)
    void fpu_leave "lutcast_fpu_leave"(unsigned int saved)

cdef extern from "convert.h" nogil:
    const bint HAS_F16C "LUTCAST_HAS_F16C"
    Py_ssize_t vector_float16_to_float32 "lutcast_vector_float16_to_float32"(
        const uint16_t *src, uint32_t *dst, Py_ssize_t n)

ctypedef fused code:
    uint8_t
    uint16_t

ctypedef fused source:
    uint16_t
    uint32_t

ctypedef fused value:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused wide_value:
    uint16_t
    uint32_t
    uint64_t


cdef void lookup(const code *src, value *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    cdef const value *table = <const value *>p.table
    cdef Py_ssize_t i, done = 0
    cdef unsigned int saved
    if code is uint8_t and value is uint8_t:
        done = vector_lookup_8_8(src, dst, n, table)
    elif code is uint8_t:
        done = vector_lookup(src, dst, n, p.pieces, False, sizeof(value))
    elif code is uint16_t and value is uint8_t:
        done = vector_steps(src, dst, n, p.pieces, False, False)
    elif code is uint16_t and value is uint32_t:
        # The decode table of float16 is what the processor's own conversion gives.
        if p.direction >= 0:
            saved = fpu_enter(p.direction)
            done = vector_float16_to_float32(src, dst, n)
            fpu_leave(saved)
    for i in range(done, n):
        dst[i] = table[src[i]]


cdef inline Py_ssize_t odd(uint32_t word) noexcept nogil:
    """Round float32 to odd at bfloat16."""
    return (word >> 16) | <uint32_t>((word & 0xFFFF) != 0)


cdef void odd_lookup(const uint32_t *src, uint8_t *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    """Look float32 up in a table of bfloat16."""
    cdef const uint8_t *table = <const uint8_t *>p.table
    cdef Py_ssize_t i
    for i in range(vector_steps(src, dst, n, p.pieces, True, False), n):
        dst[i] = table[odd(src[i])]


# ---------------------------------------------------------------- packed: 4 bits, two to a byte

cdef void lookup_packed(const uint8_t *src, wide_value *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    cdef const wide_value *table = <const wide_value *>p.table
    cdef Py_ssize_t i
    for i in range(vector_lookup(src, dst, n, p.pieces, True, sizeof(wide_value)), n):
        dst[i] = table[(src[i >> 1] >> (4 * (i & 1))) & 15]


cdef void lookup_to_packed(const source *src, uint8_t *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    """Look 16-bit codes up, or float32 in a table of bfloat16; n may be odd."""
    cdef const uint8_t *table = <const uint8_t *>p.table
    cdef Py_ssize_t i
    for i in range(vector_steps(src, dst, n, p.pieces, source is uint32_t, True), n - 1, 2):
        if source is uint32_t:
            dst[i >> 1] = table[odd(src[i])] | <uint8_t>(table[odd(src[i + 1])] << 4)
        else:
            dst[i >> 1] = table[src[i]] | <uint8_t>(table[src[i + 1]] << 4)
    if n & 1:
        dst[n >> 1] = table[odd(src[n - 1])] if source is uint32_t else table[src[n - 1]]


LOOPS = {
    "lookup_8_8": <uintptr_t>&lookup[uint8_t, uint8_t],
    "lookup_8_16": <uintptr_t>&lookup[uint8_t, uint16_t],
    "lookup_8_32": <uintptr_t>&lookup[uint8_t, uint32_t],
    "lookup_8_64": <uintptr_t>&lookup[uint8_t, uint64_t],
    "lookup_16_8": <uintptr_t>&lookup[uint16_t, uint8_t],
    "lookup_16_16": <uintptr_t>&lookup[uint16_t, uint16_t],
    "lookup_16_32": <uintptr_t>&lookup[uint16_t, uint32_t],
    "lookup_16_64": <uintptr_t>&lookup[uint16_t, uint64_t],
    "odd_lookup": <uintptr_t>&odd_lookup,
    "lookup_4_16": <uintptr_t>&lookup_packed[uint16_t],
    "lookup_4_32": <uintptr_t>&lookup_packed[uint32_t],
    "lookup_4_64": <uintptr_t>&lookup_packed[uint64_t],
    "lookup_16_4": <uintptr_t>&lookup_to_packed[uint16_t],
    "odd_lookup_4": <uintptr_t>&lookup_to_packed[uint32_t],
}

# What this variant does in registers: whether plans should offer tables in pieces, and decode float16 so.
USES_PIECES = bool(HAS_REGISTER_TABLES)
USES_F16C = bool(HAS_F16C)
