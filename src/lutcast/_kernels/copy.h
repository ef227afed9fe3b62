/* Copies and fills of small pieces, where a call of memcpy would cost more than the bytes. */
#ifndef LUTCAST_COPY_H
#define LUTCAST_COPY_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "inline.h"

#if defined(__GNUC__)
typedef uint64_t lutcast_pair __attribute__((vector_size(16)));
#else
typedef struct { uint64_t low, high; } lutcast_pair;
#endif

#if defined(__AVX512F__)
#include <immintrin.h>
#define LUTCAST_PIECE 64
#define LUTCAST_SPREAD(low, high) _mm512_broadcast_i32x4(_mm_set_epi64x((long long)(high), (long long)(low)))
typedef __m512i lutcast_piece;
#elif defined(__AVX2__)
#include <immintrin.h>
#define LUTCAST_PIECE 32
#define LUTCAST_SPREAD(low, high) _mm256_broadcastsi128_si256(_mm_set_epi64x((long long)(high), (long long)(low)))
typedef __m256i lutcast_piece;
#endif

/* Copy n bytes; pieces that overlap in the middle do for any size up to 64. */
static inline void lutcast_copy(char *dst, const char *src, Py_ssize_t n)
{
    if (n > 64)
        memcpy(dst, src, (size_t)n);
    else if (n >= 32) {
        char a[32], b[32];
        memcpy(a, src, 32), memcpy(b, src + n - 32, 32);
        memcpy(dst, a, 32), memcpy(dst + n - 32, b, 32);
    } else if (n >= 16) {
        char a[16], b[16];
        memcpy(a, src, 16), memcpy(b, src + n - 16, 16);
        memcpy(dst, a, 16), memcpy(dst + n - 16, b, 16);
    } else if (n >= 8) {
        uint64_t a, b;
        memcpy(&a, src, 8), memcpy(&b, src + n - 8, 8);
        memcpy(dst, &a, 8), memcpy(dst + n - 8, &b, 8);
    } else if (n >= 4) {
        uint32_t a, b;
        memcpy(&a, src, 4), memcpy(&b, src + n - 4, 4);
        memcpy(dst, &a, 4), memcpy(dst + n - 4, &b, 4);
    } else
        for (Py_ssize_t i = 0; i < n; i++)
            dst[i] = src[i];
}

/* Read 1, 2, 4 or 8 bytes as a number; each size as a number of that size, not by way of memory. */
LUTCAST_INLINE uint64_t lutcast_read(const char *src, const Py_ssize_t size)
{
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    uint64_t both;
    switch (size) {
    case 1: memcpy(&byte, src, 1); return byte * UINT64_C(0x0101010101010101);
    case 2: memcpy(&half, src, 2); return half * UINT64_C(0x0001000100010001);
    case 4: memcpy(&word, src, 4); return word * UINT64_C(0x0000000100000001);
    default: memcpy(&both, src, 8); return both;
    }
}

#if defined(__AVX512BW__)
/* A piece of 1, 2, 4, 8 or 16 bytes, over and over. */
LUTCAST_INLINE __m512i lutcast_spread(const char *src, const Py_ssize_t size)
{
    if (size == 16)
        return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)src));
    return _mm512_set1_epi64((long long)lutcast_read(src, size));
}
#endif

/* Write rows of whole cache lines, each a piece of 1, 2, 4, 8 or 16 bytes repeated; return how many rows.
 * Every store is a line: where rows end within one, it takes the end of one and the beginning of the next. */
LUTCAST_INLINE Py_ssize_t lutcast_fill_lines(
    char *dst, const char *src, Py_ssize_t rows, Py_ssize_t stride, const Py_ssize_t size, Py_ssize_t total)
{
#if defined(__AVX512BW__)
    const Py_ssize_t head = -(uintptr_t)dst & 63, lines = total / 64;
    if (rows == 0 || total % 64 || head % size)
        return 0;
    const __mmask64 all = ~(__mmask64)0, next = all << 1 << (63 - head);
    __m512i piece = lutcast_spread(src, size);
    _mm512_mask_storeu_epi8(dst, all >> 1 >> (63 - head), piece);
    dst += head;
    for (Py_ssize_t i = 0; i < rows; i++) {
        for (Py_ssize_t j = 1; j < lines; j++, dst += 64) {
            lutcast_fetch(dst);
            _mm512_store_si512(dst, piece);
        }
        if (i + 1 == rows)
            _mm512_mask_storeu_epi8(dst, ~next, piece);
        else {
            const __m512i old = piece;
            piece = lutcast_spread(src += stride, size);
            lutcast_fetch(dst);
            _mm512_store_si512(dst, _mm512_mask_mov_epi8(old, next, piece));
            dst += 64;
        }
    }
    return rows;
#else
    return 0;
#endif
}

/* Write a piece of 1, 2, 4, 8 or 16 bytes until `total` bytes, a multiple of it, are filled. */
LUTCAST_INLINE void lutcast_fill(char *dst, const char *src, const Py_ssize_t size, Py_ssize_t total)
{
    const uint64_t low = lutcast_read(src, size), high = size < 16 ? low : lutcast_read(src + 8, 8);
    const lutcast_pair pair = {low, high};
    Py_ssize_t done = 0;
#if defined(LUTCAST_PIECE)
    const lutcast_piece piece = total >= LUTCAST_PIECE ? LUTCAST_SPREAD(low, high) : (lutcast_piece){0};
    for (; done + LUTCAST_PIECE <= total; done += LUTCAST_PIECE)
        memcpy(dst + done, &piece, LUTCAST_PIECE);
#endif
    for (; done + 16 <= total; done += 16)
        memcpy(dst + done, &pair, 16);
    if (done + 8 <= total)
        memcpy(dst + done, &low, 8), done += 8;
    if (done + 4 <= total)
        memcpy(dst + done, &low, 4), done += 4;
    if (done < total)
        memcpy(dst + done, &low, (size_t)(total - done));
}

/* Write rows of at least 64 bytes, each a piece of up to 64 bytes repeated; return how many rows.
 * The first and the last 64 bytes of a row are stored where they are, what is between them as whole cache lines. */
static inline Py_ssize_t lutcast_repeat_lines(
    char *dst, const char *src, Py_ssize_t rows, Py_ssize_t stride, Py_ssize_t size, Py_ssize_t total)
{
#if defined(__AVX512VBMI__) && defined(__AVX512BW__)
    if (total < 64 || rows * total < 1024) /* not worth the preparation */
        return 0;
    const Py_ssize_t end = total - 64;
    const Py_ssize_t step = 64 % size;
    const __mmask64 piece = ~(__mmask64)0 >> (64 - size);
    uint8_t order[128]; /* from any place on, which bytes of the piece follow */
    for (Py_ssize_t i = 0; i < 128; i++)
        order[i] = (uint8_t)(i % size);
    const __m512i first = _mm512_loadu_si512(order), last = _mm512_loadu_si512(order + end % size);
    for (Py_ssize_t i = 0; i < rows; i++, dst += total) {
        const __m512i bytes = _mm512_maskz_loadu_epi8(piece, src + i * stride);
        Py_ssize_t done = 64 - ((uintptr_t)dst & 63), place = done % size;
        _mm512_storeu_si512(dst, _mm512_permutexvar_epi8(first, bytes));
        for (; done < end; done += 64) {
            lutcast_fetch(dst + done);
            _mm512_store_si512(dst + done, _mm512_permutexvar_epi8(_mm512_loadu_si512(order + place), bytes));
            place += step;
            place -= place < size ? 0 : size;
        }
        _mm512_storeu_si512(dst + end, _mm512_permutexvar_epi8(last, bytes));
    }
    return rows;
#else
    return 0;
#endif
}

/* Write each of the rows, `size` contiguous bytes, `repeats` times. */
static inline void lutcast_repeat_rows(
    char *dst, const char *src, Py_ssize_t rows, Py_ssize_t stride, Py_ssize_t size, Py_ssize_t repeats)
{
    const Py_ssize_t total = size * repeats;
#define LUTCAST_FILL_ROWS(bytes)                               \
    case bytes:                                                \
        for (Py_ssize_t i = lutcast_fill_lines(dst, src, rows, stride, bytes, total); i < rows; i++) \
            lutcast_fill(dst + i * total, src + i * stride, bytes, total); \
        break;
    switch (size) {
        LUTCAST_FILL_ROWS(1)
        LUTCAST_FILL_ROWS(2)
        LUTCAST_FILL_ROWS(4)
        LUTCAST_FILL_ROWS(8)
        LUTCAST_FILL_ROWS(16)
    default:
        for (Py_ssize_t i = lutcast_repeat_lines(dst, src, rows, stride, size, total); i < rows; i++)
            for (Py_ssize_t j = 0; j < repeats; j++)
                lutcast_copy(dst + i * total + j * size, src + i * stride, size);
    }
}

#endif
