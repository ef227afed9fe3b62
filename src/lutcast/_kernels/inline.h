/* Functions that must be part of their caller, which gives them constants. */
#ifndef LUTCAST_INLINE_H
#define LUTCAST_INLINE_H

#if defined(__GNUC__)
#define LUTCAST_INLINE static inline __attribute__((always_inline))
#else
#define LUTCAST_INLINE static inline
#endif

#endif
