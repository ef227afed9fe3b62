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

/* A table from 8 bits to wider words in planes of bytes; see lutcast.planes. */
typedef struct {
    uint16_t has_sign;              /* codes from 128 on give the words of those before, the highest bit set */
    uint16_t is_integer;            /* words are floats, which are to be made the integers they are */
    uint16_t has_most;              /* the float above all integers stands for the largest one */
    uint8_t order[64];              /* which of 64 codes is looked up at each place */
    uint8_t low[256], high[256];    /* the two highest bytes of the words, the others are 0 */
} lutcast_planes;

#if defined(__AVX512VBMI__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include <immintrin.h>
#define LUTCAST_HAS_REGISTER_TABLES 1

/* Two turns at once: loads that cross cache lines need not wait for the stores of the turn before. */
#if defined(__clang__)
#define LUTCAST_TWO_TURNS _Pragma("unroll 2")
#else
#define LUTCAST_TWO_TURNS _Pragma("GCC unroll 2")
#endif

typedef struct { __m512i part[4]; } lutcast_bytes;

LUTCAST_INLINE lutcast_bytes lutcast_load_bytes(const uint8_t *table)
{
    lutcast_bytes bytes;
    for (int i = 0; i < 4; i++)
        bytes.part[i] = _mm512_loadu_si512(table + 64 * i);
    return bytes;
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

/* The words of 16 bits whose bytes lie in two vectors: those of even places, or of odd ones. */
LUTCAST_INLINE __m512i lutcast_words(__m512i low, __m512i high, const int odd)
{
    if (odd)
        return _mm512_or_si512(_mm512_srli_epi16(low, 8), _mm512_and_si512(high, _mm512_set1_epi16((short)0xFF00)));
    return _mm512_or_si512(_mm512_and_si512(low, _mm512_set1_epi16(0xFF)), _mm512_slli_epi16(high, 8));
}

/* The upper halves of words of 32 or 64 bits, which are next to each other: those of even places, or of odd ones. */
LUTCAST_INLINE __m512i lutcast_widen(__m512i halves, const int width, const int odd)
{
    if (width == 4)
        return odd ? _mm512_and_si512(halves, _mm512_set1_epi32((int)0xFFFF0000)) : _mm512_slli_epi32(halves, 16);
    return odd ? _mm512_and_si512(halves, _mm512_set1_epi64((long long)0xFFFFFFFF00000000)) : _mm512_slli_epi64(halves, 32);
}

/* The integers that floats are; no exception is raised, even where the float is above all integers. */
LUTCAST_INLINE __m512i lutcast_integers(__m512i word, const int width, const int has_most)
{
    enum { quietly = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }; /* clang takes no variable, constant or not */
    if (width == 4) {
        __m512i value = _mm512_cvt_roundps_epi32(_mm512_castsi512_ps(word), quietly);
        if (!has_most)
            return value;
        __mmask16 is_most = _mm512_cmpeq_epi32_mask(word, _mm512_set1_epi32(0x4F000000));
        return _mm512_mask_mov_epi32(value, is_most, _mm512_set1_epi32(INT32_MAX));
    }
    __m512i value = _mm512_cvt_roundpd_epi64(_mm512_castsi512_pd(word), quietly);
    if (!has_most)
        return value;
    __mmask8 is_most = _mm512_cmpeq_epi64_mask(word, _mm512_set1_epi64(0x43E0LL << 48));
    return _mm512_mask_mov_epi64(value, is_most, _mm512_set1_epi64(INT64_MAX));
}

LUTCAST_INLINE Py_ssize_t lutcast_look_up_planes(
    const uint8_t *src, uint8_t *dst, Py_ssize_t n, const lutcast_planes *planes, const int packed, const int width,
    const int has_sign, const int is_integer, const int has_most)
{
    const lutcast_bytes low = lutcast_load_bytes(planes->low), high = lutcast_load_bytes(planes->high);
    const __m512i order = _mm512_loadu_si512(planes->order), digit = _mm512_set1_epi8(15);
    const __m512i pair = _mm512_and_si512(_mm512_srli_epi16(order, 1), _mm512_set1_epi8(31));
    const __m512i shift = _mm512_slli_epi16(_mm512_and_si512(order, _mm512_set1_epi16(1)), 2);
    const __m512i sign = _mm512_set1_epi8((char)0x80);
    Py_ssize_t i = 0;
    LUTCAST_TWO_TURNS
    for (; i + 64 <= n; i += 64) {
        __m512i code, a, b;
        if (packed) { /* codes of one parity lie next to each other */
            code = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(src + i / 2)));
            code = _mm512_and_si512(_mm512_srlv_epi16(_mm512_permutexvar_epi8(pair, code), shift), digit);
            a = _mm512_permutexvar_epi8(code, low.part[0]);
            b = _mm512_permutexvar_epi8(code, high.part[0]);
        } else {
            code = _mm512_permutexvar_epi8(order, _mm512_loadu_si512(src + i));
            a = lutcast_look_up(&low, code, !has_sign);
            b = lutcast_look_up(&high, code, !has_sign);
            if (has_sign)
                b = _mm512_or_si512(b, _mm512_and_si512(code, sign));
        }
        for (int j = 0; j < width; j++) { /* the bits of j, highest first, say which half of a half it is */
            __m512i word = lutcast_words(a, b, j >= width / 2);
            if (width >= 4)
                word = lutcast_widen(word, 4, j / (width / 4) & 1);
            if (width == 8)
                word = lutcast_widen(word, 8, j & 1);
            if (is_integer)
                word = lutcast_integers(word, width, has_most);
            lutcast_fetch(dst + i * width + 64 * j);
            _mm512_storeu_si512(dst + i * width + 64 * j, word);
        }
    }
    return i;
}

#define LUTCAST_PLANES(has_sign, is_integer, has_most) \
    return lutcast_look_up_planes(src, dst, n, planes, packed, width, has_sign, is_integer, has_most)

/* To words of 2, 4 or 8 bytes. */
LUTCAST_INLINE Py_ssize_t lutcast_vector_lookup(
    const uint8_t *src, void *dst, Py_ssize_t n, const void *data, const int packed, const int width)
{
    const lutcast_planes *planes = data;
    if (!planes)
        return 0;
    const int has_sign = planes->has_sign && !packed;
    if (width >= 4 && planes->is_integer) {
        switch (has_sign * 2 + planes->has_most) {
        case 0: LUTCAST_PLANES(0, 1, 0);
        case 1: LUTCAST_PLANES(0, 1, 1);
        case 2: LUTCAST_PLANES(1, 1, 0);
        default: LUTCAST_PLANES(1, 1, 1);
        }
    }
    if (has_sign)
        LUTCAST_PLANES(1, 0, 0);
    LUTCAST_PLANES(0, 0, 0);
}
#else
#define LUTCAST_HAS_REGISTER_TABLES 0
static inline Py_ssize_t lutcast_vector_lookup_8_8(const uint8_t *src, uint8_t *dst, Py_ssize_t n, const void *table)
{
    (void)src, (void)dst, (void)n, (void)table;
    return 0;
}

static inline Py_ssize_t lutcast_vector_lookup(
    const uint8_t *src, void *dst, Py_ssize_t n, const void *data, const int packed, const int width)
{
    (void)src, (void)dst, (void)n, (void)data, (void)packed, (void)width;
    return 0;
}
#endif

#endif
