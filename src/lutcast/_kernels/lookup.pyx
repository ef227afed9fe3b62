"""Loops that look values up: codes of 8 or 16 bits to words of 8, 16, 32 or 64."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from lutcast._kernels.loop cimport Params

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
    cdef Py_ssize_t i
    for i in range(n):
        dst[i] = table[src[i]]


LOOPS = {
    "lookup_8_8": <uintptr_t>&lookup[uint8_t, uint8_t],
    "lookup_8_16": <uintptr_t>&lookup[uint8_t, uint16_t],
    "lookup_8_32": <uintptr_t>&lookup[uint8_t, uint32_t],
    "lookup_8_64": <uintptr_t>&lookup[uint8_t, uint64_t],
    "lookup_16_8": <uintptr_t>&lookup[uint16_t, uint8_t],
    "lookup_16_16": <uintptr_t>&lookup[uint16_t, uint16_t],
    "lookup_16_32": <uintptr_t>&lookup[uint16_t, uint32_t],
    "lookup_16_64": <uintptr_t>&lookup[uint16_t, uint64_t],
}
