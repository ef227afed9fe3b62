"""A Cython module that casts with lutcast, without the GIL."""

from lutcast cimport (
    LUTCAST_BFLOAT16, LUTCAST_FLOAT32, LUTCAST_NAN_KEEP, LUTCAST_OK, LUTCAST_OVERFLOW_DEFAULT, LUTCAST_TO_ODD,
    lutcast_api, lutcast_import, lutcast_plan, lutcast_status,
)

cdef const lutcast_api *lutcast = lutcast_import()


def to_bfloat16(const float[::1] x, unsigned short[::1] out):
    cdef lutcast_plan *plan
    cdef lutcast_status status
    with nogil:
        status = lutcast.plan_create(
            &plan, LUTCAST_FLOAT32, LUTCAST_BFLOAT16, LUTCAST_TO_ODD, LUTCAST_OVERFLOW_DEFAULT, LUTCAST_NAN_KEEP)
        if status == LUTCAST_OK:
            status = lutcast.plan_run(plan, &x[0], &out[0], x.shape[0])
            lutcast.plan_destroy(plan)
    if status != LUTCAST_OK:
        raise ValueError(lutcast.status_text(status).decode())
