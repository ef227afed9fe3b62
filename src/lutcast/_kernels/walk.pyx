"""Moves between strided, unaligned or byte-swapped elements and contiguous buffers."""

from libc.stdint cimport uintptr_t
from libc.string cimport memcpy


cdef void order_axes(const Py_ssize_t *strides, int *axes, int ndim) noexcept nogil:
    """List axes by falling stride, so that a walk follows memory."""
    cdef int i, j, held
    for i in range(ndim):
        axes[i] = i
        j = i
        while j > 0 and length(strides[axes[j - 1]]) < length(strides[axes[j]]):
            held = axes[j - 1]
            axes[j - 1] = axes[j]
            axes[j] = held
            j -= 1


cdef void set_walk(
    Walk *walk, char *data, Py_ssize_t itemsize, Py_ssize_t swap, Py_ssize_t unit,
    const Py_ssize_t *shape, const Py_ssize_t *strides, const int *axes, int ndim,
) noexcept nogil:
    """Describe an array in the given order of axes, neighbouring axes joined where they can be.

    ``unit`` is the alignment that loops need, ``swap`` the bytes of a unit in foreign byte order, or 1.
    """
    cdef int i, last = -1
    cdef Py_ssize_t size, stride
    walk.data, walk.itemsize, walk.swap = data, itemsize, swap
    for i in range(ndim):
        size, stride = shape[axes[i]], strides[axes[i]]
        if size == 1:
            continue
        if last >= 0 and walk.strides[last] == size * stride:
            walk.shape[last] *= size
            walk.strides[last] = stride
            continue
        last += 1
        walk.shape[last], walk.strides[last], walk.index[last] = size, stride, 0
    if last < 0:
        last = 0
        walk.shape[0], walk.strides[0], walk.index[0] = 1, itemsize, 0
    walk.ndim = last + 1
    walk.is_contiguous = (
        last == 0 and walk.strides[0] == itemsize and swap == 1 and <uintptr_t>data % <uintptr_t>unit == 0)


cdef void seek(Walk *walk, Py_ssize_t position) noexcept nogil:
    """Move a new walk to an element, counted in the walk's own order."""
    cdef int axis
    cdef Py_ssize_t at
    for axis in range(walk.ndim - 1, -1, -1):
        at = position % walk.shape[axis]
        position //= walk.shape[axis]
        walk.index[axis] = at
        walk.data += at * walk.strides[axis]


cdef void advance(Walk *walk, Py_ssize_t steps) noexcept nogil:
    """Take steps along the last axis, at most to its end, and carry."""
    cdef int axis = walk.ndim - 1
    walk.index[axis] += steps
    walk.data += steps * walk.strides[axis]
    while axis > 0 and walk.index[axis] == walk.shape[axis]:
        walk.data -= walk.shape[axis] * walk.strides[axis]
        walk.index[axis] = 0
        axis -= 1
        walk.index[axis] += 1
        walk.data += walk.strides[axis]


cdef void copy_elements(
    const char *src, Py_ssize_t src_stride, char *dst, Py_ssize_t dst_stride, Py_ssize_t itemsize, Py_ssize_t n,
) noexcept nogil:
    """Copy elements at any alignment; a memcpy of constant size is one instruction."""
    cdef Py_ssize_t i
    if src_stride == itemsize and dst_stride == itemsize:
        memcpy(dst, src, n * itemsize)
    elif itemsize == 1:
        for i in range(n):
            dst[i * dst_stride] = src[i * src_stride]
    elif itemsize == 2:
        for i in range(n):
            memcpy(dst + i * dst_stride, src + i * src_stride, 2)
    elif itemsize == 4:
        for i in range(n):
            memcpy(dst + i * dst_stride, src + i * src_stride, 4)
    elif itemsize == 8:
        for i in range(n):
            memcpy(dst + i * dst_stride, src + i * src_stride, 8)
    else:
        for i in range(n):
            memcpy(dst + i * dst_stride, src + i * src_stride, itemsize)


cdef void reverse_bytes(char *data, Py_ssize_t size, Py_ssize_t unit) noexcept nogil:
    cdef char *end = data + size
    cdef char held
    cdef Py_ssize_t i
    while data < end:
        for i in range(unit // 2):
            held = data[i]
            data[i] = data[unit - 1 - i]
            data[unit - 1 - i] = held
        data += unit


cdef void gather(Walk *walk, char *out, Py_ssize_t n) noexcept nogil:
    """Copy the next n elements into a contiguous native buffer."""
    cdef int last = walk.ndim - 1
    cdef Py_ssize_t steps, size = n * walk.itemsize
    cdef char *begin = out
    while n > 0:
        steps = min(n, walk.shape[last] - walk.index[last])
        copy_elements(walk.data, walk.strides[last], out, walk.itemsize, walk.itemsize, steps)
        advance(walk, steps)
        out += steps * walk.itemsize
        n -= steps
    if walk.swap > 1:
        reverse_bytes(begin, size, walk.swap)


cdef void scatter(Walk *walk, const char *source, Py_ssize_t n) noexcept nogil:
    """Copy n elements of a contiguous native buffer to the next places."""
    cdef int last = walk.ndim - 1
    cdef Py_ssize_t steps, unit
    while n > 0:
        steps = min(n, walk.shape[last] - walk.index[last])
        copy_elements(source, walk.itemsize, walk.data, walk.strides[last], walk.itemsize, steps)
        if walk.swap > 1:
            for unit in range(steps):
                reverse_bytes(walk.data + unit * walk.strides[last], walk.itemsize, walk.swap)
        advance(walk, steps)
        source += steps * walk.itemsize
        n -= steps
