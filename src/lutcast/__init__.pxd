"""The C interface for Cython: ``from lutcast cimport lutcast_api, lutcast_import``.

Compile with ``lutcast.get_include()`` among the include directories. The contract is ``lutcast.h``.
"""

from libc.stdint cimport int32_t, uint32_t

cdef extern from *:
    """
    #include <Python.h>
    #include <lutcast.h>
    """
    const int LUTCAST_ABI_VERSION
    const int LUTCAST_MAX_DIMENSIONS

    ctypedef int32_t lutcast_format
    enum:
        LUTCAST_BOOL, LUTCAST_INT2, LUTCAST_UINT2, LUTCAST_INT4, LUTCAST_UINT4, LUTCAST_INT8, LUTCAST_UINT8
        LUTCAST_INT16, LUTCAST_UINT16, LUTCAST_INT32, LUTCAST_UINT32, LUTCAST_INT64, LUTCAST_UINT64
        LUTCAST_FLOAT4_E2M1FN, LUTCAST_FLOAT4_E1M2FN, LUTCAST_FLOAT6_E2M3FN, LUTCAST_FLOAT6_E3M2FN
        LUTCAST_FLOAT8_E4M3FN, LUTCAST_FLOAT8_E4M3FNUZ, LUTCAST_FLOAT8_E5M2, LUTCAST_FLOAT8_E5M2FNUZ
        LUTCAST_FLOAT8_E4M3, LUTCAST_FLOAT8_E3M4, LUTCAST_FLOAT8_E4M3B11FNUZ, LUTCAST_FLOAT8_E8M0FNU
        LUTCAST_HIFLOAT8, LUTCAST_FLOAT16, LUTCAST_BFLOAT16, LUTCAST_FLOAT32, LUTCAST_FLOAT64
        LUTCAST_COMPLEX32, LUTCAST_COMPLEX64, LUTCAST_COMPLEX128

    ctypedef int32_t lutcast_rounding
    enum:
        LUTCAST_ROUNDING_DEFAULT, LUTCAST_TIES_TO_EVEN, LUTCAST_TIES_TO_AWAY, LUTCAST_TOWARD_ZERO
        LUTCAST_TOWARD_NEGATIVE, LUTCAST_TOWARD_POSITIVE, LUTCAST_TO_ODD, LUTCAST_AWAY_FROM_ZERO, LUTCAST_HYBRID

    ctypedef int32_t lutcast_overflow
    enum:
        LUTCAST_OVERFLOW_DEFAULT, LUTCAST_SATURATE, LUTCAST_IEEE, LUTCAST_WRAP

    ctypedef int32_t lutcast_nan
    enum:
        LUTCAST_NAN_KEEP, LUTCAST_NAN_ZERO

    ctypedef int32_t lutcast_status
    enum:
        LUTCAST_OK, LUTCAST_BAD_FORMAT, LUTCAST_BAD_POLICY, LUTCAST_UNSUPPORTED_CAST, LUTCAST_NULL_POINTER
        LUTCAST_BAD_SIZE, LUTCAST_OVERLAP, LUTCAST_NOT_PACKED, LUTCAST_NO_MEMORY, LUTCAST_PYTHON_ERROR

    enum:
        LUTCAST_PACKED_SRC, LUTCAST_PACKED_DST

    ctypedef struct lutcast_plan:
        pass

    ctypedef struct lutcast_api:
        uint32_t abi_version
        uint32_t struct_size
        lutcast_status (*plan_create)(
            lutcast_plan **plan, lutcast_format src, lutcast_format dst, lutcast_rounding rounding,
            lutcast_overflow overflow, lutcast_nan nan) noexcept nogil
        void (*plan_destroy)(lutcast_plan *plan) noexcept nogil
        lutcast_status (*plan_run)(const lutcast_plan *plan, const void *src, void *dst, size_t n) noexcept nogil
        lutcast_status (*plan_run_strided)(
            const lutcast_plan *plan, const void *src, const Py_ssize_t *src_strides, void *dst,
            const Py_ssize_t *dst_strides, const size_t *shape, int32_t ndim) noexcept nogil
        lutcast_status (*plan_run_packed)(
            const lutcast_plan *plan, const void *src, size_t src_offset, void *dst, size_t dst_offset, size_t n,
            int32_t packed) noexcept nogil
        lutcast_status (*tile)(
            const void *src, void *dst, size_t itemsize, const size_t *shape, const size_t *repeats,
            int32_t ndim) noexcept nogil
        int32_t (*format_bits)(lutcast_format format) noexcept nogil
        int32_t (*format_itemsize)(lutcast_format format) noexcept nogil
        const char *(*status_text)(lutcast_status status) noexcept nogil

    const lutcast_api *lutcast_import() except NULL
