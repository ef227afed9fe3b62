/* Functions that must be part of their caller, which gives them constants. */
#ifndef LUTCAST_INLINE_H
#define LUTCAST_INLINE_H

#if defined(__GNUC__)
#define LUTCAST_INLINE static inline __attribute__((always_inline))
#else
#define LUTCAST_INLINE static inline
#endif

/* Fetch the line that a loop comes to soon; it may lie behind the array. Where a vector is a line, processors fetch too
 * little ahead by themselves: each line is asked for only once, and small pages end soon. */
LUTCAST_INLINE void lutcast_fetch(const void *at)
{
#if defined(__GNUC__)
    __builtin_prefetch((const char *)at + 1024);
#else
    (void)at;
#endif
}

#endif
