"""The C interface by ctypes, which needs no compiler and calls without the GIL."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int32, c_size_t, c_ssize_t, c_uint32, c_void_p

import lutcast

OK, BAD_FORMAT, BAD_POLICY, UNSUPPORTED, NULL, BAD_SIZE, OVERLAP, NOT_PACKED = range(8)
PACKED_SRC, PACKED_DST = 1, 2
MAX_DIMENSIONS = 64
SIZES, STRIDES = POINTER(c_size_t), POINTER(c_ssize_t)


class Api(ctypes.Structure):
    """The struct lutcast_api of lutcast.h."""

    _fields_ = (
        ("abi_version", c_uint32),
        ("struct_size", c_uint32),
        ("plan_create", CFUNCTYPE(c_int32, POINTER(c_void_p), c_int32, c_int32, c_int32, c_int32, c_int32)),
        ("plan_destroy", CFUNCTYPE(None, c_void_p)),
        ("plan_run", CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p, c_size_t)),
        ("plan_run_strided", CFUNCTYPE(c_int32, c_void_p, c_void_p, STRIDES, c_void_p, STRIDES, SIZES, c_int32)),
        ("plan_run_packed", CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_size_t, c_int32)),
        ("tile", CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t, SIZES, SIZES, c_int32)),
        ("format_bits", CFUNCTYPE(c_int32, c_int32)),
        ("format_itemsize", CFUNCTYPE(c_int32, c_int32)),
        ("status_text", CFUNCTYPE(c_char_p, c_int32)),
    )


def load() -> Api:
    """Return the interface of the installed lutcast."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    return Api.from_address(get(lutcast._C_API, b"lutcast._C_API"))
