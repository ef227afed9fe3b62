/* Eight elements at a time of what measure.pyx counts, for blocks without anything special.
 *
 * Vectors of GCC and clang, where the processor has registers as wide; the loop in measure.pyx is the scalar
 * twin, and sums in the same eight lanes. */
#ifndef LUTCAST_MEASURE_H
#define LUTCAST_MEASURE_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#define LUTCAST_LANES 8

/* What all elements of a block add to; by lanes. */
typedef struct {
    double abs_error[LUTCAST_LANES], signal[LUTCAST_LANES], noise[LUTCAST_LANES], power_after[LUTCAST_LANES];
    double most_error[LUTCAST_LANES], most_relative[LUTCAST_LANES], most[LUTCAST_LANES];
    int64_t changed, flushed, above[4];
} lutcast_measures;

#if defined(__GNUC__) && defined(__AVX512F__)
typedef double lutcast_v8 __attribute__((vector_size(64), aligned(8)));
typedef int64_t lutcast_i8 __attribute__((vector_size(64), aligned(8)));

static inline lutcast_v8 lutcast_v8_load(const double *at)
{
    lutcast_v8 x;
    memcpy(&x, at, sizeof x);
    return x;
}

static inline lutcast_v8 lutcast_v8_abs(lutcast_v8 x)
{
    return (lutcast_v8)((lutcast_i8)x & INT64_MAX);
}

static inline lutcast_v8 lutcast_v8_pick(lutcast_i8 mask, lutcast_v8 yes, lutcast_v8 no)
{
    return (lutcast_v8)((mask & (lutcast_i8)yes) | (~mask & (lutcast_i8)no));
}

static inline int64_t lutcast_i8_sum(lutcast_i8 x)
{
    return x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
}
#endif

/* Whether all of a block are finite, before and after, and below a bound; n is a multiple of the lanes. */
static inline int lutcast_measure_is_plain(
    const double *x, const double *q, const double *r, Py_ssize_t n, double bound)
{
#if defined(__GNUC__) && defined(__AVX512F__)
    const double infinity = __builtin_inf();
    lutcast_i8 good = (lutcast_i8){0} - 1;
    for (Py_ssize_t i = 0; i < n; i += LUTCAST_LANES) {
        good &= lutcast_v8_abs(lutcast_v8_load(x + i)) < infinity;
        good &= lutcast_v8_abs(lutcast_v8_load(q + i)) < bound;
        good &= lutcast_v8_abs(lutcast_v8_load(r + i)) < infinity;
    }
    return lutcast_i8_sum(good) == -LUTCAST_LANES;
#else
    return 0;
#endif
}

/* `smallest`: bits of the smallest normal value; `shift`: width of the fraction, in the exponent field of a double. */
static inline void lutcast_measure_plain(
    const double *x, const double *r, const double *s, int step, Py_ssize_t n, int64_t smallest, int64_t shift,
    lutcast_measures *total)
{
#if defined(__GNUC__) && defined(__AVX512F__)
    lutcast_v8 abs_error = {0}, signal = {0}, noise = {0}, power_after = {0};
    lutcast_v8 most_error = {0}, most_relative = {0}, most = {0};
    lutcast_i8 changed = {0}, flushed = {0}, above0 = {0}, above1 = {0}, above2 = {0}, above3 = {0};
    lutcast_v8 scale = (lutcast_v8){0} + s[0];
    for (Py_ssize_t i = 0; i < n; i += LUTCAST_LANES) {
        const lutcast_v8 value = lutcast_v8_load(x + i), result = lutcast_v8_load(r + i);
        if (step)
            scale = lutcast_v8_load(s + i);
        const lutcast_v8 after = result * scale;
        const lutcast_v8 lost = lutcast_v8_abs(after - value), magnitude = lutcast_v8_abs(value);
        const lutcast_v8 relative = lost / magnitude;
        lutcast_i8 exponent = (lutcast_i8)result & INT64_C(0x7FF0000000000000);
        const lutcast_i8 is_small = exponent < smallest;
        exponent = (is_small & smallest) | (~is_small & exponent);
        const lutcast_v8 unit = (lutcast_v8)(exponent - shift) * scale;
        abs_error += lost;
        noise += lost * lost;
        signal += magnitude * magnitude;
        power_after += after * after;
        most_error = lutcast_v8_pick(lost > most_error, lost, most_error);
        most = lutcast_v8_pick(magnitude > most, magnitude, most);
        most_relative = lutcast_v8_pick((relative > most_relative) & (magnitude > 0), relative, most_relative);
        changed -= lost > 0;
        flushed -= (after == 0) & (magnitude > 0);
        above0 -= lost > 0.25 * unit;
        above1 -= lost > 0.5 * unit;
        above2 -= lost > unit;
        above3 -= lost > 2 * unit;
    }
    memcpy(total->abs_error, &abs_error, sizeof abs_error);
    memcpy(total->signal, &signal, sizeof signal);
    memcpy(total->noise, &noise, sizeof noise);
    memcpy(total->power_after, &power_after, sizeof power_after);
    memcpy(total->most_error, &most_error, sizeof most_error);
    memcpy(total->most_relative, &most_relative, sizeof most_relative);
    memcpy(total->most, &most, sizeof most);
    total->changed = lutcast_i8_sum(changed);
    total->flushed = lutcast_i8_sum(flushed);
    total->above[0] = lutcast_i8_sum(above0);
    total->above[1] = lutcast_i8_sum(above1);
    total->above[2] = lutcast_i8_sum(above2);
    total->above[3] = lutcast_i8_sum(above3);
#endif
}

#endif
