"""What a cast did to each element of a block, counted and summed in one pass.

Sums run in lanes, always the same ones, so that they do not depend on how a compiler orders them.
"""

from libc.stdint cimport int16_t, int64_t, uint64_t

cdef extern from "measure.h" nogil:
    enum: LANES "LUTCAST_LANES"
    ctypedef struct Measures "lutcast_measures":
        double *abs_error
        double *signal
        double *noise
        double *power_after
        double *most_error
        double *most_relative
        double *most
        int64_t changed
        int64_t flushed
        int64_t *above
    bint is_plain "lutcast_measure_is_plain"(
        const double *x, const double *q, const double *r, Py_ssize_t n, double bound)
    void measure_plain "lutcast_measure_plain"(
        const double *x, const double *r, const double *s, int step, Py_ssize_t n, int64_t smallest, int64_t shift,
        Measures *total)

cdef enum:
    # The sums, in their order.
    ABS_ERROR = 0
    SIGNAL = 1
    NOISE = 2
    POWER_AFTER = 3
    # The largest.
    MAX_ABS_ERROR = 4
    MAX_REL_ERROR = 5
    AMAX = 6

COUNTS = (
    "inexact", "saturated", "overflowed", "flushed_to_zero", "nan_in", "nan_out", "inf_in", "inf_out", "measured",
    "0", "0.25", "0.5", "1", "2", "more",
)
SUMS = ("abs_error", "signal", "noise", "power_after", "max_abs_error", "max_rel_error", "amax")


cdef inline uint64_t bits_of(double value) noexcept nogil:
    return (<uint64_t *>&value)[0]


cdef inline double double_of(uint64_t bits) noexcept nogil:
    return (<double *>&bits)[0]


cdef inline double larger(double a, double b) noexcept nogil:
    return a if a > b else b


cdef inline double magnitude(double value) noexcept nogil:
    return double_of(bits_of(value) & <uint64_t>0x7FFFFFFFFFFFFFFF)


def measure(
    const double[::1] values, const double[::1] quotients, const double[::1] results, const double[::1] scales,
    const int16_t[::1] quanta, int64_t smallest, int64_t shift, double high, double low, bint clamps,
    int64_t[::1] counts, double[::1] sums,
):
    """Add what happened to some elements to counts; set sums to theirs.

    Parameters
    ----------
    values : of float64
        Elements before the cast.
    quotients : of float64
        The same divided by their scales: what was cast.
    results : of float64
        What they became.
    scales : of float64
        One for each element, or one for all.
    quanta : of int16, 2048
        Exponent of the last place of the destination, by the exponent field of a float64.
    smallest, shift : int
        Bits of a float64 that is the smallest normal value of the destination, and the width of its
        fraction in the exponent field of a float64; -1 where the last place is not that simple.
    high, low : float
        The first magnitudes that overflow, above and below zero.
    clamps : bool
        Whether overflow clamps where the result is finite.
    counts : of int64
        In the order of `COUNTS`.
    sums : of float64
        In the order of `SUMS`.
    """
    cdef Py_ssize_t n = values.shape[0], i, j, done = 0
    cdef Measures plain
    cdef Py_ssize_t step = 0 if scales.shape[0] == 1 else 1
    cdef double infinity = double_of(<uint64_t>0x7FF0000000000000)
    cdef double x, q, r, s, after, error, lost, unit, absolute
    cdef int is_nan, is_nan_after, is_infinite, is_infinite_after, beyond, saturated, is_finite, measured, changed
    cdef int above
    cdef int64_t found[15]
    cdef double abs_error[8]
    cdef double signal[8]
    cdef double noise[8]
    cdef double power_after[8]
    cdef double most_error = 0, most_relative = 0, most = 0
    if not (quotients.shape[0] == results.shape[0] == n and scales.shape[0] in (1, n)):
        raise ValueError("values, quotients, results and scales must have one length")
    if quanta.shape[0] != 2048 or counts.shape[0] != len(COUNTS) or sums.shape[0] != len(SUMS):
        raise ValueError("quanta, counts and sums must have 2048, 15 and 7 elements")
    for i in range(15):
        found[i] = 0
    for i in range(LANES):
        abs_error[i] = signal[i] = noise[i] = power_after[i] = 0
    with nogil:
        done = n - n % LANES if shift >= 0 else 0
        if done and is_plain(&values[0], &quotients[0], &results[0], done, high if high < low else low):
            measure_plain(&values[0], &results[0], &scales[0], <int>step, done, smallest, shift, &plain)
            for i in range(LANES):
                abs_error[i] = plain.abs_error[i]
                signal[i] = plain.signal[i]
                noise[i] = plain.noise[i]
                power_after[i] = plain.power_after[i]
                most_error = larger(plain.most_error[i], most_error)
                most_relative = larger(plain.most_relative[i], most_relative)
                most = larger(plain.most[i], most)
            found[0] = plain.changed
            found[3] = plain.flushed
            found[8] = done
            found[10] = plain.changed - plain.above[0]
            for i in range(3):
                found[11 + i] = plain.above[i] - plain.above[i + 1]
            found[14] = plain.above[3]
        else:
            done = 0
        for i in range(done, n):
            j = i % LANES
            x, q, r, s = values[i], quotients[i], results[i], scales[i * step]
            after = r * s
            error = after - x
            is_nan = x != x
            is_nan_after = after != after
            absolute = magnitude(x)
            is_infinite = absolute == infinity
            is_infinite_after = magnitude(after) == infinity
            is_finite = absolute < infinity
            beyond = is_finite & ((q >= high) | (q <= -low))
            saturated = ((beyond & clamps) | is_infinite) & (magnitude(r) < infinity)
            changed = (1 - is_nan) & ((error != 0) | beyond) & (1 - (is_infinite & (x == after)))
            found[0] += changed
            found[1] += saturated
            found[2] += beyond & (1 - saturated)
            found[3] += is_finite & (x != 0) & (after == 0)
            found[4] += is_nan
            found[5] += is_nan_after
            found[6] += is_infinite
            found[7] += is_infinite_after
            measured = is_finite & (magnitude(after) < infinity)
            found[8] += measured
            # What is not measured counts as an exact zero below.
            lost = magnitude(error) if measured else 0
            absolute = absolute if measured else 0
            after = after if measured else 0
            abs_error[j] += lost
            noise[j] += lost * lost
            signal[j] += absolute * absolute
            power_after[j] += after * after
            most_error = larger(lost, most_error)
            most = larger(absolute, most)
            if lost > 0:
                # 0 loses nothing into formats that have it; into the others its error is relative to nothing.
                most_relative = larger(lost / absolute if absolute > 0 else 0, most_relative)
                unit = s * double_of(<uint64_t>(quanta[(bits_of(r) >> 52) & 0x7FF] + 1023) << 52)
                above = (lost > 0.25 * unit) + (lost > 0.5 * unit) + (lost > unit) + (lost > 2 * unit)
                found[10 + above] += 1
        found[9] = found[8] - found[10] - found[11] - found[12] - found[13] - found[14]
    for i in range(15):
        counts[i] += found[i]
    for i in range(1, LANES):
        abs_error[0] += abs_error[i]
        signal[0] += signal[i]
        noise[0] += noise[i]
        power_after[0] += power_after[i]
    sums[ABS_ERROR] = abs_error[0]
    sums[SIGNAL] = signal[0]
    sums[NOISE] = noise[0]
    sums[POWER_AFTER] = power_after[0]
    sums[MAX_ABS_ERROR] = most_error
    sums[MAX_REL_ERROR] = most_relative
    sums[AMAX] = most
