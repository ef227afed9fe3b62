/* Tables from 16 bits to 8 as steps, in vector registers; see lutcast.steps.
 *
 * As in registers.h: a function returns how many elements it did, its scalar twin does the rest. */
#ifndef LUTCAST_STEPS_H
#define LUTCAST_STEPS_H

#include "registers.h"

/* How a code becomes a place: block number in the upper byte, place in the block in the lower one. */
enum {
    LUTCAST_PLAIN,        /* the magnitude of a float */
    LUTCAST_DENSE,        /* the same; the first two blocks are looked up byte by byte */
    LUTCAST_WINDOW,       /* the part of the magnitudes of a float that matters, stretched */
    LUTCAST_WINDOW_ZERO,  /* the same, where zero is told from what lies below the window */
    LUTCAST_SIGNED,       /* the magnitude of an integer; dense */
    LUTCAST_UNSIGNED      /* an integer; dense */
};

/* A table in pieces. Along the places its values change in runs, at most twice in a block. */
typedef struct {
    uint16_t shape;        /* how places are made */
    uint16_t low;          /* taken off magnitudes: what the window begins at */
    uint16_t top;          /* last place of finite magnitudes */
    uint16_t moved;        /* what is taken off infinity and NaN, so that they lie behind the window */
    uint16_t stretch;      /* places are shifted left by this */
    uint16_t sign_index;   /* what a sign adds to the block number, 0 where both signs change together */
    uint16_t is_wide;      /* there are more than 128 blocks */
    uint8_t first[256];    /* by block: number of its first run ... */
    uint8_t edge_1[256];   /* ... which grows by one from this place on */
    uint8_t edge_2[256];   /* ... and from this one */
    uint8_t dense[512];    /* number of the run by place, for the first two blocks */
    uint8_t value[256];    /* by number of a run, the upper half for negative ones; run 0 is 0, run 128 the first */
} lutcast_steps;

#if LUTCAST_HAS_REGISTER_TABLES
typedef struct {
    lutcast_bytes first, edge_1, edge_2, dense[2], value;
    __m512i even, odd;
    __m128i stretch;
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
    r.edge_2 = lutcast_load_bytes(steps->edge_2);
    r.dense[0] = lutcast_load_bytes(steps->dense);
    r.dense[1] = lutcast_load_bytes(steps->dense + 256);
    r.value = lutcast_load_bytes(steps->value);
    r.stretch = _mm_cvtsi32_si128(steps->stretch);
    return r;
}

/* Block and place of 32 codes. */
LUTCAST_INLINE __m512i lutcast_place(
    const lutcast_steps *steps, const lutcast_step_registers *r, __m512i code, const int shape)
{
    if (shape == LUTCAST_UNSIGNED)
        return code;
    if (shape == LUTCAST_SIGNED) /* -32768 lands in block 128, which stands for the first one, unused as that is dense */
        return _mm512_abs_epi16(code);
    __m512i magnitude = _mm512_and_si512(code, _mm512_set1_epi16(0x7FFF));
    if (shape == LUTCAST_PLAIN || shape == LUTCAST_DENSE)
        return magnitude;
    __m512i place = _mm512_subs_epu16(magnitude, _mm512_set1_epi16((short)steps->low));
    place = _mm512_min_epu16(place, _mm512_set1_epi16((short)steps->top));
    place = _mm512_max_epu16(place, _mm512_subs_epu16(magnitude, _mm512_set1_epi16((short)steps->moved)));
    if (shape == LUTCAST_WINDOW_ZERO)
        place = _mm512_max_epu16(place, _mm512_min_epu16(magnitude, _mm512_set1_epi16(1)));
    return _mm512_sll_epi16(place, r->stretch);
}

/* Look 64 codes up, which lie in two vectors. */
LUTCAST_INLINE __m512i lutcast_step(
    const lutcast_steps *steps, const lutcast_step_registers *r, __m512i a, __m512i b,
    const int shape, const int wide)
{
    const __m512i one = _mm512_set1_epi8(1);
    __mmask64 negative = 0;
    if (shape != LUTCAST_UNSIGNED)
        negative = _mm512_movepi8_mask(_mm512_permutex2var_epi8(a, r->odd, b));
    a = lutcast_place(steps, r, a, shape);
    b = lutcast_place(steps, r, b, shape);
    const __m512i upper = _mm512_permutex2var_epi8(a, r->odd, b);
    const __m512i place = _mm512_permutex2var_epi8(a, r->even, b);
    __m512i block = upper;
    if (shape != LUTCAST_UNSIGNED)
        block = _mm512_or_si512(block, _mm512_maskz_set1_epi8(negative, (char)steps->sign_index));
    __m512i run = lutcast_look_up(&r->first, block, wide);
    __mmask64 past_1 = _mm512_cmpge_epu8_mask(place, lutcast_look_up(&r->edge_1, block, wide));
    __mmask64 past_2 = _mm512_cmpge_epu8_mask(place, lutcast_look_up(&r->edge_2, block, wide));
    run = _mm512_mask_add_epi8(run, past_1, run, one);
    run = _mm512_mask_add_epi8(run, past_2, run, one);
    if (shape == LUTCAST_DENSE || shape == LUTCAST_SIGNED || shape == LUTCAST_UNSIGNED) {
        __mmask64 is_zero = _mm512_testn_epi8_mask(upper, upper), is_one = _mm512_cmpeq_epi8_mask(upper, one);
        run = _mm512_mask_mov_epi8(run, is_zero, lutcast_look_up(&r->dense[0], place, 1));
        run = _mm512_mask_mov_epi8(run, is_one, lutcast_look_up(&r->dense[1], place, 1));
    }
    __mmask64 has_value = _mm512_test_epi8_mask(run, run);
    __m512i value = _mm512_maskz_permutex2var_epi8(has_value, r->value.part[0], run, r->value.part[1]);
    if (shape == LUTCAST_UNSIGNED)
        return value;
    return _mm512_mask_mov_epi8(
        value, negative & has_value, _mm512_permutex2var_epi8(r->value.part[2], run, r->value.part[3]));
}

/* Round 32 float32 to odd at bfloat16: the upper halves, their last bit set where a lower half is not zero. */
LUTCAST_INLINE __m512i lutcast_odd(const uint32_t *src, __m512i upper, __m512i lower)
{
    __m512i a = _mm512_loadu_si512(src), b = _mm512_loadu_si512(src + 16);
    __m512i high = _mm512_permutex2var_epi16(a, upper, b), low = _mm512_permutex2var_epi16(a, lower, b);
    return _mm512_or_si512(high, _mm512_min_epu16(low, _mm512_set1_epi16(1)));
}

LUTCAST_INLINE Py_ssize_t lutcast_steps_16(
    const uint16_t *src, uint8_t *dst, Py_ssize_t n, const lutcast_steps *steps, const int shape, const int wide)
{
    const lutcast_step_registers r = lutcast_load_steps(steps);
    Py_ssize_t i = 0;
    for (; i + 64 <= n; i += 64) {
        __m512i a = _mm512_loadu_si512(src + i), b = _mm512_loadu_si512(src + i + 32);
        _mm512_storeu_si512(dst + i, lutcast_step(steps, &r, a, b, shape, wide));
    }
    if (i < n) {
        const __mmask64 rest = lutcast_first(n - i);
        __m512i a = _mm512_maskz_loadu_epi16((__mmask32)rest, src + i);
        __m512i b = _mm512_maskz_loadu_epi16((__mmask32)(rest >> 32), src + i + 32);
        _mm512_mask_storeu_epi8(dst + i, rest, lutcast_step(steps, &r, a, b, shape, wide));
    }
    return n;
}

LUTCAST_INLINE Py_ssize_t lutcast_steps_32(
    const uint32_t *src, uint8_t *dst, Py_ssize_t n, const lutcast_steps *steps, const int shape, const int wide)
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
        _mm512_storeu_si512(dst + i, lutcast_step(steps, &r, a, b, shape, wide));
    }
    return i;
}

#define LUTCAST_SHAPE(loop, shape)                               \
    case shape:                                                  \
        return steps->is_wide ? loop(src, dst, n, steps, shape, 1) : loop(src, dst, n, steps, shape, 0);

static inline Py_ssize_t lutcast_vector_steps_16(const uint16_t *src, uint8_t *dst, Py_ssize_t n, const void *data)
{
    const lutcast_steps *steps = data;
    if (!steps)
        return 0;
    switch (steps->shape) {
        LUTCAST_SHAPE(lutcast_steps_16, LUTCAST_PLAIN)
        LUTCAST_SHAPE(lutcast_steps_16, LUTCAST_WINDOW)
        LUTCAST_SHAPE(lutcast_steps_16, LUTCAST_WINDOW_ZERO)
    case LUTCAST_DENSE: return lutcast_steps_16(src, dst, n, steps, LUTCAST_DENSE, 0);
    case LUTCAST_SIGNED: return lutcast_steps_16(src, dst, n, steps, LUTCAST_SIGNED, 0);
    default: return lutcast_steps_16(src, dst, n, steps, LUTCAST_UNSIGNED, 1);
    }
}

/* Steps of a bfloat16 table, which always have a window. */
static inline Py_ssize_t lutcast_vector_steps_32(const uint32_t *src, uint8_t *dst, Py_ssize_t n, const void *data)
{
    const lutcast_steps *steps = data;
    if (!steps)
        return 0;
    switch (steps->shape) {
        LUTCAST_SHAPE(lutcast_steps_32, LUTCAST_WINDOW)
        LUTCAST_SHAPE(lutcast_steps_32, LUTCAST_WINDOW_ZERO)
    default: return 0;
    }
}
#else
LUTCAST_NONE(lutcast_vector_steps_16, uint16_t, uint8_t)
LUTCAST_NONE(lutcast_vector_steps_32, uint32_t, uint8_t)
#endif

#endif
