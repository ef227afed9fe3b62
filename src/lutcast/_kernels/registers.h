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
    uint64_t used;         /* which bytes of 64 come from a plane, the others are 0 */
    uint16_t is_shifted;   /* the highest byte of a word is to be shifted down by what the lowest says */
    uint16_t has_most;     /* the word 1 is the largest integer, and all others are as large as words have bits */
    uint8_t low[256], high[256];
    uint8_t index[8][64];  /* which bytes of both planes make the words, vector by vector */
} lutcast_planes;

#if defined(__AVX512VBMI__) && defined(__AVX512BW__) && defined(__AVX512VL__)
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

/* 64 codes: bytes, or 4 bits each in half as many. */
LUTCAST_INLINE __m512i lutcast_load_codes(const uint8_t *src, Py_ssize_t at, const int packed)
{
    if (!packed)
        return _mm512_loadu_si512(src + at);
    __m512i pair = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(src + at / 2)));
    return _mm512_and_si512(_mm512_or_si512(pair, _mm512_slli_epi16(pair, 4)), _mm512_set1_epi8(15));
}

/* A byte that stands at the top of its word is shifted down by what the lowest byte says. */
LUTCAST_INLINE __m512i lutcast_shift_down(__m512i word, const int width, const int has_most)
{
    const __m512i ones = _mm512_set1_epi8(-1);
    if (width == 4) {
        __m512i shifted = _mm512_srav_epi32(word, _mm512_and_si512(word, _mm512_set1_epi32(0xFF)));
        return has_most ? _mm512_or_si512(shifted, _mm512_srlv_epi32(ones, word)) : shifted;
    }
    __m512i shifted = _mm512_srav_epi64(word, _mm512_and_si512(word, _mm512_set1_epi64(0xFF)));
    return has_most ? _mm512_or_si512(shifted, _mm512_srlv_epi64(ones, word)) : shifted;
}

LUTCAST_INLINE Py_ssize_t lutcast_look_up_planes(
    const uint8_t *src, uint8_t *dst, Py_ssize_t n, const lutcast_planes *planes, const int packed, const int width,
    const int is_shifted, const int has_most)
{
    const lutcast_bytes low = lutcast_load_bytes(planes->low), high = lutcast_load_bytes(planes->high);
    const __mmask64 used = planes->used;
    __m512i index[8];
    Py_ssize_t i = 0;
    for (int j = 0; j < width; j++)
        index[j] = _mm512_loadu_si512(planes->index[j]);
    LUTCAST_TWO_TURNS
    for (; i + 64 <= n; i += 64) {
        __m512i code = lutcast_load_codes(src, i, packed), a, b;
        if (packed) {
            a = _mm512_permutexvar_epi8(code, low.part[0]);
            b = _mm512_permutexvar_epi8(code, high.part[0]);
        } else {
            a = lutcast_look_up(&low, code, 1);
            b = lutcast_look_up(&high, code, 1);
        }
        for (int j = 0; j < width; j++) {
            __m512i word = _mm512_maskz_permutex2var_epi8(used, a, index[j], b);
            if (is_shifted)
                word = lutcast_shift_down(word, width, has_most);
            _mm512_storeu_si512(dst + i * width + 64 * j, word);
        }
    }
    return i;
}

/* To words of 2, 4 or 8 bytes. */
LUTCAST_INLINE Py_ssize_t lutcast_vector_lookup(
    const uint8_t *src, void *dst, Py_ssize_t n, const void *data, const int packed, const int width)
{
    const lutcast_planes *planes = data;
    if (!planes)
        return 0;
    if (width == 2 || !planes->is_shifted)
        return lutcast_look_up_planes(src, dst, n, planes, packed, width, 0, 0);
    if (!planes->has_most)
        return lutcast_look_up_planes(src, dst, n, planes, packed, width, 1, 0);
    return lutcast_look_up_planes(src, dst, n, planes, packed, width, 1, 1);
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
