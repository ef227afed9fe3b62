"""A walk visits the elements of an N-dimensional strided array in a chosen order of axes."""

cdef enum:
    MAX_DIMENSIONS = 64  # NPY_MAXDIMS of NumPy 2

cdef struct Walk:
    char *data             # the next element
    Py_ssize_t itemsize
    Py_ssize_t swap        # bytes of a unit whose byte order is to be reversed, or 1
    int ndim
    bint is_contiguous     # and aligned, and native: may be addressed directly
    Py_ssize_t shape[MAX_DIMENSIONS]
    Py_ssize_t strides[MAX_DIMENSIONS]
    Py_ssize_t index[MAX_DIMENSIONS]

cdef inline Py_ssize_t length(Py_ssize_t stride) noexcept nogil:
    return -stride if stride < 0 else stride

cdef void order_axes(const Py_ssize_t *strides, int *axes, int ndim) noexcept nogil
cdef void set_walk(
    Walk *walk, char *data, Py_ssize_t itemsize, Py_ssize_t swap, Py_ssize_t unit,
    const Py_ssize_t *shape, const Py_ssize_t *strides, const int *axes, int ndim,
) noexcept nogil
cdef void seek(Walk *walk, Py_ssize_t position) noexcept nogil
cdef void gather(Walk *walk, char *out, Py_ssize_t n) noexcept nogil
cdef void scatter(Walk *walk, const char *source, Py_ssize_t n) noexcept nogil
