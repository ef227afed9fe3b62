/* The floating-point unit as a rounding device: its control word is set for a loop and restored,
 * whatever flush-to-zero or rounding another library has left there.
 *
 * Loads and stores cannot move over the barriers, and with them neither can what lies between. */
#ifndef LUTCAST_FPU_H
#define LUTCAST_FPU_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <xmmintrin.h>
#define LUTCAST_HAS_FPU 1

/* direction: 0 ties to even, 1 toward negative, 2 toward positive, 3 toward zero. */
static inline unsigned lutcast_fpu_enter(int64_t direction)
{
    unsigned saved = _mm_getcsr();
    _mm_setcsr(0x1F80u | (unsigned)direction << 13);
    __asm__ volatile("" ::: "memory");
    return saved;
}

static inline void lutcast_fpu_leave(unsigned saved)
{
    __asm__ volatile("" ::: "memory");
    _mm_setcsr(saved);
}
#else
#define LUTCAST_HAS_FPU 0
static inline unsigned lutcast_fpu_enter(int64_t direction) { return (unsigned)direction; }
static inline void lutcast_fpu_leave(unsigned saved) { (void)saved; }
#endif

static inline uint32_t lutcast_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float lutcast_bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t lutcast_double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
