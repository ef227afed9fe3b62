/* Tables held in vector registers (AVX-512 VBMI).
 *
 * Every function does as many whole elements as it can and returns how many; the scalar loop that
 * calls it, its twin, does the rest, which is all of them where the instructions are missing.
 * Stores are whole wherever possible: masked ones are slow on some processors. */
#ifndef LUTCAST_REGISTERS_H
#define LUTCAST_REGISTERS_H

#include <Python.h>
#include <stdint.h>

#include "inline.h"

/* A table of 16-bit floats in pieces, see lutcast.steps. The magnitude of a code is moved into a
 * window, cut into a block number and a place in the block; every block holds three values, the
 * second from `edge_1` on, the third from `edge_2` on. */
typedef struct {
    uint16_t low;         /* magnitudes up to here have the first place; in a window of kind 2 all but zero the second */
    uint16_t top;         /* last place of the window */
    uint16_t special;     /* first magnitude of infinity and NaN */
    uint16_t moved;       /* what is taken off those, so that they lie behind the window */
    uint16_t place_bits;  /* of a place in a block, 8 or fewer */
    uint16_t sign;        /* sign bit of a result where the blocks do not depend on the sign, else 0 */
    uint16_t sign_index;  /* bit of the block number that the sign sets, else 0 */
    uint16_t keeps_zero;  /* a zero result takes no sign */
    uint16_t is_wide;     /* there are more than 128 blocks */
    uint16_t window;      /* 0: all magnitudes have a place; 1: a window; 2: one that tells zero from tiny */
    uint8_t first[256], edge_1[256], second[256], edge_2[256], third[256];
} lutcast_steps;

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

/* ------------------------------------------------------------------ 8-bit sources */

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

/* ------------------------------------------------------------------ steps */

typedef struct {
    lutcast_bytes first, edge_1, second, edge_2, third;
    __m512i even, odd;
    __m128i down, up;
    __mmask64 zero_takes_sign;
} lutcast_step_registers;

LUTCAST_INLINE lutcast_step_registers lutcast_load_steps(const lutcast_steps *steps)
{
    lutcast_step_registers r;
    uint8_t even[64], odd[64];
    for (int i = 0; i < 64; i++) {
        even[i] = (uint8_t)(2 * i);
        odd[i] = (uint8_t)(2 * i + 1);
    }
    r.even = _mm512_loadu_si512(even);
    r.odd = _mm512_loadu_si512(odd);
    r.first = lutcast_load_bytes(steps->first);
    r.edge_1 = lutcast_load_bytes(steps->edge_1);
    r.second = lutcast_load_bytes(steps->second);
    r.edge_2 = lutcast_load_bytes(steps->edge_2);
    r.third = lutcast_load_bytes(steps->third);
    r.down = _mm_cvtsi32_si128(steps->place_bits);
    r.up = _mm_cvtsi32_si128(8 - steps->place_bits);
    r.zero_takes_sign = steps->keeps_zero ? 0 : ~(__mmask64)0;
    return r;
}

/* Move 32 magnitudes into the window. */
LUTCAST_INLINE __m512i lutcast_window(const lutcast_steps *steps, __m512i code, const int window)
{
    __m512i magnitude = _mm512_and_si512(code, _mm512_set1_epi16(0x7FFF));
    if (!window)
        return magnitude;
    __m512i inside = _mm512_subs_epu16(magnitude, _mm512_set1_epi16((short)steps->low));
    if (window == 2)
        inside = _mm512_max_epu16(inside, _mm512_min_epu16(magnitude, _mm512_set1_epi16(1)));
    inside = _mm512_min_epu16(inside, _mm512_set1_epi16((short)steps->top));
    __mmask32 is_special = _mm512_cmpge_epu16_mask(magnitude, _mm512_set1_epi16((short)steps->special));
    return _mm512_mask_sub_epi16(inside, is_special, magnitude, _mm512_set1_epi16((short)steps->moved));
}

/* Look 64 codes up, which lie in two vectors. */
LUTCAST_INLINE __m512i lutcast_step(
    const lutcast_steps *steps, const lutcast_step_registers *r, __m512i a, __m512i b,
    const int wide, const int window)
{
    const __mmask64 negative = _mm512_movepi8_mask(_mm512_permutex2var_epi8(a, r->odd, b));
    a = lutcast_window(steps, a, window);
    b = lutcast_window(steps, b, window);
    __m512i block, place;
    if (window) {
        block = _mm512_permutex2var_epi8(_mm512_srl_epi16(a, r->down), r->even, _mm512_srl_epi16(b, r->down));
        place = _mm512_permutex2var_epi8(_mm512_sll_epi16(a, r->up), r->even, _mm512_sll_epi16(b, r->up));
    } else { /* places of 8 bits */
        block = _mm512_permutex2var_epi8(a, r->odd, b);
        place = _mm512_permutex2var_epi8(a, r->even, b);
    }
    if (wide)
        block = _mm512_or_si512(block, _mm512_maskz_set1_epi8(negative, (char)steps->sign_index));
    __m512i result = lutcast_look_up(&r->first, block, wide);
    __mmask64 past = _mm512_cmpge_epu8_mask(place, lutcast_look_up(&r->edge_1, block, wide));
    result = _mm512_mask_mov_epi8(result, past, lutcast_look_up(&r->second, block, wide));
    past = _mm512_cmpge_epu8_mask(place, lutcast_look_up(&r->edge_2, block, wide));
    result = _mm512_mask_mov_epi8(result, past, lutcast_look_up(&r->third, block, wide));
    past = negative & (_mm512_test_epi8_mask(result, result) | r->zero_takes_sign);
    return _mm512_or_si512(result, _mm512_maskz_set1_epi8(past, (char)steps->sign));
}

/* Round 32 float32 to odd at bfloat16: the upper halves, their last bit set where a lower half is not zero. */
LUTCAST_INLINE __m512i lutcast_odd(const uint32_t *src, __m512i upper, __m512i lower)
{
    __m512i a = _mm512_loadu_si512(src), b = _mm512_loadu_si512(src + 16);
    __m512i high = _mm512_permutex2var_epi16(a, upper, b), low = _mm512_permutex2var_epi16(a, lower, b);
    return _mm512_or_si512(high, _mm512_maskz_set1_epi16(_mm512_test_epi16_mask(low, low), 1));
}

LUTCAST_INLINE Py_ssize_t lutcast_steps_16(
    const uint16_t *src, uint8_t *dst, Py_ssize_t n, const lutcast_steps *steps, const int wide, const int window)
{
    const lutcast_step_registers r = lutcast_load_steps(steps);
    Py_ssize_t i = 0;
    for (; i + 64 <= n; i += 64) {
        __m512i a = _mm512_loadu_si512(src + i), b = _mm512_loadu_si512(src + i + 32);
        _mm512_storeu_si512(dst + i, lutcast_step(steps, &r, a, b, wide, window));
    }
    if (i < n) {
        const __mmask64 rest = lutcast_first(n - i);
        __m512i a = _mm512_maskz_loadu_epi16((__mmask32)rest, src + i);
        __m512i b = _mm512_maskz_loadu_epi16((__mmask32)(rest >> 32), src + i + 32);
        _mm512_mask_storeu_epi8(dst + i, rest, lutcast_step(steps, &r, a, b, wide, window));
    }
    return n;
}

LUTCAST_INLINE Py_ssize_t lutcast_steps_32(
    const uint32_t *src, uint8_t *dst, Py_ssize_t n, const lutcast_steps *steps, const int wide, const int window)
{
    const lutcast_step_registers r = lutcast_load_steps(steps);
    uint16_t words[64];
    Py_ssize_t i = 0;
    for (int j = 0; j < 32; j++) {
        words[j] = (uint16_t)(2 * j + 1);
        words[32 + j] = (uint16_t)(2 * j);
    }
    const __m512i upper = _mm512_loadu_si512(words), lower = _mm512_loadu_si512(words + 32);
    for (; i + 64 <= n; i += 64) {
        __m512i a = lutcast_odd(src + i, upper, lower), b = lutcast_odd(src + i + 32, upper, lower);
        _mm512_storeu_si512(dst + i, lutcast_step(steps, &r, a, b, wide, window));
    }
    return i;
}

static inline Py_ssize_t lutcast_vector_steps_16(const uint16_t *src, uint8_t *dst, Py_ssize_t n, const void *data)
{
    const lutcast_steps *steps = data;
    if (!steps)
        return 0;
    switch (steps->window * 2 + steps->is_wide) {
    case 0: return lutcast_steps_16(src, dst, n, steps, 0, 0);
    case 1: return lutcast_steps_16(src, dst, n, steps, 1, 0);
    case 2: return lutcast_steps_16(src, dst, n, steps, 0, 1);
    case 3: return lutcast_steps_16(src, dst, n, steps, 1, 1);
    case 4: return lutcast_steps_16(src, dst, n, steps, 0, 2);
    default: return lutcast_steps_16(src, dst, n, steps, 1, 2);
    }
}

static inline Py_ssize_t lutcast_vector_steps_32(const uint32_t *src, uint8_t *dst, Py_ssize_t n, const void *data)
{
    const lutcast_steps *steps = data;
    if (!steps)
        return 0;
    switch (steps->window * 2 + steps->is_wide) {
    case 2: return lutcast_steps_32(src, dst, n, steps, 0, 1);
    case 3: return lutcast_steps_32(src, dst, n, steps, 1, 1);
    case 4: return lutcast_steps_32(src, dst, n, steps, 0, 2);
    default: return lutcast_steps_32(src, dst, n, steps, 1, 2);
    }
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
LUTCAST_NONE(lutcast_vector_steps_16, uint16_t, uint8_t)
LUTCAST_NONE(lutcast_vector_steps_32, uint32_t, uint8_t)
#endif

#endif
