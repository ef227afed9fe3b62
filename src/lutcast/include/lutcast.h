/* The C interface of lutcast: casts between number formats from C and C++, without the GIL.
 *
 *     #include <Python.h>
 *     #include <lutcast.h>
 *
 *     const lutcast_api *lutcast = lutcast_import();          // with the GIL; NULL sets an exception
 *     lutcast_plan *plan;
 *     lutcast_status status = lutcast->plan_create(
 *         &plan, LUTCAST_FLOAT32, LUTCAST_FLOAT8_E4M3FN, LUTCAST_ROUNDING_DEFAULT, LUTCAST_OVERFLOW_DEFAULT,
 *         LUTCAST_NAN_KEEP);
 *     if (status == LUTCAST_OK) {
 *         status = lutcast->plan_run(plan, x, y, n);          // any thread, no GIL, no lock, no allocation
 *         lutcast->plan_destroy(plan);
 *     }
 *
 * Only plan_create and plan_destroy touch Python, and take the GIL themselves if need be. All else
 * may be called from any thread at any time, also on one plan by many threads.
 *
 * Versioning: members are only ever appended to lutcast_api, and constants only added. A program
 * compiled with this header runs with every later lutcast of the same abi_version; before it uses a
 * member that its oldest lutcast lacks, it compares struct_size.
 */
#ifndef LUTCAST_H
#define LUTCAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LUTCAST_ABI_VERSION 1

typedef int32_t lutcast_format;
enum {
    LUTCAST_BOOL = 1,
    LUTCAST_INT2 = 2,
    LUTCAST_UINT2 = 3,
    LUTCAST_INT4 = 4,
    LUTCAST_UINT4 = 5,
    LUTCAST_INT8 = 6,
    LUTCAST_UINT8 = 7,
    LUTCAST_INT16 = 8,
    LUTCAST_UINT16 = 9,
    LUTCAST_INT32 = 10,
    LUTCAST_UINT32 = 11,
    LUTCAST_INT64 = 12,
    LUTCAST_UINT64 = 13,
    LUTCAST_FLOAT4_E2M1FN = 14,
    LUTCAST_FLOAT4_E1M2FN = 15,
    LUTCAST_FLOAT6_E2M3FN = 16,
    LUTCAST_FLOAT6_E3M2FN = 17,
    LUTCAST_FLOAT8_E4M3FN = 18,
    LUTCAST_FLOAT8_E4M3FNUZ = 19,
    LUTCAST_FLOAT8_E5M2 = 20,
    LUTCAST_FLOAT8_E5M2FNUZ = 21,
    LUTCAST_FLOAT8_E4M3 = 22,
    LUTCAST_FLOAT8_E3M4 = 23,
    LUTCAST_FLOAT8_E4M3B11FNUZ = 24,
    LUTCAST_FLOAT8_E8M0FNU = 25,
    LUTCAST_HIFLOAT8 = 26,
    LUTCAST_FLOAT16 = 27,
    LUTCAST_BFLOAT16 = 28,
    LUTCAST_FLOAT32 = 29,
    LUTCAST_FLOAT64 = 30,
    LUTCAST_COMPLEX32 = 31,
    LUTCAST_COMPLEX64 = 32,
    LUTCAST_COMPLEX128 = 33
};

typedef int32_t lutcast_rounding;
enum {
    LUTCAST_ROUNDING_DEFAULT = 0, /* ties_to_even into floats, toward_zero into integers */
    LUTCAST_TIES_TO_EVEN = 1,
    LUTCAST_TIES_TO_AWAY = 2,
    LUTCAST_TOWARD_ZERO = 3,
    LUTCAST_TOWARD_NEGATIVE = 4,
    LUTCAST_TOWARD_POSITIVE = 5,
    LUTCAST_TO_ODD = 6,
    LUTCAST_AWAY_FROM_ZERO = 7,
    LUTCAST_HYBRID = 8
};

typedef int32_t lutcast_overflow;
enum {
    LUTCAST_OVERFLOW_DEFAULT = 0, /* saturate into 8 bits or fewer and integers, ieee into wider floats */
    LUTCAST_SATURATE = 1,
    LUTCAST_IEEE = 2,
    LUTCAST_WRAP = 3
};

typedef int32_t lutcast_nan;
enum {
    LUTCAST_NAN_KEEP = 0,
    LUTCAST_NAN_ZERO = 1
};

typedef int32_t lutcast_status;
enum {
    LUTCAST_OK = 0,
    LUTCAST_BAD_FORMAT = 1,       /* no such format */
    LUTCAST_BAD_POLICY = 2,       /* no such rounding, overflow or NaN rule, or not for these formats */
    LUTCAST_UNSUPPORTED_CAST = 3, /* no such cast between these formats */
    LUTCAST_NULL_POINTER = 4,     /* a pointer is NULL though there are elements */
    LUTCAST_BAD_SIZE = 5,         /* a size, stride or count is negative or beyond the address space */
    LUTCAST_OVERLAP = 6,          /* source and destination overlap in a way that is not safe */
    LUTCAST_NOT_PACKED = 7,       /* a side is called packed whose format takes whole bytes */
    LUTCAST_NO_MEMORY = 8,
    LUTCAST_PYTHON_ERROR = 9      /* an unforeseen error in Python */
};

/* Which sides of plan_run_packed are packed: bits of one mask. */
enum {
    LUTCAST_PACKED_SRC = 1,
    LUTCAST_PACKED_DST = 2
};

/* The most axes of a strided run or a tile. */
#define LUTCAST_MAX_DIMENSIONS 64

/* A prepared cast. Opaque, immutable, shared by threads. */
typedef struct lutcast_plan lutcast_plan;

typedef struct lutcast_api {
    uint32_t abi_version; /* LUTCAST_ABI_VERSION */
    uint32_t struct_size; /* bytes of this struct in the lutcast that runs */

    /* Make a plan; *plan is set only on LUTCAST_OK. Tables that it needs are loaded here. */
    lutcast_status (*plan_create)(
        lutcast_plan **plan, lutcast_format src, lutcast_format dst, lutcast_rounding rounding,
        lutcast_overflow overflow, lutcast_nan nan);

    /* Free a plan that nobody runs any more; NULL is fine. */
    void (*plan_destroy)(lutcast_plan *plan);

    /* Cast n elements, one after another in memory, at any alignment. dst may be src if its
     * elements are not wider; any other overlap is refused. */
    lutcast_status (*plan_run)(const lutcast_plan *plan, const void *src, void *dst, size_t n);

    /* Cast elements of ndim axes; strides are in bytes and may be negative or zero (dst: not zero).
     * Source and destination may not overlap. */
    lutcast_status (*plan_run_strided)(
        const lutcast_plan *plan, const void *src, const ptrdiff_t *src_strides, void *dst,
        const ptrdiff_t *dst_strides, const size_t *shape, int32_t ndim);

    /* Cast n elements where one side or both are packed (LUTCAST_PACKED_SRC, LUTCAST_PACKED_DST):
     * first element in the lowest bits. Offsets are in elements from src and dst. Bits of dst that
     * belong to other elements are kept, so ranges that share a byte are not for two threads at once.
     * Source and destination may not overlap. */
    lutcast_status (*plan_run_packed)(
        const lutcast_plan *plan, const void *src, size_t src_offset, void *dst, size_t dst_offset, size_t n,
        int32_t packed);

    /* Repeat a C-contiguous array of elements of itemsize bytes along its axes into a C-contiguous
     * one of shape[i] * repeats[i]. They may not overlap. */
    lutcast_status (*tile)(
        const void *src, void *dst, size_t itemsize, const size_t *shape, const size_t *repeats, int32_t ndim);

    /* Bits of a code, and bytes of an element that is not packed; 0 for no format. */
    int32_t (*format_bits)(lutcast_format format);
    int32_t (*format_itemsize)(lutcast_format format);

    /* What a status means, in English. Never NULL. */
    const char *(*status_text)(lutcast_status status);
} lutcast_api;

#ifdef Py_PYTHON_H
/* Import lutcast and return its interface; needs the GIL. NULL sets ImportError or AttributeError. */
static inline const lutcast_api *lutcast_import(void)
{
    const lutcast_api *api = (const lutcast_api *)PyCapsule_Import("lutcast._C_API", 0);
    if (api != NULL && api->abi_version != LUTCAST_ABI_VERSION) {
        PyErr_Format(
            PyExc_ImportError, "lutcast has ABI version %u, this module was compiled for %d",
            (unsigned int)api->abi_version, LUTCAST_ABI_VERSION);
        return NULL;
    }
    return api;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
