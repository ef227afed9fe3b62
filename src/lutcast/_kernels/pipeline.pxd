from lutcast._kernels.loop cimport Params

cdef Params read_params(dict fields) except *
