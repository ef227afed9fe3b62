/* Conversions between wide numbers and 16-bit floats and integers, by AVX-512 or F16C.
 *
 * As in registers.h: a function returns how many elements it did, its scalar twin does the rest.
 * Those that round run between fpu_enter and fpu_leave, in the direction set there. */
#ifndef LUTCAST_CONVERT_H
#define LUTCAST_CONVERT_H

#include <Python.h>
#include <stdint.h>

#include "inline.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) \
    && defined(__AVX512VBMI__)
#include <immintrin.h>
#define LUTCAST_HAS_AVX512 1
#else
#define LUTCAST_HAS_AVX512 0
#endif

#if defined(__F16C__)
#include <immintrin.h>
#define LUTCAST_HAS_F16C 1
#else
#define LUTCAST_HAS_F16C 0
#endif

/* Sources that become float32 on their way, rounded to odd where they do not fit. */
enum { LUTCAST_FLOAT32, LUTCAST_FLOAT64, LUTCAST_INT32, LUTCAST_FLOAT16, LUTCAST_INT16, LUTCAST_UINT16 };

#if LUTCAST_HAS_AVX512
/* Which halves of two vectors of 32-bit words are the lower ones, and bytes of 16-bit words. */
static inline __m512i lutcast_even_halves(void)
{
    return _mm512_set_epi16(
        62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32,
        30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
}

/* Which halves are the upper ones. */
static inline __m512i lutcast_odd_halves(void)
{
    return _mm512_add_epi16(lutcast_even_halves(), _mm512_set1_epi16(1));
}

static inline __m512i lutcast_even_bytes(void)
{
    __m512i halves = lutcast_even_halves(); /* as 16-bit numbers; as bytes every second one is 0 */
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm512_cvtepi16_epi8(halves)),
        _mm512_cvtepi16_epi8(_mm512_add_epi16(halves, _mm512_set1_epi16(64))), 1);
}

/* How float64 is rounded at float32. To odd where normal: wrong for subnormal float32, which lose more than 29 bits. */
enum { LUTCAST_TOWARD_ZERO, LUTCAST_TO_ODD, LUTCAST_TO_ODD_WHERE_NORMAL };

LUTCAST_INLINE __m256i lutcast_8_doubles(const double *src, const int rounding)
{
    enum { toward_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }; /* clang wants a constant */
    __m512d x = _mm512_loadu_pd(src);
    lutcast_fetch(src);
    __m256 narrow = _mm512_cvt_roundpd_ps(x, toward_zero);
    __m256i bits = _mm256_castps_si256(narrow);
    if (rounding == LUTCAST_TOWARD_ZERO)
        return bits;
    __mmask8 is_lost = rounding == LUTCAST_TO_ODD
        ? _mm512_cmp_pd_mask(_mm512_cvtps_pd(narrow), x, _CMP_NEQ_OQ)
        : _mm512_test_epi64_mask(_mm512_castpd_si512(x), _mm512_set1_epi64(0x1FFFFFFF));
    return _mm256_mask_or_epi32(bits, is_lost, bits, _mm256_set1_epi32(1));
}

LUTCAST_INLINE __m512i lutcast_doubles(const double *src, const int rounding)
{
    __m256i low = lutcast_8_doubles(src, rounding), high = lutcast_8_doubles(src + 8, rounding);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* Load 16 numbers as float32, rounded to odd where they are not. */
LUTCAST_INLINE __m512i lutcast_load_odd(const void *src, Py_ssize_t at, const int source)
{
    if (source == LUTCAST_FLOAT64)
        return lutcast_doubles((const double *)src + at, LUTCAST_TO_ODD);
    if (source == LUTCAST_FLOAT16 || source == LUTCAST_INT16 || source == LUTCAST_UINT16) {
        __m256i from = _mm256_loadu_si256((const __m256i *)((const uint16_t *)src + at));
        if (source == LUTCAST_FLOAT16)
            return _mm512_castps_si512(_mm512_cvtph_ps(from));
        return _mm512_castps_si512(_mm512_cvtepi32_ps(
            source == LUTCAST_INT16 ? _mm512_cvtepi16_epi32(from) : _mm512_cvtepu16_epi32(from)));
    }
    __m512i x = _mm512_loadu_si512((const uint32_t *)src + at);
    if (source == LUTCAST_INT32) {
        __m512 narrow = _mm512_cvt_roundepi32_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        __mmask16 is_lost = _mm512_cmpneq_epi32_mask(_mm512_cvttps_epi32(narrow), x);
        __m512i bits = _mm512_castps_si512(narrow);
        return _mm512_mask_or_epi32(bits, is_lost, bits, _mm512_set1_epi32(1));
    }
    return x;
}
#endif

/* ------------------------------------------------------------------ float16 */

/* A NaN keeps its sign and payload and becomes quiet. */
static inline Py_ssize_t lutcast_vector_float16_to_float32(const uint16_t *src, uint32_t *dst, Py_ssize_t n)
{
    Py_ssize_t i = 0;
#if LUTCAST_HAS_AVX512
    for (; i + 16 <= n; i += 16) {
        lutcast_fetch(dst + i);
        _mm512_storeu_ps(dst + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(src + i))));
    }
#elif LUTCAST_HAS_F16C
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps((float *)(dst + i), _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(src + i))));
#endif
    return i;
}

#if LUTCAST_HAS_AVX512
/* Load 16 numbers as float32 that float16 rounds as it would the numbers. Rounding twice in one direction is rounding
 * once. To the nearest, float64 goes by odd numbers, and what is no normal float32 becomes 0 or infinity anyway; so
 * does every int32 that is no float32. */
LUTCAST_INLINE __m512 lutcast_load_for_half(const void *src, Py_ssize_t at, const int source, const int nearest)
{
    if (source == LUTCAST_FLOAT32)
        return _mm512_loadu_ps((const float *)src + at);
    if (source == LUTCAST_INT32)
        return _mm512_cvtepi32_ps(_mm512_loadu_si512((const int32_t *)src + at));
    const double *from = (const double *)src + at;
    if (nearest)
        return _mm512_castsi512_ps(lutcast_doubles(from, LUTCAST_TO_ODD_WHERE_NORMAL));
    return _mm512_insertf32x8(
        _mm512_castps256_ps512(_mm512_cvtpd_ps(_mm512_loadu_pd(from))), _mm512_cvtpd_ps(_mm512_loadu_pd(from + 8)), 1);
}

LUTCAST_INLINE Py_ssize_t lutcast_halves(
    const void *src, uint16_t *dst, Py_ssize_t n, const int source, const int nearest)
{
    Py_ssize_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m512 a = lutcast_load_for_half(src, i, source, nearest);
        __m512 b = lutcast_load_for_half(src, i + 16, source, nearest);
        _mm256_storeu_si256((__m256i *)(dst + i), _mm512_cvtps_ph(a, _MM_FROUND_CUR_DIRECTION));
        _mm256_storeu_si256((__m256i *)(dst + i + 16), _mm512_cvtps_ph(b, _MM_FROUND_CUR_DIRECTION));
    }
    return i;
}
#endif

/* For policies that keep infinity and NaN. `source` as for bfloat16; `direction` as for fpu_enter, which set it. */
static inline Py_ssize_t lutcast_vector_to_float16(
    const void *src, uint16_t *dst, Py_ssize_t n, const int source, int64_t direction)
{
#if LUTCAST_HAS_AVX512
    switch (source) {
    case LUTCAST_FLOAT32: return lutcast_halves(src, dst, n, LUTCAST_FLOAT32, 0);
    case LUTCAST_INT32: return lutcast_halves(src, dst, n, LUTCAST_INT32, 0);
    default:
        return direction ? lutcast_halves(src, dst, n, LUTCAST_FLOAT64, 0) : lutcast_halves(src, dst, n, LUTCAST_FLOAT64, 1);
    }
#else
    return 0;
#endif
}

/* Then infinity becomes `infinity`, and NaN is masked with `nan_keep`. */
static inline Py_ssize_t lutcast_vector_float32_to_float16(
    const uint32_t *src, uint16_t *dst, Py_ssize_t n, uint64_t infinity, uint64_t nan_keep)
{
    Py_ssize_t i = infinity == 0x7C00 && nan_keep ? lutcast_vector_to_float16(src, dst, n, LUTCAST_FLOAT32, 0) : 0;
#if LUTCAST_HAS_F16C
    const __m128i magnitude = _mm_set1_epi16(0x7FFF), infinite = _mm_set1_epi16(0x7C00);
    const __m128i change = _mm_set1_epi16((short)(0x7C00 ^ infinity)), drop = _mm_set1_epi16((short)~nan_keep);
    for (; i + 8 <= n; i += 8) {
        __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps((const float *)(src + i)), _MM_FROUND_CUR_DIRECTION);
        __m128i absolute = _mm_and_si128(half, magnitude);
        half = _mm_xor_si128(half, _mm_and_si128(_mm_cmpeq_epi16(absolute, infinite), change));
        half = _mm_andnot_si128(_mm_and_si128(_mm_cmpgt_epi16(absolute, infinite), drop), half);
        _mm_storeu_si128((__m128i *)(dst + i), half);
    }
#endif
    return i;
}

/* ------------------------------------------------------------------ bfloat16 */

/* How words are cut in two: what is added below the upper half, by sign; 1 where a tie looks at the last bit; 1
 * where lost bits set it; 1 where infinity becomes the largest value; the mask of a NaN. */
typedef struct {
    uint32_t positive, negative, tie_even, odd, saturate, nan_keep;
} lutcast_cut;

#if LUTCAST_HAS_AVX512
/* Round 16 words to their upper halves; overflow by carry is infinity, as IEEE 754 has it. `plain`: nearest, NaN
 * kept. Integers are no NaN. */
LUTCAST_INLINE __m512i lutcast_cut_words(
    __m512i x, const lutcast_cut *cut, const int plain, const int source)
{
    const int is_integer = source == LUTCAST_INT32 || source == LUTCAST_INT16 || source == LUTCAST_UINT16;
    __m512i top = _mm512_srli_epi32(x, 16);
    __m512i bias = _mm512_set1_epi32((int)cut->positive);
    if (!plain)
        bias = _mm512_mask_mov_epi32(bias, _mm512_movepi32_mask(x), _mm512_set1_epi32((int)cut->negative));
    __m512i sum = _mm512_add_epi32(x, bias);
    sum = _mm512_add_epi32(sum, _mm512_and_si512(top, _mm512_set1_epi32((int)cut->tie_even)));
    if (!plain) {
        __mmask16 is_lost = _mm512_test_epi32_mask(x, _mm512_set1_epi32(0xFFFF));
        sum = _mm512_mask_or_epi32(sum, is_lost, sum, _mm512_set1_epi32((int)(cut->odd << 16)));
    }
    if (is_integer)
        return sum;
    __mmask16 is_nan = _mm512_cmp_ps_mask(_mm512_castsi512_ps(x), _mm512_castsi512_ps(x), _CMP_UNORD_Q);
    sum = _mm512_mask_or_epi32(sum, is_nan, x, _mm512_set1_epi32(0x400000));
    return plain ? sum : _mm512_mask_and_epi32(sum, is_nan, sum, _mm512_set1_epi32((int)cut->nan_keep));
}

/* The nearest of 32 float64, ties to even, NaN kept. Rounded toward zero at float32, only a tie may be none: then they are
 * rounded to odd there. */
LUTCAST_INLINE Py_ssize_t lutcast_cut_doubles(const double *src, uint16_t *dst, Py_ssize_t n)
{
    const __m512i upper = lutcast_odd_halves(), lower = lutcast_even_halves();
    const __m512i half = _mm512_set1_epi16((short)0x8000), twice_infinity = _mm512_set1_epi16((short)0xFF00);
    Py_ssize_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m512i a = lutcast_doubles(src + i, LUTCAST_TOWARD_ZERO), b = lutcast_doubles(src + i + 16, LUTCAST_TOWARD_ZERO);
        __m512i lost = _mm512_permutex2var_epi16(a, lower, b);
        if (_mm512_cmpeq_epi16_mask(lost, half)) {
            a = lutcast_doubles(src + i, LUTCAST_TO_ODD);
            b = lutcast_doubles(src + i + 16, LUTCAST_TO_ODD);
            lost = _mm512_permutex2var_epi16(a, lower, b);
        }
        __m512i kept = _mm512_permutex2var_epi16(a, upper, b);
        __m512i is_odd = _mm512_and_si512(kept, _mm512_set1_epi16(1));
        __mmask32 is_number = _mm512_cmple_epu16_mask(_mm512_add_epi16(kept, kept), twice_infinity);
        __mmask32 is_up = _mm512_mask_cmpgt_epu16_mask(is_number, _mm512_adds_epu16(lost, is_odd), half);
        _mm512_storeu_si512(dst + i, _mm512_mask_add_epi16(kept, is_up, kept, _mm512_set1_epi16(1)));
    }
    return i;
}

LUTCAST_INLINE Py_ssize_t lutcast_cut_all(
    const void *src, uint16_t *dst, Py_ssize_t n, const lutcast_cut *cut, const int plain, const int source)
{
    const __m512i words = lutcast_odd_halves();
    Py_ssize_t i = 0;
    if (plain && source == LUTCAST_FLOAT64 && cut->tie_even)
        i = lutcast_cut_doubles(src, dst, n);
    for (; i + 32 <= n; i += 32) {
        __m512i a = lutcast_cut_words(lutcast_load_odd(src, i, source), cut, plain, source);
        __m512i b = lutcast_cut_words(lutcast_load_odd(src, i + 16, source), cut, plain, source);
        __m512i result = _mm512_permutex2var_epi16(a, words, b);
        if (!plain) {
            __m512i magnitude = _mm512_and_si512(result, _mm512_set1_epi16(0x7FFF));
            __mmask32 is_infinite = _mm512_cmpeq_epi16_mask(magnitude, _mm512_set1_epi16(0x7F80));
            result = _mm512_mask_sub_epi16(result, is_infinite, result, _mm512_set1_epi16((short)cut->saturate));
        }
        _mm512_storeu_si512(dst + i, result);
    }
    return i;
}
#endif

#define LUTCAST_CUT(source)                                                                      \
    case source:                                                                                 \
        return plain ? lutcast_cut_all(src, dst, n, &cut, 1, source) : lutcast_cut_all(src, dst, n, &cut, 0, source);

static inline Py_ssize_t lutcast_vector_to_bfloat16(
    const void *src, uint16_t *dst, Py_ssize_t n, const int source,
    uint32_t positive, uint32_t negative, uint32_t tie_even, uint32_t odd, uint32_t saturate, uint32_t nan_keep)
{
#if LUTCAST_HAS_AVX512
    const lutcast_cut cut = {positive, negative, tie_even, odd, saturate, nan_keep};
    const int plain = positive == negative && !odd && !saturate && nan_keep;
    switch (source) {
    LUTCAST_CUT(LUTCAST_FLOAT32)
    LUTCAST_CUT(LUTCAST_FLOAT64)
    LUTCAST_CUT(LUTCAST_INT32)
    LUTCAST_CUT(LUTCAST_FLOAT16)
    LUTCAST_CUT(LUTCAST_INT16)
    LUTCAST_CUT(LUTCAST_UINT16)
    }
#endif
    return 0;
}

/* ------------------------------------------------------------------ integers */

/* Saturating. `high` is the largest value, or the largest float below it, beyond which the result is `most`. The order
 * of the operands of max lets a NaN pass; converted, it is the most negative number, whose lower bits are 0. A comparison
 * beside the conversion is faster than min. */
#if LUTCAST_HAS_AVX512
LUTCAST_INLINE __m256i lutcast_float64_to_int32(const double *src, __m512d low, __m512d high, const int width)
{
    __m512d x = _mm512_loadu_pd(src);
    lutcast_fetch(src);
    if (width < 4)
        return _mm512_mask_cvtpd_epi32(
            _mm512_cvtpd_epi32(high), _mm512_cmp_pd_mask(x, high, _CMP_NGT_UQ), _mm512_max_pd(low, x));
    return _mm512_maskz_cvtpd_epi32(
        _mm512_cmp_pd_mask(x, x, _CMP_ORD_Q), _mm512_min_pd(_mm512_max_pd(x, low), high));
}

/* Convert the 16 numbers from `src` on. */
LUTCAST_INLINE __m512i lutcast_float64_to_int32s(const double *src, __m512d low, __m512d high, const int width)
{
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(lutcast_float64_to_int32(src, low, high, width)),
        lutcast_float64_to_int32(src + 8, low, high, width), 1);
}
#endif

#if LUTCAST_HAS_AVX512
/* What the loops to 32 bits and fewer keep in registers. */
typedef struct {
    __m512 low, high;
    __m512i most, mask;
} lutcast_int_limits;

/* Convert the 16 numbers from `at` on, float32 or the upper halves of it. */
LUTCAST_INLINE __m512i lutcast_load_int32(
    const void *src, Py_ssize_t at, const lutcast_int_limits *limits, const int is_bfloat16, const int width)
{
    __m512 x = is_bfloat16
        ? _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(
              _mm256_loadu_si256((const __m256i *)((const uint16_t *)src + at))), 16))
        : _mm512_loadu_ps((const float *)src + at);
    if (!is_bfloat16)
        lutcast_fetch((const float *)src + at);
    if (width < 4) /* `high` is the largest value */
        return _mm512_mask_cvtps_epi32(
            limits->most, _mm512_cmp_ps_mask(x, limits->high, _CMP_NGT_UQ), _mm512_max_ps(limits->low, x));
    /* To int32 itself: what is too low is converted as the lowest. */
    __m512i result = _mm512_maskz_cvtps_epi32(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
    return _mm512_mask_mov_epi32(result, _mm512_cmp_ps_mask(x, limits->high, _CMP_GT_OQ), limits->most);
}

LUTCAST_INLINE Py_ssize_t lutcast_to_int32(
    const void *src, void *dst, Py_ssize_t n, const lutcast_int_limits *limits, const int is_bfloat16, const int width)
{
    const __m512i halves = lutcast_even_halves(), bytes = lutcast_even_bytes();
    Py_ssize_t i = 0;
    for (; width < 4 && i + 64 <= n; i += 64) { /* whole stores, which are faster than parts */
        __m512i words[2];
        for (int j = 0; j < 2; j++) {
            __m512i a = lutcast_load_int32(src, i + 32 * j, limits, is_bfloat16, width);
            __m512i b = lutcast_load_int32(src, i + 32 * j + 16, limits, is_bfloat16, width);
            words[j] = _mm512_permutex2var_epi16(a, halves, b);
            if (width == 2)
                _mm512_storeu_si512((uint16_t *)dst + i + 32 * j, words[j]);
        }
        if (width == 1)
            _mm512_storeu_si512((uint8_t *)dst + i, _mm512_and_si512(
                _mm512_permutex2var_epi8(words[0], bytes, words[1]), limits->mask));
    }
    for (; i + 16 <= n; i += 16) {
        __m512i x = lutcast_load_int32(src, i, limits, is_bfloat16, width);
        if (width == 1)
            _mm_storeu_si128((__m128i *)((uint8_t *)dst + i), _mm_and_si128(
                _mm512_cvtepi32_epi8(x), _mm512_castsi512_si128(limits->mask)));
        else if (width == 2)
            _mm256_storeu_si256((__m256i *)((uint16_t *)dst + i), _mm512_cvtepi32_epi16(x));
        else
            _mm512_storeu_si512((uint32_t *)dst + i, x);
    }
    return i;
}
#endif

/* `mask` is that of a code, which fills its word where that has more than 8 bits. */
LUTCAST_INLINE Py_ssize_t lutcast_any_to_int(
    const void *src, void *dst, int width, Py_ssize_t n, float low, float high, int32_t most, int32_t mask,
    const int is_bfloat16)
{
#if LUTCAST_HAS_AVX512
    const lutcast_int_limits limits = {
        _mm512_set1_ps(low), _mm512_set1_ps(high), _mm512_set1_epi32(most), _mm512_set1_epi8((char)mask)};
    switch (width) {
    case 1: return lutcast_to_int32(src, dst, n, &limits, is_bfloat16, 1);
    case 2: return lutcast_to_int32(src, dst, n, &limits, is_bfloat16, 2);
    default: return lutcast_to_int32(src, dst, n, &limits, is_bfloat16, 4);
    }
#else
    return 0;
#endif
}

static inline Py_ssize_t lutcast_vector_float32_to_int(
    const float *src, void *dst, int width, Py_ssize_t n, float low, float high, int32_t most, int32_t mask)
{
    return lutcast_any_to_int(src, dst, width, n, low, high, most, mask, 0);
}

static inline Py_ssize_t lutcast_vector_bfloat16_to_int(
    const uint16_t *src, void *dst, int width, Py_ssize_t n, float low, float high, int32_t most, int32_t mask)
{
    return lutcast_any_to_int(src, dst, width, n, low, high, most, mask, 1);
}

#if LUTCAST_HAS_AVX512
LUTCAST_INLINE Py_ssize_t lutcast_doubles_to_int32(
    const double *src, void *dst, Py_ssize_t n, __m512d low, __m512d high, __m512i mask, const int width)
{
    const __m512i halves = lutcast_even_halves();
    Py_ssize_t i = 0;
    for (; width < 4 && i + 32 <= n; i += 32) {
        __m512i words = _mm512_permutex2var_epi16(
            lutcast_float64_to_int32s(src + i, low, high, width), halves,
            lutcast_float64_to_int32s(src + i + 16, low, high, width));
        if (width == 2)
            _mm512_storeu_si512((uint16_t *)dst + i, words);
        else
            _mm256_storeu_si256((__m256i *)((uint8_t *)dst + i), _mm512_cvtepi16_epi8(_mm512_and_si512(words, mask)));
    }
    for (; i + 8 <= n; i += 8) {
        __m256i x = lutcast_float64_to_int32(src + i, low, high, width);
        if (width == 1)
            _mm_storel_epi64((__m128i *)((uint8_t *)dst + i), _mm256_cvtepi32_epi8(
                _mm256_and_si256(x, _mm512_castsi512_si256(mask))));
        else if (width == 2)
            _mm_storeu_si128((__m128i *)((uint16_t *)dst + i), _mm256_cvtepi32_epi16(x));
        else
            _mm256_storeu_si256((__m256i *)((uint32_t *)dst + i), x);
    }
    return i;
}
#endif

static inline Py_ssize_t lutcast_vector_float64_to_int(
    const double *src, void *dst, int width, Py_ssize_t n, double low, double high, int32_t mask)
{
#if LUTCAST_HAS_AVX512
    const __m512d lows = _mm512_set1_pd(low), highs = _mm512_set1_pd(high);
    const __m512i masks = _mm512_set1_epi8((char)mask);
    switch (width) {
    case 1: return lutcast_doubles_to_int32(src, dst, n, lows, highs, masks, 1);
    case 2: return lutcast_doubles_to_int32(src, dst, n, lows, highs, masks, 2);
    default: return lutcast_doubles_to_int32(src, dst, n, lows, highs, masks, 4);
    }
#else
    return 0;
#endif
}

/* Through int64, in words of 4 or 8 bytes. */
#if LUTCAST_HAS_AVX512
static inline void lutcast_store_int64(
    __m512d x, void *dst, int width, __m512d low, __m512d high, __m512i most)
{
    __mmask8 is_number = _mm512_cmp_pd_mask(x, x, _CMP_ORD_Q);
    __m512i result = _mm512_maskz_cvtpd_epi64(is_number, _mm512_min_pd(_mm512_max_pd(x, low), high));
    result = _mm512_mask_mov_epi64(result, _mm512_cmp_pd_mask(x, high, _CMP_GT_OQ), most);
    if (width == 4)
        _mm256_storeu_si256(dst, _mm512_cvtepi64_epi32(result));
    else
        _mm512_storeu_si512(dst, result);
}
#endif

#if LUTCAST_HAS_AVX512
#define LUTCAST_LOOP_INT64(load)                                                                     \
    const __m512d lows = _mm512_set1_pd(low), highs = _mm512_set1_pd(high);                         \
    const __m512i mosts = _mm512_set1_epi64(most);                                                   \
    for (; i + 8 <= n; i += 8) {                                                                    \
        lutcast_fetch(src + i);                                                                     \
        lutcast_fetch((uint8_t *)dst + i * width);                                                  \
        lutcast_store_int64(load, (uint8_t *)dst + i * width, width, lows, highs, mosts);           \
    }
#else
#define LUTCAST_LOOP_INT64(load)
#endif

static inline Py_ssize_t lutcast_vector_float32_to_int64(
    const float *src, void *dst, int width, Py_ssize_t n, double low, double high, int64_t most)
{
    Py_ssize_t i = 0;
    LUTCAST_LOOP_INT64(_mm512_cvtps_pd(_mm256_loadu_ps(src + i)))
    return i;
}

static inline Py_ssize_t lutcast_vector_float64_to_int64(
    const double *src, void *dst, int width, Py_ssize_t n, double low, double high, int64_t most)
{
    Py_ssize_t i = 0;
    LUTCAST_LOOP_INT64(_mm512_loadu_pd(src + i))
    return i;
}

/* ------------------------------------------------------------------ float32 */

/* Rounded in the direction set; `change` is what infinity is changed by, `nan_keep` the mask of a NaN. */
static inline Py_ssize_t lutcast_vector_float64_to_float32(
    const double *src, uint32_t *dst, Py_ssize_t n, uint32_t change, uint32_t nan_keep)
{
    Py_ssize_t i = 0;
#if LUTCAST_HAS_AVX512
    const __m256i infinity = _mm256_set1_epi32(0x7F800000);
    for (; i + 8 <= n; i += 8) {
        lutcast_fetch(src + i);
        __m256i bits = _mm256_castps_si256(_mm512_cvtpd_ps(_mm512_loadu_pd(src + i)));
        __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFFFF));
        __mmask8 is_infinite = _mm256_cmpeq_epi32_mask(magnitude, infinity);
        __mmask8 is_nan = _mm256_cmpgt_epi32_mask(magnitude, infinity);
        bits = _mm256_mask_xor_epi32(bits, is_infinite, bits, _mm256_set1_epi32((int)change));
        bits = _mm256_mask_and_epi32(bits, is_nan, bits, _mm256_set1_epi32((int)nan_keep));
        _mm256_storeu_si256((__m256i *)(dst + i), bits);
    }
#endif
    return i;
}

/* Rounded in the direction set. */
static inline Py_ssize_t lutcast_vector_int64_to_float32(const int64_t *src, uint32_t *dst, Py_ssize_t n)
{
    Py_ssize_t i = 0;
#if LUTCAST_HAS_AVX512
    for (; i + 8 <= n; i += 8) {
        lutcast_fetch(src + i);
        _mm256_storeu_ps((float *)(dst + i), _mm512_cvtepi64_ps(_mm512_loadu_si512(src + i)));
    }
#endif
    return i;
}

/* ------------------------------------------------------------------ float64 */

/* Exact; only for policies that keep infinity and NaN. */
static inline Py_ssize_t lutcast_vector_float32_to_float64(const uint32_t *src, uint64_t *dst, Py_ssize_t n)
{
    Py_ssize_t i = 0;
#if LUTCAST_HAS_AVX512
    for (; i + 8 <= n; i += 8) {
        lutcast_fetch(dst + i);
        _mm512_storeu_pd(dst + i, _mm512_cvtps_pd(_mm256_loadu_ps((const float *)(src + i))));
    }
#endif
    return i;
}

/* From integers of so many bytes; those of 8 bytes are rounded in the direction set. */
static inline Py_ssize_t lutcast_vector_integer_to_float64(
    const void *src, uint64_t *dst, Py_ssize_t n, const int size, const int is_signed)
{
    Py_ssize_t i = 0;
#if LUTCAST_HAS_AVX512
    for (; i + 8 <= n; i += 8) {
        const uint8_t *from = (const uint8_t *)src + i * size;
        __m512d x;
        lutcast_fetch(dst + i);
        if (size == 8)
            x = _mm512_cvtepi64_pd(_mm512_loadu_si512(from));
        else if (size == 4 && !is_signed)
            x = _mm512_cvtepu32_pd(_mm256_loadu_si256((const __m256i *)from));
        else if (size == 4)
            x = _mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i *)from));
        else if (size == 2) {
            __m128i halves = _mm_loadu_si128((const __m128i *)from);
            x = _mm512_cvtepi32_pd(is_signed ? _mm256_cvtepi16_epi32(halves) : _mm256_cvtepu16_epi32(halves));
        } else {
            __m128i bytes = _mm_loadl_epi64((const __m128i *)from);
            x = _mm512_cvtepi32_pd(is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
        }
        _mm512_storeu_pd(dst + i, x);
    }
#endif
    return i;
}

/* From float16 or bfloat16, exact; a NaN becomes quiet. */
static inline Py_ssize_t lutcast_vector_16_to_float64(
    const uint16_t *src, uint64_t *dst, Py_ssize_t n, const int is_bfloat16)
{
    Py_ssize_t i = 0;
#if LUTCAST_HAS_AVX512
    for (; i + 8 <= n; i += 8) {
        lutcast_fetch(dst + i);
        __m128i from = _mm_loadu_si128((const __m128i *)(src + i));
        __m256 x = is_bfloat16 ? _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(from), 16)) : _mm256_cvtph_ps(from);
        _mm512_storeu_pd(dst + i, _mm512_cvtps_pd(x));
    }
#endif
    return i;
}

#endif
