/* Bit operations that C11 has no name for, each with a scalar twin. */
#ifndef LUTCAST_BITS_H
#define LUTCAST_BITS_H

#include <stdint.h>
#include <string.h>

/* Two bytes as one number, the first in its low half: compilers do many of these at once. */
static inline uint16_t lutcast_read_pair(const uint8_t *bytes)
{
    uint16_t pair;
    memcpy(&pair, bytes, sizeof pair);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    pair = (uint16_t)(pair << 8 | pair >> 8);
#endif
    return pair;
}

/* Leading zeros of a non-zero word. */
static inline uint64_t lutcast_clz64_scalar(uint64_t word)
{
    uint64_t count = 0;
    for (uint64_t step = 32; step; step >>= 1) {
        uint64_t high = word >> step;
        count += high ? 0 : step;
        word = high ? high : word;
    }
    return count;
}

static inline uint64_t lutcast_clz64(uint64_t word)
{
#if defined(__GNUC__)
    return (uint64_t)__builtin_clzll(word);
#else
    return lutcast_clz64_scalar(word);
#endif
}

#endif
