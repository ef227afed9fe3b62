/* Tables of 8-bit codes, held in vector registers (AVX-512 VBMI).
 *
 * Every function does as many whole elements as it can and returns how many; the scalar loop that
 * calls it, its twin, does the rest, which is all of them where the instructions are missing.
 * Stores are whole wherever possible: masked ones are slow on some processors. */
#ifndef LUTCAST_REGISTERS_H
#define LUTCAST_REGISTERS_H

#include <Python.h>
#include <stdint.h>

#include "inline.h"

#if defined(__AVX512VBMI__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#define LUTCAST_HAS_REGISTER_TABLES 1

/* Two turns at once: loads that cross cache lines need not wait for the stores of the turn before. */
#if defined(__clang__)
#define LUTCAST_TWO_TURNS _Pragma("unroll 2")
#else
#define LUTCAST_TWO_TURNS _Pragma("GCC unroll 2")
#endif

/* Elements from which on it pays to cut a table of words into planes of bytes. */
#define LUTCAST_WORTH_PLANES 512

typedef struct { __m512i part[4]; } lutcast_bytes;

LUTCAST_INLINE lutcast_bytes lutcast_load_bytes(const uint8_t *table)
{
    lutcast_bytes bytes;
    for (int i = 0; i < 4; i++)
        bytes.part[i] = _mm512_loadu_si512(table + 64 * i);
    return bytes;
}

/* Byte `plane` of each of 256 words. */
LUTCAST_INLINE lutcast_bytes lutcast_load_plane(const uint8_t *table, int width, int plane)
{
    uint8_t bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = table[i * width + plane];
    return lutcast_load_bytes(bytes);
}

/* Look 64 bytes up; with `wide` 0 only the first 128 entries are reached. */
LUTCAST_INLINE __m512i lutcast_look_up(const lutcast_bytes *table, __m512i index, int wide)
{
    __m512i low = _mm512_permutex2var_epi8(table->part[0], index, table->part[1]);
    if (!wide)
        return low;
    __m512i high = _mm512_permutex2var_epi8(table->part[2], index, table->part[3]);
    return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(index), high);
}

LUTCAST_INLINE __mmask64 lutcast_first(Py_ssize_t n)
{
    return n >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1;
}

static inline Py_ssize_t lutcast_vector_lookup_8_8(const uint8_t *src, uint8_t *dst, Py_ssize_t n, const void *table)
{
    const lutcast_bytes bytes = lutcast_load_bytes(table);
    Py_ssize_t i = 0;
    LUTCAST_TWO_TURNS
    for (; i + 64 <= n; i += 64)
        _mm512_storeu_si512(dst + i, lutcast_look_up(&bytes, _mm512_loadu_si512(src + i), 1));
    if (i < n) {
        __mmask64 rest = lutcast_first(n - i);
        __m512i code = _mm512_maskz_loadu_epi8(rest, src + i);
        _mm512_mask_storeu_epi8(dst + i, rest, lutcast_look_up(&bytes, code, 1));
    }
    return n;
}

/* Words of `width` bytes of which the two from `byte` on come from planes and the others are zero. */
LUTCAST_INLINE Py_ssize_t lutcast_two_planes(
    const uint8_t *src, uint8_t *dst, Py_ssize_t n, const void *table, const int width, const int byte)
{
    const lutcast_bytes low = lutcast_load_plane(table, width, byte);
    const lutcast_bytes high = lutcast_load_plane(table, width, byte + 1);
    const int step = 64 / width;
    __m512i index[8];
    __mmask64 used = 0;
    Py_ssize_t i = 0;
    for (int j = 0; j < width; j++) {
        uint8_t bytes[64] = {0};
        for (int k = 0; k < step; k++) {
            bytes[k * width + byte] = (uint8_t)(step * j + k);
            bytes[k * width + byte + 1] = (uint8_t)(step * j + k + 64);
            used |= (uint64_t)3 << (k * width + byte);
        }
        index[j] = _mm512_loadu_si512(bytes);
    }
    LUTCAST_TWO_TURNS
    for (; i + 64 <= n; i += 64) {
        __m512i code = _mm512_loadu_si512(src + i);
        __m512i a = lutcast_look_up(&low, code, 1), b = lutcast_look_up(&high, code, 1);
        for (int j = 0; j < width; j++)
            _mm512_storeu_si512(dst + i * width + 64 * j, _mm512_maskz_permutex2var_epi8(used, a, index[j], b));
    }
    return i;
}

/* Four planes: words of 32 bits without a byte that is always zero. */
static inline Py_ssize_t lutcast_four_planes(const uint8_t *src, uint8_t *dst, Py_ssize_t n, const void *table)
{
    const lutcast_bytes plane[4] = {
        lutcast_load_plane(table, 4, 0), lutcast_load_plane(table, 4, 1),
        lutcast_load_plane(table, 4, 2), lutcast_load_plane(table, 4, 3),
    };
    Py_ssize_t i = 0;
    for (; i + 64 <= n; i += 64) {
        __m512i code = _mm512_loadu_si512(src + i);
        __m512i a = lutcast_look_up(&plane[0], code, 1), b = lutcast_look_up(&plane[1], code, 1);
        __m512i c = lutcast_look_up(&plane[2], code, 1), d = lutcast_look_up(&plane[3], code, 1);
        /* Unpacking works within 128 bits, so the four vectors hold every fourth group of four. */
        __m512i ab = _mm512_unpacklo_epi8(a, b), cd = _mm512_unpacklo_epi8(c, d);
        __m512i AB = _mm512_unpackhi_epi8(a, b), CD = _mm512_unpackhi_epi8(c, d);
        __m512i out[4] = {
            _mm512_unpacklo_epi16(ab, cd), _mm512_unpackhi_epi16(ab, cd),
            _mm512_unpacklo_epi16(AB, CD), _mm512_unpackhi_epi16(AB, CD),
        };
        for (int lane = 0; lane < 4; lane++)
            for (int j = 0; j < 4; j++) {
                __m128i part = lane == 0 ? _mm512_extracti32x4_epi32(out[j], 0)
                    : lane == 1 ? _mm512_extracti32x4_epi32(out[j], 1)
                    : lane == 2 ? _mm512_extracti32x4_epi32(out[j], 2) : _mm512_extracti32x4_epi32(out[j], 3);
                _mm_storeu_si128((__m128i *)(dst + 4 * i + 64 * lane + 16 * j), part);
            }
    }
    return i;
}

/* Words of 32 or 64 bits that extend one of 16: integers from floats of few bits. */
LUTCAST_INLINE Py_ssize_t lutcast_extended_planes(
    const uint8_t *src, uint8_t *dst, Py_ssize_t n, const void *table, const int width)
{
    const lutcast_bytes low = lutcast_load_plane(table, width, 0), high = lutcast_load_plane(table, width, 1);
    uint8_t index[128];
    Py_ssize_t i = 0;
    for (int j = 0; j < 64; j++) {
        index[2 * j] = (uint8_t)j;
        index[2 * j + 1] = (uint8_t)(j + 64);
    }
    const __m512i lower = _mm512_loadu_si512(index), upper = _mm512_loadu_si512(index + 64);
    for (; i + 64 <= n; i += 64) {
        __m512i code = _mm512_loadu_si512(src + i);
        __m512i a = lutcast_look_up(&low, code, 1), b = lutcast_look_up(&high, code, 1);
        int16_t words[64];
        _mm512_storeu_si512(words, _mm512_permutex2var_epi8(a, lower, b));
        _mm512_storeu_si512(words + 32, _mm512_permutex2var_epi8(a, upper, b));
        for (int j = 0; j < width; j++)
            if (width == 4) {
                __m256i part = _mm256_loadu_si256((const __m256i *)(words + 16 * j));
                _mm512_storeu_si512(dst + 4 * i + 64 * j, _mm512_cvtepi16_epi32(part));
            } else {
                __m128i part = _mm_loadu_si128((const __m128i *)(words + 8 * j));
                _mm512_storeu_si512(dst + 8 * i + 64 * j, _mm512_cvtepi16_epi64(part));
            }
    }
    return i;
}

/* Whether 256 words of 32 or 64 bits all extend their lower 16 bits as signed numbers. */
static inline int lutcast_is_extended(const void *table, int width)
{
    int extended = 1;
    for (int i = 0; i < 256; i++)
        extended &= width == 4 ? ((const int32_t *)table)[i] == ((const int16_t *)table)[2 * i]
                               : ((const int64_t *)table)[i] == ((const int16_t *)table)[4 * i];
    return extended;
}

/* Whether all bits of 256 words outside a mask are zero. */
static inline int lutcast_within(const void *table, int width, uint64_t mask)
{
    uint64_t bits = 0;
    for (int i = 0; i < 256; i++)
        bits |= width == 4 ? ((const uint32_t *)table)[i] : ((const uint64_t *)table)[i];
    return (bits & ~mask) == 0;
}

static inline Py_ssize_t lutcast_vector_lookup_8_16(const uint8_t *src, uint16_t *dst, Py_ssize_t n, const void *table)
{
    return n < LUTCAST_WORTH_PLANES ? 0 : lutcast_two_planes(src, (uint8_t *)dst, n, table, 2, 0);
}

static inline Py_ssize_t lutcast_vector_lookup_8_32(const uint8_t *src, uint32_t *dst, Py_ssize_t n, const void *table)
{
    if (n < LUTCAST_WORTH_PLANES)
        return 0;
    if (lutcast_within(table, 4, 0xFFFF0000u)) /* floats of few bits */
        return lutcast_two_planes(src, (uint8_t *)dst, n, table, 4, 2);
    if (lutcast_is_extended(table, 4))
        return lutcast_extended_planes(src, (uint8_t *)dst, n, table, 4);
    return lutcast_four_planes(src, (uint8_t *)dst, n, table);
}

static inline Py_ssize_t lutcast_vector_lookup_8_64(const uint8_t *src, uint64_t *dst, Py_ssize_t n, const void *table)
{
    if (n < LUTCAST_WORTH_PLANES)
        return 0;
    if (lutcast_within(table, 8, 0xFFFF000000000000u))
        return lutcast_two_planes(src, (uint8_t *)dst, n, table, 8, 6);
    return lutcast_is_extended(table, 8) ? lutcast_extended_planes(src, (uint8_t *)dst, n, table, 8) : 0;
}
#else
#define LUTCAST_HAS_REGISTER_TABLES 0
#define LUTCAST_NONE(name, from, to)                                                         \
static inline Py_ssize_t name(const from *src, to *dst, Py_ssize_t n, const void *table)    \
{                                                                                            \
    (void)src, (void)dst, (void)n, (void)table;                                              \
    return 0;                                                                                \
}
LUTCAST_NONE(lutcast_vector_lookup_8_8, uint8_t, uint8_t)
LUTCAST_NONE(lutcast_vector_lookup_8_16, uint8_t, uint16_t)
LUTCAST_NONE(lutcast_vector_lookup_8_32, uint8_t, uint32_t)
LUTCAST_NONE(lutcast_vector_lookup_8_64, uint8_t, uint64_t)
#endif

#endif
