/* What compilers do not find themselves: table look-ups in registers (AVX-512 VBMI) and float16
 * conversions (F16C). Every function does as many whole elements as it can and returns how many;
 * the scalar loop that calls it, its twin, does the rest, which is all of them elsewhere. */
#ifndef LUTCAST_VECTORS_H
#define LUTCAST_VECTORS_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

/* A table of 16-bit floats in pieces, see lutcast.steps. The magnitude of a code is moved into a
 * window, cut into a block number and a place in the block; every block holds three values, the
 * second from `edge_1` on, the third from `edge_2` on. */
typedef struct {
    uint16_t low;        /* magnitudes up to here are one */
    uint16_t top;        /* last place of the window */
    uint16_t special;    /* first magnitude of infinity and NaN */
    uint16_t moved;      /* what is taken off those, so that they lie behind the window */
    uint16_t place_bits; /* of a place in a block, 8 or fewer */
    uint16_t sign;       /* sign bit of a result where the blocks do not depend on the sign, else 0 */
    uint16_t sign_index; /* bit of the block number that the sign sets, else 0 */
    uint16_t is_wide;    /* there are more than 128 blocks */
    uint16_t keeps_zero; /* a zero result takes no sign */
    uint8_t first[256], edge_1[256], second[256], edge_2[256], third[256];
} lutcast_steps;

#if defined(__AVX512VBMI__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#define LUTCAST_HAS_REGISTER_TABLES 1

typedef struct { __m512i part[4]; } lutcast_bytes;

static inline lutcast_bytes lutcast_load_bytes(const uint8_t *table)
{
    lutcast_bytes bytes;
    for (int i = 0; i < 4; i++)
        bytes.part[i] = _mm512_loadu_si512(table + 64 * i);
    return bytes;
}

/* Byte `plane` of each of 256 words. */
static inline lutcast_bytes lutcast_load_plane(const uint8_t *table, int width, int plane)
{
    uint8_t bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = table[i * width + plane];
    return lutcast_load_bytes(bytes);
}

static inline __m512i lutcast_look_up_128(const lutcast_bytes *table, __m512i index)
{
    return _mm512_permutex2var_epi8(table->part[0], index, table->part[1]);
}

static inline __m512i lutcast_look_up(const lutcast_bytes *table, __m512i index)
{
    __m512i high = _mm512_permutex2var_epi8(table->part[2], index, table->part[3]);
    return _mm512_mask_mov_epi8(lutcast_look_up_128(table, index), _mm512_movepi8_mask(index), high);
}

static inline __mmask64 lutcast_first(Py_ssize_t n)
{
    return n >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1;
}

/* Store the first n of 64 elements that lie in vectors of 64 bytes. */
static inline void lutcast_store(void *dst, const __m512i *vectors, int width, Py_ssize_t n)
{
    for (int i = 0; i < width; i++) {
        Py_ssize_t bytes = n * width - 64 * i;
        if (bytes > 0)
            _mm512_mask_storeu_epi8((uint8_t *)dst + 64 * i, lutcast_first(bytes), vectors[i]);
    }
}

static inline Py_ssize_t lutcast_vector_lookup_8_8(const uint8_t *src, uint8_t *dst, Py_ssize_t n, const void *table)
{
    const lutcast_bytes bytes = lutcast_load_bytes(table);
    Py_ssize_t i = 0;
    for (; i + 64 <= n; i += 64)
        _mm512_storeu_si512(dst + i, lutcast_look_up(&bytes, _mm512_loadu_si512(src + i)));
    if (i < n) {
        __mmask64 rest = lutcast_first(n - i);
        _mm512_mask_storeu_epi8(dst + i, rest, lutcast_look_up(&bytes, _mm512_maskz_loadu_epi8(rest, src + i)));
    }
    return n;
}

/* Index bytes that put element `start + i` of two byte planes side by side in words of `width` bytes. */
static inline __m512i lutcast_spread(int start, int width, int low_byte, __mmask64 *used)
{
    uint8_t index[64] = {0};
    uint64_t mask = 0;
    for (int i = 0; i < 64 / width; i++) {
        index[i * width + low_byte] = (uint8_t)(start + i);
        index[i * width + low_byte + 1] = (uint8_t)(start + i + 64);
        mask |= (uint64_t)3 << (i * width + low_byte);
    }
    *used = mask;
    return _mm512_loadu_si512(index);
}

/* Words of `width` bytes of which two neighbouring bytes come from planes and the rest is zero. */
#define LUTCAST_TWO_PLANES(name, type, width, low_byte)                                                    \
static inline Py_ssize_t name(const uint8_t *src, type *dst, Py_ssize_t n, const void *table)             \
{                                                                                                          \
    const lutcast_bytes low = lutcast_load_plane(table, width, low_byte);                                 \
    const lutcast_bytes high = lutcast_load_plane(table, width, low_byte + 1);                            \
    __m512i index[width];                                                                                  \
    __mmask64 used = 0;                                                                                    \
    for (int j = 0; j < width; j++)                                                                        \
        index[j] = lutcast_spread(64 / width * j, width, low_byte, &used);                                \
    for (Py_ssize_t i = 0; i < n; i += 64) {                                                              \
        __m512i code = _mm512_maskz_loadu_epi8(lutcast_first(n - i), src + i);                            \
        __m512i a = lutcast_look_up(&low, code), b = lutcast_look_up(&high, code), out[width];            \
        for (int j = 0; j < width; j++)                                                                    \
            out[j] = _mm512_maskz_permutex2var_epi8(used, a, index[j], b);                                \
        if (i + 64 <= n)                                                                                   \
            for (int j = 0; j < width; j++)                                                                \
                _mm512_storeu_si512((uint8_t *)(dst + i) + 64 * j, out[j]);                               \
        else                                                                                               \
            lutcast_store(dst + i, out, width, n - i);                                                    \
    }                                                                                                      \
    return n;                                                                                              \
}

LUTCAST_TWO_PLANES(lutcast_vector_planes_8_16, uint16_t, 2, 0)
LUTCAST_TWO_PLANES(lutcast_vector_top_8_32, uint32_t, 4, 2)
LUTCAST_TWO_PLANES(lutcast_vector_top_8_64, uint64_t, 8, 6)

/* Elements from which on it pays to cut a table into planes. */
#define LUTCAST_WORTH_PLANES 512

static inline Py_ssize_t lutcast_vector_lookup_8_16(const uint8_t *src, uint16_t *dst, Py_ssize_t n, const void *table)
{
    return n < LUTCAST_WORTH_PLANES ? 0 : lutcast_vector_planes_8_16(src, dst, n, table);
}

/* Whether all bits of 256 words outside a mask are zero. */
static inline int lutcast_within(const void *table, int width, uint64_t mask)
{
    uint64_t outside = 0;
    for (int i = 0; i < 256; i++)
        outside |= width == 4 ? ((const uint32_t *)table)[i] : ((const uint64_t *)table)[i];
    return (outside & ~mask) == 0;
}

static inline Py_ssize_t lutcast_vector_lookup_8_32(const uint8_t *src, uint32_t *dst, Py_ssize_t n, const void *table)
{
    if (n < LUTCAST_WORTH_PLANES || !lutcast_within(table, 4, 0xFFFF0000u))
        return 0;
    return lutcast_vector_top_8_32(src, dst, n, table);
}

static inline Py_ssize_t lutcast_vector_lookup_8_64(const uint8_t *src, uint64_t *dst, Py_ssize_t n, const void *table)
{
    if (n < LUTCAST_WORTH_PLANES || !lutcast_within(table, 8, 0xFFFF000000000000u))
        return 0;
    return lutcast_vector_top_8_64(src, dst, n, table);
}

/* Move 32 magnitudes into the window. */
static inline __m512i lutcast_window(const lutcast_steps *steps, __m512i code)
{
    __m512i magnitude = _mm512_and_si512(code, _mm512_set1_epi16(0x7FFF));
    __m512i least = _mm512_min_epu16(magnitude, _mm512_set1_epi16(1));
    __m512i inside = _mm512_subs_epu16(magnitude, _mm512_set1_epi16((short)steps->low));
    inside = _mm512_max_epu16(inside, least);
    inside = _mm512_min_epu16(inside, _mm512_set1_epi16((short)steps->top));
    __mmask32 is_special = _mm512_cmpge_epu16_mask(magnitude, _mm512_set1_epi16((short)steps->special));
    return _mm512_mask_sub_epi16(inside, is_special, magnitude, _mm512_set1_epi16((short)steps->moved));
}

static inline __m512i lutcast_every_other_byte(int first)
{
    uint8_t index[64];
    for (int i = 0; i < 64; i++)
        index[i] = (uint8_t)(2 * i + first);
    return _mm512_loadu_si512(index);
}

#define LUTCAST_STEPS(name, look_up)                                                                       \
static inline Py_ssize_t name(const uint16_t *src, uint8_t *dst, Py_ssize_t n, const lutcast_steps *steps) \
{                                                                                                          \
    const lutcast_bytes first = lutcast_load_bytes(steps->first), second = lutcast_load_bytes(steps->second); \
    const lutcast_bytes third = lutcast_load_bytes(steps->third), edge_1 = lutcast_load_bytes(steps->edge_1); \
    const lutcast_bytes edge_2 = lutcast_load_bytes(steps->edge_2);                                       \
    const __m512i even = lutcast_every_other_byte(0), odd = lutcast_every_other_byte(1);                  \
    const __m128i down = _mm_cvtsi32_si128(steps->place_bits), up = _mm_cvtsi32_si128(8 - steps->place_bits); \
    const __mmask64 signs = steps->sign || steps->sign_index ? ~(__mmask64)0 : 0;                         \
    const __mmask64 zero_takes_sign = steps->keeps_zero ? 0 : ~(__mmask64)0;                              \
    for (Py_ssize_t i = 0; i < n; i += 64) {                                                              \
        const __mmask64 given = lutcast_first(n - i);                                                     \
        __m512i a = _mm512_maskz_loadu_epi16((__mmask32)given, src + i);                                  \
        __m512i b = _mm512_maskz_loadu_epi16((__mmask32)(given >> 32), src + i + 32);                     \
        const __mmask64 negative = _mm512_movepi8_mask(_mm512_permutex2var_epi8(a, odd, b)) & signs;      \
        a = lutcast_window(steps, a);                                                                      \
        b = lutcast_window(steps, b);                                                                      \
        __m512i block = _mm512_permutex2var_epi8(_mm512_srl_epi16(a, down), even, _mm512_srl_epi16(b, down)); \
        __m512i place = _mm512_permutex2var_epi8(_mm512_sll_epi16(a, up), even, _mm512_sll_epi16(b, up)); \
        block = _mm512_or_si512(block, _mm512_maskz_set1_epi8(negative, (char)steps->sign_index));        \
        __m512i result = look_up(&first, block);                                                          \
        __mmask64 past = _mm512_cmpge_epu8_mask(place, look_up(&edge_1, block));                          \
        result = _mm512_mask_mov_epi8(result, past, look_up(&second, block));                             \
        past = _mm512_cmpge_epu8_mask(place, look_up(&edge_2, block));                                    \
        result = _mm512_mask_mov_epi8(result, past, look_up(&third, block));                              \
        past = negative & (_mm512_test_epi8_mask(result, result) | zero_takes_sign);                      \
        result = _mm512_or_si512(result, _mm512_maskz_set1_epi8(past, (char)steps->sign));                \
        _mm512_mask_storeu_epi8(dst + i, given, result);                                                  \
    }                                                                                                      \
    return n;                                                                                              \
}

LUTCAST_STEPS(lutcast_steps_128, lutcast_look_up_128)
LUTCAST_STEPS(lutcast_steps_256, lutcast_look_up)

static inline Py_ssize_t lutcast_vector_steps(const uint16_t *src, uint8_t *dst, Py_ssize_t n, const void *data)
{
    const lutcast_steps *steps = data;
    if (!steps)
        return 0;
    return steps->is_wide ? lutcast_steps_256(src, dst, n, steps) : lutcast_steps_128(src, dst, n, steps);
}
#else
#define LUTCAST_HAS_REGISTER_TABLES 0
static inline Py_ssize_t lutcast_vector_lookup_8_8(const uint8_t *s, uint8_t *d, Py_ssize_t n, const void *t) { return 0; }
static inline Py_ssize_t lutcast_vector_lookup_8_16(const uint8_t *s, uint16_t *d, Py_ssize_t n, const void *t) { return 0; }
static inline Py_ssize_t lutcast_vector_lookup_8_32(const uint8_t *s, uint32_t *d, Py_ssize_t n, const void *t) { return 0; }
static inline Py_ssize_t lutcast_vector_lookup_8_64(const uint8_t *s, uint64_t *d, Py_ssize_t n, const void *t) { return 0; }
static inline Py_ssize_t lutcast_vector_steps(const uint16_t *s, uint8_t *d, Py_ssize_t n, const void *t) { return 0; }
#endif

#if defined(__F16C__)
#include <immintrin.h>
#define LUTCAST_HAS_F16C 1

/* IEEE 754 conversions; a NaN keeps sign and leading payload bits. */
static inline Py_ssize_t lutcast_vector_float16_to_float32(const uint16_t *src, uint32_t *dst, Py_ssize_t n)
{
    Py_ssize_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps((float *)(dst + i), _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(src + i))));
    return i;
}

/* In the rounding direction of the control word; then infinity becomes `infinity`, NaN is masked with `nan_keep`. */
static inline Py_ssize_t lutcast_vector_float32_to_float16(
    const uint32_t *src, uint16_t *dst, Py_ssize_t n, uint64_t infinity, uint64_t nan_keep)
{
    const __m128i magnitude = _mm_set1_epi16(0x7FFF), infinite = _mm_set1_epi16(0x7C00);
    const __m128i change = _mm_set1_epi16((short)(0x7C00 ^ infinity)), drop = _mm_set1_epi16((short)~nan_keep);
    Py_ssize_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps((const float *)(src + i)), _MM_FROUND_CUR_DIRECTION);
        __m128i absolute = _mm_and_si128(half, magnitude);
        half = _mm_xor_si128(half, _mm_and_si128(_mm_cmpeq_epi16(absolute, infinite), change));
        half = _mm_andnot_si128(_mm_and_si128(_mm_cmpgt_epi16(absolute, infinite), drop), half);
        _mm_storeu_si128((__m128i *)(dst + i), half);
    }
    return i;
}
#else
#define LUTCAST_HAS_F16C 0
static inline Py_ssize_t lutcast_vector_float16_to_float32(const uint16_t *s, uint32_t *d, Py_ssize_t n) { return 0; }
static inline Py_ssize_t lutcast_vector_float32_to_float16(
    const uint32_t *s, uint16_t *d, Py_ssize_t n, uint64_t i, uint64_t k) { return 0; }
#endif

#endif
