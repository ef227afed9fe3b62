/* Which instruction sets this processor and its operating system offer. */
#ifndef LUTCAST_CPU_H
#define LUTCAST_CPU_H

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* Bit of a register of a cpuid leaf; register 2 is ecx. */
static int lutcast_cpuid_ecx(unsigned leaf, unsigned bit)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(leaf, 0, &a, &b, &c, &d) && (c >> bit & 1);
}

/* The builtins also ask the operating system whether it saves the wide registers. */
static int lutcast_cpu_has_v3(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
        && __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt")
        && lutcast_cpuid_ecx(1, 29) /* F16C */ && lutcast_cpuid_ecx(1, 22) /* MOVBE */
        && lutcast_cpuid_ecx(0x80000001, 5) /* LZCNT */;
}

static int lutcast_cpu_has_v4(void)
{
    return lutcast_cpu_has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi");
}
#else
static int lutcast_cpu_has_v3(void) { return 0; }
static int lutcast_cpu_has_v4(void) { return 0; }
#endif

#endif
