"""Sub-byte storage: C order, the first element in the lowest bits, padded with zeros."""

from libc.stdint cimport uint8_t


cdef void pack_codes(const uint8_t *src, uint8_t *dst, Py_ssize_t n, int bits) noexcept nogil
cdef void unpack_codes(const uint8_t *src, uint8_t *dst, Py_ssize_t n, int bits) noexcept nogil
