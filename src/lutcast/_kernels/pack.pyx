"""Packing of 2-, 4- and 6-bit codes; both directions begin at a whole byte."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uintptr_t

from lutcast._kernels.loop cimport Params

cdef extern from "bits.h" nogil:
    uint16_t read_pair "lutcast_read_pair"(const uint8_t *bytes)


cdef inline void pack_codes(const uint8_t *src, uint8_t *dst, Py_ssize_t n, int bits) noexcept nogil:
    cdef Py_ssize_t i, groups
    cdef uint16_t pair
    cdef uint32_t held = 0
    cdef int count = 0
    cdef uint8_t mask = <uint8_t>((1 << bits) - 1)
    if bits == 4:
        groups = n // 2
        for i in range(groups):
            pair = read_pair(src + 2 * i)
            dst[i] = <uint8_t>((pair & 15) | ((pair >> 4) & 0xF0))
        src, dst, n = src + 2 * groups, dst + groups, n - 2 * groups
    elif bits == 2:
        groups = n // 4
        for i in range(groups):
            dst[i] = (src[4 * i] & 3) | <uint8_t>((src[4 * i + 1] & 3) << 2) | (
                <uint8_t>((src[4 * i + 2] & 3) << 4) | <uint8_t>(src[4 * i + 3] << 6))
        src, dst, n = src + 4 * groups, dst + groups, n - 4 * groups
    elif bits == 6:
        groups = n // 4
        for i in range(groups):
            dst[3 * i] = (src[4 * i] & 63) | <uint8_t>(src[4 * i + 1] << 6)
            dst[3 * i + 1] = ((src[4 * i + 1] >> 2) & 15) | <uint8_t>(src[4 * i + 2] << 4)
            dst[3 * i + 2] = ((src[4 * i + 2] >> 4) & 3) | <uint8_t>(src[4 * i + 3] << 2)
        src, dst, n = src + 4 * groups, dst + 3 * groups, n - 4 * groups
    for i in range(n):
        held |= <uint32_t>(src[i] & mask) << count
        count += bits
        if count >= 8:
            dst[0] = <uint8_t>(held & 0xFF)
            dst += 1
            held >>= 8
            count -= 8
    if count:
        dst[0] = <uint8_t>held


cdef inline void unpack_codes(const uint8_t *src, uint8_t *dst, Py_ssize_t n, int bits) noexcept nogil:
    cdef Py_ssize_t i, groups
    cdef uint32_t held = 0
    cdef int count = 0
    cdef uint8_t mask = <uint8_t>((1 << bits) - 1)
    if bits == 4:
        groups = n // 2
        for i in range(groups):
            dst[2 * i] = src[i] & 15
            dst[2 * i + 1] = src[i] >> 4
        src, dst, n = src + groups, dst + 2 * groups, n - 2 * groups
    elif bits == 2:
        groups = n // 4
        for i in range(groups):
            dst[4 * i] = src[i] & 3
            dst[4 * i + 1] = (src[i] >> 2) & 3
            dst[4 * i + 2] = (src[i] >> 4) & 3
            dst[4 * i + 3] = src[i] >> 6
        src, dst, n = src + groups, dst + 4 * groups, n - 4 * groups
    elif bits == 6:
        groups = n // 4
        for i in range(groups):
            dst[4 * i] = src[3 * i] & 63
            dst[4 * i + 1] = (src[3 * i] >> 6) | <uint8_t>((src[3 * i + 1] & 15) << 2)
            dst[4 * i + 2] = (src[3 * i + 1] >> 4) | <uint8_t>((src[3 * i + 2] & 3) << 4)
            dst[4 * i + 3] = src[3 * i + 2] >> 2
        src, dst, n = src + 3 * groups, dst + 4 * groups, n - 4 * groups
    for i in range(n):
        if count < bits:
            held |= <uint32_t>src[0] << count
            src += 1
            count += 8
        dst[i] = <uint8_t>held & mask
        held >>= bits
        count -= bits


cdef void pack_2(const uint8_t *src, uint8_t *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    pack_codes(src, dst, n, 2)


cdef void pack_4(const uint8_t *src, uint8_t *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    pack_codes(src, dst, n, 4)


cdef void pack_6(const uint8_t *src, uint8_t *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    pack_codes(src, dst, n, 6)


cdef void unpack_2(const uint8_t *src, uint8_t *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    unpack_codes(src, dst, n, 2)


cdef void unpack_4(const uint8_t *src, uint8_t *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    unpack_codes(src, dst, n, 4)


cdef void unpack_6(const uint8_t *src, uint8_t *dst, Py_ssize_t n, const Params *p) noexcept nogil:
    unpack_codes(src, dst, n, 6)


LOOPS = {
    "pack_2": <uintptr_t>&pack_2,
    "pack_4": <uintptr_t>&pack_4,
    "pack_6": <uintptr_t>&pack_6,
    "unpack_2": <uintptr_t>&unpack_2,
    "unpack_4": <uintptr_t>&unpack_4,
    "unpack_6": <uintptr_t>&unpack_6,
}
