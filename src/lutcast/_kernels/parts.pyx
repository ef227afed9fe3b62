"""Loops that take complex numbers apart and put them together, part by part."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from lutcast._kernels.loop cimport Params

ctypedef fused part:
    uint16_t
    uint32_t
    uint64_t


cdef void real_part(const part *src, part *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        dst[i] = src[2 * i]


cdef void zero_imaginary(const part *src, part *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        dst[2 * i] = src[i]
        dst[2 * i + 1] = 0


cdef void either_true(const uint8_t *src, uint8_t *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        dst[i] = src[2 * i] | src[2 * i + 1]


LOOPS = {
    "real_part_16": <uintptr_t>&real_part[uint16_t],
    "real_part_32": <uintptr_t>&real_part[uint32_t],
    "real_part_64": <uintptr_t>&real_part[uint64_t],
    "zero_imaginary_16": <uintptr_t>&zero_imaginary[uint16_t],
    "zero_imaginary_32": <uintptr_t>&zero_imaginary[uint32_t],
    "zero_imaginary_64": <uintptr_t>&zero_imaginary[uint64_t],
    "either_true": <uintptr_t>&either_true,
}
