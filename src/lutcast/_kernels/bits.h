/* Bit operations that C11 has no name for, each with a scalar twin. */
#ifndef LUTCAST_BITS_H
#define LUTCAST_BITS_H

#include <stdint.h>

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
