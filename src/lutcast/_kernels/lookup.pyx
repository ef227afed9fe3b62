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
    Py_ssize_t vector_steps_16 "lutcast_vector_steps_16"(
        const uint16_t *src, uint8_t *dst, Py_ssize_t n, const void *steps)
    Py_ssize_t vector_steps_32 "lutcast_vector_steps_32"(
        const uint32_t *src, uint8_t *dst, Py_ssize_t n, const void *steps)

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

ctypedef fused value:
    uint8_t
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
        done = vector_steps_16(src, dst, n, p.pieces)
    elif code is uint16_t and value is uint32_t:
        # The decode table of float16 is what the processor's own conversion gives.
        if p.direction >= 0:
            saved = fpu_enter(p.direction)
            done = vector_float16_to_float32(src, dst, n)
            fpu_leave(saved)
    for i in range(done, n):
        dst[i] = table[src[i]]


cdef void packed_lookup(const uint8_t *src, value *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    """Look up codes of 4 bits, two to a byte."""
    cdef const value *table = <const value *>p.table
    cdef Py_ssize_t i, done = 0
    if value is not uint8_t:
        done = vector_lookup(src, dst, n, p.pieces, True, sizeof(value))
    for i in range(done, n):
        dst[i] = table[(src[i >> 1] >> (4 * (i & 1))) & 15]


cdef void odd_lookup(const uint32_t *src, uint8_t *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    """Round float32 to odd at bfloat16 and look that up."""
    cdef const uint8_t *table = <const uint8_t *>p.table
    cdef Py_ssize_t i
    for i in range(vector_steps_32(src, dst, n, p.pieces), n):
        dst[i] = table[(src[i] >> 16) | <uint32_t>((src[i] & 0xFFFF) != 0)]


LOOPS = {
    "lookup_8_8": <uintptr_t>&lookup[uint8_t, uint8_t],
    "lookup_8_16": <uintptr_t>&lookup[uint8_t, uint16_t],
    "lookup_8_32": <uintptr_t>&lookup[uint8_t, uint32_t],
    "lookup_8_64": <uintptr_t>&lookup[uint8_t, uint64_t],
    "packed_lookup_16": <uintptr_t>&packed_lookup[uint16_t],
    "packed_lookup_32": <uintptr_t>&packed_lookup[uint32_t],
    "packed_lookup_64": <uintptr_t>&packed_lookup[uint64_t],
    "lookup_16_8": <uintptr_t>&lookup[uint16_t, uint8_t],
    "lookup_16_16": <uintptr_t>&lookup[uint16_t, uint16_t],
    "lookup_16_32": <uintptr_t>&lookup[uint16_t, uint32_t],
    "lookup_16_64": <uintptr_t>&lookup[uint16_t, uint64_t],
    "odd_lookup": <uintptr_t>&odd_lookup,
}

# What this variant does in registers: whether plans should offer tables in pieces, and decode float16 so.
USES_PIECES = bool(HAS_REGISTER_TABLES)
USES_F16C = bool(HAS_F16C)
