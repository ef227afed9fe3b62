"""Tiling by memcpy: a block is built once and then copied from what is already written."""

cimport numpy as cnp
from libc.stdint cimport uintptr_t
from libc.string cimport memcpy

cnp.import_array()

cdef extern from "copy.h" nogil:
    void copy "lutcast_copy"(char *dst, const char *src, Py_ssize_t n)
    void repeat_rows "lutcast_repeat_rows"(
        char *dst, const char *src, Py_ssize_t rows, Py_ssize_t stride, Py_ssize_t size, Py_ssize_t repeats)

cdef enum:
    MAX_DIMENSIONS = 64
    LARGEST_COPY = 1 << 18  # bytes; larger copies would read what has left the cache
    PIECE = 1 << 14         # bytes of larger blocks that are copied at a time, to be read from the nearest cache
    SMALL_ROW = 64          # bytes; smaller rows are written straight from the source

cdef struct Axes:
    int ndim
    Py_ssize_t itemsize
    Py_ssize_t row          # bytes of the last axis where it is contiguous, else more than any row is small
    Py_ssize_t shape[MAX_DIMENSIONS]
    Py_ssize_t strides[MAX_DIMENSIONS]
    Py_ssize_t repeats[MAX_DIMENSIONS]
    Py_ssize_t block[MAX_DIMENSIONS]  # bytes of the result for one index of the axis


cdef void repeat_block(char *dst, Py_ssize_t size, Py_ssize_t repeats) noexcept nogil:
    """Copy the block at dst behind itself: small ones doubling what is copied, large ones piece by piece."""
    cdef Py_ssize_t total = size * repeats
    cdef Py_ssize_t done = size
    cdef Py_ssize_t n, i
    if size > PIECE:
        done = 0
        while done < size:
            n = min(size - done, PIECE)
            for i in range(1, repeats):
                memcpy(dst + i * size + done, dst + done, n)
            done += n
        return
    while done < total:
        n = min(done, min(PIECE - PIECE % size, total - done))
        memcpy(dst + done, dst, n)
        done += n


cdef void tile_last(const Axes *axes, const char *src, char *dst) noexcept nogil:
    """Copy the last axis once."""
    cdef int axis = axes.ndim - 1
    cdef Py_ssize_t i
    if axes.strides[axis] == axes.itemsize:
        copy(dst, src, axes.shape[axis] * axes.itemsize)
    else:
        for i in range(axes.shape[axis]):
            copy(dst + i * axes.itemsize, src + i * axes.strides[axis], axes.itemsize)


cdef void tile_rows(const Axes *axes, int axis, const char *src, char *dst) noexcept nogil:
    """Write an axis once."""
    cdef Py_ssize_t i
    cdef Py_ssize_t size = axes.shape[axis]
    cdef Py_ssize_t stride = axes.strides[axis]
    cdef int last = axes.ndim - 1
    if axis == last:
        tile_last(axes, src, dst)
    elif axis == last - 1 and axes.row <= SMALL_ROW:
        repeat_rows(dst, src, size, stride, axes.row, axes.repeats[last])
    else:
        for i in range(size):
            tile_axis(axes, axis + 1, src + i * stride, dst + i * axes.block[axis])


cdef void tile_axis(const Axes *axes, int axis, const char *src, char *dst) noexcept nogil:
    cdef Py_ssize_t i
    cdef Py_ssize_t size = axes.shape[axis]
    cdef Py_ssize_t block = axes.block[axis]
    cdef int last = axes.ndim - 1
    if axis < last and axes.repeats[axis] > 1 and size * block > LARGEST_COPY:
        # What was written has left the cache; the source, which is smaller, may not have.
        for i in range(axes.repeats[axis]):
            tile_rows(axes, axis, src, dst + i * size * block)
        return
    tile_rows(axes, axis, src, dst)
    if axes.repeats[axis] > 1:
        if axis == last and axes.row <= SMALL_ROW:
            repeat_rows(dst, dst, 1, 0, axes.row, axes.repeats[axis])
        else:
            repeat_block(dst, size * block, axes.repeats[axis])


cdef void tile_strided(
    const char *src, char *dst, Py_ssize_t itemsize, int ndim,
    const Py_ssize_t *shape, const Py_ssize_t *strides, const Py_ssize_t *repeats,
) noexcept nogil:
    """Fill dst, which is contiguous, with copies of src along every axis; neither is empty."""
    cdef Axes axes
    cdef int i, last = -1
    cdef Py_ssize_t size, stride, count
    axes.itemsize = itemsize
    for i in range(ndim):
        size, stride, count = shape[i], strides[i], repeats[i]
        if size == 1 and count == 1:
            continue
        stride = stride if size > 1 else itemsize  # that of a single element is anything
        # An axis joins the one before it if that has one element, or where it is not repeated and memory allows.
        if last >= 0 and (axes.shape[last] == 1 or (count == 1 and axes.strides[last] == size * stride)):
            axes.shape[last] *= size
            axes.strides[last] = stride
            axes.repeats[last] *= count
            continue
        last += 1
        axes.shape[last], axes.strides[last], axes.repeats[last] = size, stride, count
    if last < 0:
        last = 0
        axes.shape[0], axes.strides[0], axes.repeats[0] = 1, itemsize, 1
    axes.ndim = last + 1
    axes.block[last] = itemsize
    axes.row = axes.shape[last] * itemsize if axes.strides[last] == itemsize else SMALL_ROW + 1
    for i in range(last - 1, -1, -1):
        axes.block[i] = axes.block[i + 1] * axes.shape[i + 1] * axes.repeats[i + 1]
    tile_axis(&axes, 0, src, dst)


def tile_into(cnp.ndarray src not None, tuple repeats, cnp.ndarray dst not None):
    """Fill dst with copies of src along every axis.

    ``dst`` is C-contiguous and has the shape ``src.shape[i] * repeats[i]``; neither is empty and
    no element holds references.
    """
    cdef Py_ssize_t counts[MAX_DIMENSIONS]
    cdef int i
    cdef int ndim = cnp.PyArray_NDIM(src)
    cdef const char *source = cnp.PyArray_BYTES(src)
    cdef char *target = cnp.PyArray_BYTES(dst)
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(src)
    cdef const Py_ssize_t *shape = <const Py_ssize_t *>cnp.PyArray_DIMS(src)
    cdef const Py_ssize_t *strides = <const Py_ssize_t *>cnp.PyArray_STRIDES(src)
    for i in range(ndim):
        counts[i] = repeats[i]
    with nogil:
        tile_strided(source, target, itemsize, ndim, shape, strides, counts)


TILE = <uintptr_t>&tile_strided
