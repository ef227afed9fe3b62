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

/* How the number of a run becomes a value. */
enum {
    LUTCAST_SAME,          /* it is the value, to which the sign is added */
    LUTCAST_MIRRORED,      /* the value is looked up, and the sign added unless it is run 0, which is 0 */
    LUTCAST_PAIRED,        /* the value is looked up for each sign */
    LUTCAST_DIRECT         /* there are no numbers: at most 32 blocks with one edge have two values for each sign */
};

/* How many blocks there are, and what they know. */
enum {
    LUTCAST_NARROW,        /* at most 128, with two edges */
    LUTCAST_WIDE,          /* at most 256, with two edges */
    LUTCAST_CELLS          /* at most 128 of eight kinds, each of eight cells, of which the first place is apart */
};

/* A table in pieces. Along the places its values change in runs. */
typedef struct {
    uint16_t shape;        /* how places are made */
    uint16_t result;       /* how numbers of runs become values */
    uint16_t low;          /* taken off magnitudes: what the window begins at */
    uint16_t top;          /* last place of finite magnitudes */
    uint16_t moved;        /* what is taken off infinity and NaN, so that they lie behind the window */
    uint16_t stretch;      /* places are shifted left by this */
    uint16_t sign;         /* the bit of the values that says they are negative */
    uint16_t sign_index;   /* what a sign adds to the block number, 0 where both signs change together */
    uint16_t blocks;       /* what they are */
    uint8_t first[256];    /* by block: number of its first run ... */
    uint8_t edge_1[256];   /* ... which grows by one from this place on; or its kind, times 16 */
    uint8_t edge_2[256];   /* ... and from this one; or what is added, by kind, cell and being past its first place */
    uint8_t dense[512];    /* number of the run by place, for the first two blocks */
    uint8_t value[256];    /* by number of a run, the upper half for negative ones; run 0 is 0, run 128 the first;
                            * or by block and sign before the edge, then past it */
} lutcast_steps;

#if LUTCAST_HAS_REGISTER_TABLES
typedef struct {
    lutcast_bytes first, edge_1, edge_2, dense[2], value;
    __m512i order;         /* where the results of 64 elements are */
    __m512i even;          /* lower bytes of 16-bit words */
    __m512i low, top, moved, stretch, sign, sign_index;
} lutcast_step_registers;

LUTCAST_INLINE lutcast_step_registers lutcast_load_steps(const lutcast_steps *steps, const int is_float32)
{
    lutcast_step_registers r;
    uint8_t order[64], even[64];
    for (int i = 0; i < 64; i++) {
        order[i] = (uint8_t)(is_float32 ? i % 16 * 4 + (i / 16 % 2) * 2 + i / 32 : i % 32 * 2 + i / 32);
        even[i] = (uint8_t)(2 * i);
    }
    r.order = _mm512_loadu_si512(order);
    r.even = _mm512_loadu_si512(even);
    r.first = lutcast_load_bytes(steps->first);
    r.edge_1 = lutcast_load_bytes(steps->edge_1);
    r.edge_2 = lutcast_load_bytes(steps->edge_2);
    r.dense[0] = lutcast_load_bytes(steps->dense);
    r.dense[1] = lutcast_load_bytes(steps->dense + 256);
    r.value = lutcast_load_bytes(steps->value);
    r.low = _mm512_set1_epi16((short)steps->low);
    r.top = _mm512_set1_epi16((short)steps->top);
    r.moved = _mm512_set1_epi16((short)steps->moved);
    r.stretch = _mm512_set1_epi16((short)steps->stretch);
    r.sign = _mm512_set1_epi8((char)steps->sign);
    r.sign_index = _mm512_set1_epi8((char)steps->sign_index);
    return r;
}

/* Block and place of 32 codes. */
LUTCAST_INLINE __m512i lutcast_place(
    const lutcast_step_registers *r, __m512i code, const int shape)
{
    if (shape == LUTCAST_UNSIGNED)
        return code;
    if (shape == LUTCAST_SIGNED) /* -32768 lands in block 128, read as the first, which is dense and so free */
        return _mm512_abs_epi16(code);
    __m512i magnitude = _mm512_and_si512(code, _mm512_set1_epi16(0x7FFF));
    if (shape == LUTCAST_PLAIN || shape == LUTCAST_DENSE)
        return magnitude;
    __m512i place = _mm512_subs_epu16(magnitude, r->low);
    place = _mm512_min_epu16(place, r->top);
    place = _mm512_max_epu16(place, _mm512_subs_epu16(magnitude, r->moved));
    if (shape == LUTCAST_WINDOW_ZERO)
        place = _mm512_max_epu16(place, _mm512_min_epu16(magnitude, _mm512_set1_epi16(1)));
    return _mm512_sllv_epi16(place, r->stretch);
}

/* The lower or upper bytes of the 16-bit words of two vectors: those of the first at even places. */
LUTCAST_INLINE __m512i lutcast_lower_bytes(__m512i a, __m512i b)
{
    return _mm512_or_si512(_mm512_and_si512(a, _mm512_set1_epi16(0xFF)), _mm512_slli_epi16(b, 8));
}

LUTCAST_INLINE __m512i lutcast_upper_bytes(__m512i a, __m512i b)
{
    return _mm512_or_si512(_mm512_srli_epi16(a, 8), _mm512_and_si512(b, _mm512_set1_epi16((short)0xFF00)));
}

/* Look 64 codes up, which lie in two vectors. */
LUTCAST_INLINE __m512i lutcast_step(
    const lutcast_step_registers *r, __m512i a, __m512i b,
    const int shape, const int result, const int blocks)
{
    const __m512i one = _mm512_set1_epi8(1);
    const int wide = blocks == LUTCAST_WIDE;
    __mmask64 negative = 0;
    if (shape != LUTCAST_UNSIGNED)
        negative = _mm512_movepi8_mask(lutcast_upper_bytes(a, b));
    a = lutcast_place(r, a, shape);
    b = lutcast_place(r, b, shape);
    const __m512i upper = lutcast_upper_bytes(a, b), place = lutcast_lower_bytes(a, b);
    __m512i block = upper;
    if (shape != LUTCAST_UNSIGNED)
        block = _mm512_or_si512(block, _mm512_maskz_mov_epi8(negative, r->sign_index));
    if (result == LUTCAST_DIRECT) {
        __mmask64 past = _mm512_cmpge_epu8_mask(place, _mm512_permutexvar_epi8(block, r->edge_1.part[0]));
        block = _mm512_mask_add_epi8(block, past, block, _mm512_set1_epi8(64));
        return _mm512_permutexvar_epi8(r->order, lutcast_look_up(&r->value, block, 0));
    }
    __m512i run = lutcast_look_up(&r->first, block, wide);
    if (blocks == LUTCAST_CELLS) {
        __mmask64 is_past = _mm512_test_epi8_mask(place, _mm512_set1_epi8(31));
        __m512i cell = _mm512_and_si512(_mm512_srli_epi16(place, 4), _mm512_set1_epi8(14));
        cell = _mm512_or_si512(cell, lutcast_look_up(&r->edge_1, block, 0));
        cell = _mm512_mask_add_epi8(cell, is_past, cell, one);
        run = _mm512_add_epi8(run, lutcast_look_up(&r->edge_2, cell, 0));
    } else {
        __mmask64 past_1 = _mm512_cmpge_epu8_mask(place, lutcast_look_up(&r->edge_1, block, wide));
        __mmask64 past_2 = _mm512_cmpge_epu8_mask(place, lutcast_look_up(&r->edge_2, block, wide));
        run = _mm512_mask_add_epi8(run, past_1, run, one);
        run = _mm512_mask_add_epi8(run, past_2, run, one);
    }
    if (shape == LUTCAST_DENSE || shape == LUTCAST_SIGNED || shape == LUTCAST_UNSIGNED) {
        __mmask64 is_zero = _mm512_testn_epi8_mask(upper, upper), is_one = _mm512_cmpeq_epi8_mask(upper, one);
        run = _mm512_mask_mov_epi8(run, is_zero, lutcast_look_up(&r->dense[0], place, 1));
        run = _mm512_mask_mov_epi8(run, is_one, lutcast_look_up(&r->dense[1], place, 1));
    }
    __m512i value = run;
    if (result != LUTCAST_SAME) {
        __mmask64 has_value = _mm512_test_epi8_mask(run, run);
        value = _mm512_maskz_permutex2var_epi8(has_value, r->value.part[0], run, r->value.part[1]);
        negative &= has_value;
    }
    if (shape != LUTCAST_UNSIGNED && result == LUTCAST_PAIRED)
        value = _mm512_mask_mov_epi8(
            value, negative, _mm512_permutex2var_epi8(r->value.part[2], run, r->value.part[3]));
    else if (shape != LUTCAST_UNSIGNED)
        value = _mm512_or_si512(value, _mm512_maskz_mov_epi8(negative, r->sign));
    return _mm512_permutexvar_epi8(r->order, value);
}

/* Round 32 float32 to odd at bfloat16: the upper halves, their last bit set where a lower half is not zero.
 * The first sixteen are at even places. */
LUTCAST_INLINE __m512i lutcast_odd(const uint32_t *src)
{
    const __m512i upper = _mm512_set1_epi32((int)0xFFFF0000);
    __m512i a = _mm512_loadu_si512(src), b = _mm512_loadu_si512(src + 16);
    lutcast_fetch(src);
    lutcast_fetch(src + 16);
    __m512i high = _mm512_or_si512(_mm512_srli_epi32(a, 16), _mm512_and_si512(b, upper));
    __m512i low = _mm512_or_si512(_mm512_andnot_si512(upper, a), _mm512_slli_epi32(b, 16));
    return _mm512_or_si512(high, _mm512_min_epu16(low, _mm512_set1_epi16(1)));
}

/* The results for 64 elements, 16-bit codes or float32. */
LUTCAST_INLINE __m512i lutcast_step_at(
    const void *src, Py_ssize_t at, const lutcast_step_registers *r,
    const int shape, const int result, const int blocks, const int is_float32)
{
    __m512i a, b;
    if (is_float32) {
        a = lutcast_odd((const uint32_t *)src + at);
        b = lutcast_odd((const uint32_t *)src + at + 32);
    } else {
        a = _mm512_loadu_si512((const uint16_t *)src + at);
        b = _mm512_loadu_si512((const uint16_t *)src + at + 32);
    }
    return lutcast_step(r, a, b, shape, result, blocks);
}

LUTCAST_INLINE Py_ssize_t lutcast_steps_loop(
    const void *src, uint8_t *dst, Py_ssize_t n, const lutcast_steps *steps,
    const int shape, const int result, const int blocks, const int is_float32, const int packed)
{
    const lutcast_step_registers r = lutcast_load_steps(steps, is_float32);
    const __m512i weights = _mm512_set1_epi16(0x1001);
    Py_ssize_t i = 0;
    if (packed) {
        for (; i + 128 <= n; i += 128) {
            __m512i a = lutcast_step_at(src, i, &r, shape, result, blocks, is_float32);
            __m512i b = lutcast_step_at(src, i + 64, &r, shape, result, blocks, is_float32);
            a = _mm512_maddubs_epi16(a, weights), b = _mm512_maddubs_epi16(b, weights);
            _mm512_storeu_si512(dst + i / 2, _mm512_permutex2var_epi8(a, r.even, b));
        }
        return i;
    }
    for (; i + 64 <= n; i += 64)
        _mm512_storeu_si512(dst + i, lutcast_step_at(src, i, &r, shape, result, blocks, is_float32));
    if (i < n && !is_float32) {
        const uint16_t *last = (const uint16_t *)src + i;
        const __mmask64 rest = lutcast_first(n - i);
        __m512i a = _mm512_maskz_loadu_epi16((__mmask32)rest, last);
        __m512i b = _mm512_maskz_loadu_epi16((__mmask32)(rest >> 32), last + 32);
        _mm512_mask_storeu_epi8(dst + i, rest, lutcast_step(&r, a, b, shape, result, blocks));
        return n;
    }
    return i;
}

#define LUTCAST_KEY(shape, result, blocks) (((shape) * 4 + (result)) * 3 + (blocks))
#define LUTCAST_STEPS(shape, result, blocks) \
    case LUTCAST_KEY(shape, result, blocks): \
        return lutcast_steps_loop(src, dst, n, steps, shape, result, blocks, is_float32, packed);
#define LUTCAST_STEPS_OF(shape, blocks) \
    LUTCAST_STEPS(shape, LUTCAST_SAME, blocks) \
    LUTCAST_STEPS(shape, LUTCAST_MIRRORED, blocks) \
    LUTCAST_STEPS(shape, LUTCAST_PAIRED, blocks)
#define LUTCAST_STEPS_OF_WINDOW(shape) \
    LUTCAST_STEPS_OF(shape, LUTCAST_NARROW) \
    LUTCAST_STEPS_OF(shape, LUTCAST_WIDE) \
    LUTCAST_STEPS(shape, LUTCAST_SAME, LUTCAST_CELLS) \
    LUTCAST_STEPS(shape, LUTCAST_MIRRORED, LUTCAST_CELLS) \
    LUTCAST_STEPS(shape, LUTCAST_DIRECT, LUTCAST_NARROW)

/* Of 16-bit codes, or of float32 by way of bfloat16, to bytes or to packed codes of 4 bits. */
LUTCAST_INLINE Py_ssize_t lutcast_vector_steps(
    const void *src, uint8_t *dst, Py_ssize_t n, const void *data, const int is_float32, const int packed)
{
    const lutcast_steps *steps = data;
    if (!steps)
        return 0;
    const int key = LUTCAST_KEY(steps->shape, steps->result, steps->blocks);
    switch (key) { /* bfloat16 always has a window */
    LUTCAST_STEPS_OF_WINDOW(LUTCAST_WINDOW)
    LUTCAST_STEPS_OF_WINDOW(LUTCAST_WINDOW_ZERO)
    }
    if (is_float32)
        return 0;
    switch (key) {
    LUTCAST_STEPS_OF(LUTCAST_PLAIN, LUTCAST_NARROW)
    LUTCAST_STEPS_OF(LUTCAST_PLAIN, LUTCAST_WIDE)
    LUTCAST_STEPS_OF(LUTCAST_DENSE, LUTCAST_NARROW)
    LUTCAST_STEPS_OF(LUTCAST_SIGNED, LUTCAST_NARROW)
    LUTCAST_STEPS(LUTCAST_UNSIGNED, LUTCAST_SAME, LUTCAST_WIDE)
    LUTCAST_STEPS(LUTCAST_UNSIGNED, LUTCAST_PAIRED, LUTCAST_WIDE)
    default: return 0;
    }
}
#else
LUTCAST_INLINE Py_ssize_t lutcast_vector_steps(
    const void *src, uint8_t *dst, Py_ssize_t n, const void *data, const int is_float32, const int packed)
{
    (void)src, (void)dst, (void)n, (void)data, (void)is_float32, (void)packed;
    return 0;
}
#endif

#endif
