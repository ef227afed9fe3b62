"""The C interface: plans made from numbers and run on pointers. ``lutcast.h`` is its contract."""

from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport PyObject, Py_DECREF, Py_INCREF
from libc.stdint cimport int32_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from lutcast cimport (
    LUTCAST_ABI_VERSION, LUTCAST_BAD_FORMAT, LUTCAST_BAD_POLICY, LUTCAST_BAD_SIZE, LUTCAST_NO_MEMORY,
    LUTCAST_NOT_PACKED, LUTCAST_NULL_POINTER, LUTCAST_OK, LUTCAST_OVERLAP, LUTCAST_PACKED_DST, LUTCAST_PACKED_SRC,
    LUTCAST_PYTHON_ERROR, LUTCAST_UNSUPPORTED_CAST, lutcast_api, lutcast_plan, lutcast_status,
)
from lutcast._kernels.pipeline cimport Chain, Ends, Plan, packer, run, run_contiguous, unpacker
from lutcast._kernels.walk cimport MAX_DIMENSIONS, length, order_axes, set_walk

from .. import abi
from ..errors import UnsupportedCast
from ..plan import plan as find_plan
from . import TILE

cdef extern from "Python.h":
    bint Py_IsInitialized() nogil

cdef enum:
    MOST_FORMATS = 64
    STATUSES = 10
    BLOCK = 1024           # elements of a packed run at a time, a multiple of 8
    WIDEST = 16            # bytes of an element
    BLOCK_WORDS = 2048     # a block of the widest elements in units of 64 bits
    LARGEST = 0x7FFFFFFFFFFFFFFF

ctypedef void (*Tile)(
    const char *, char *, Py_ssize_t, int, const Py_ssize_t *, const Py_ssize_t *, const Py_ssize_t *) noexcept nogil

cdef struct Prepared:
    Chain chain
    Py_ssize_t src_itemsize
    Py_ssize_t dst_itemsize
    Py_ssize_t src_unit    # alignment
    Py_ssize_t dst_unit
    int src_bits           # of a format that can be packed, else 0
    int dst_bits
    PyObject *owner        # keeps the tables

cdef Tile tile_strided = <Tile><uintptr_t>TILE
cdef int32_t bits_of[MOST_FORMATS]
cdef int32_t itemsize_of[MOST_FORMATS]


# --------------------------------------------------------------------------- making plans


cdef lutcast_status make(Prepared *prepared, int32_t src, int32_t dst, int32_t rounding, int32_t overflow, int32_t nan):
    cdef Plan plan
    try:
        source, destination = abi.FORMATS[src], abi.FORMATS[dst]
    except KeyError:
        return LUTCAST_BAD_FORMAT
    try:
        plan = find_plan(source, destination, abi.ROUNDINGS[rounding], abi.OVERFLOWS[overflow], abi.NANS[nan])
    except UnsupportedCast:
        return LUTCAST_UNSUPPORTED_CAST
    except (KeyError, ValueError):
        return LUTCAST_BAD_POLICY
    prepared.chain = plan.chain
    prepared.src_itemsize, prepared.dst_itemsize = source.itemsize, destination.itemsize
    prepared.src_unit, prepared.dst_unit = plan.src_unit, plan.dst_unit
    prepared.src_bits, prepared.dst_bits = packed_bits(source), packed_bits(destination)
    prepared.owner = <PyObject *>plan
    Py_INCREF(plan)
    return LUTCAST_OK


def packed_bits(fmt):
    """Return the bits of a format that can be packed, else 0."""
    return fmt.bits if fmt.bits < 8 and fmt.kind != "bool" else 0


cdef lutcast_status make_safely(
    Prepared *prepared, int32_t src, int32_t dst, int32_t rounding, int32_t overflow, int32_t nan,
) noexcept with gil:
    try:
        return make(prepared, src, dst, rounding, overflow, nan)
    except MemoryError:
        return LUTCAST_NO_MEMORY
    except BaseException:  # an interrupt must not pass through C
        return LUTCAST_PYTHON_ERROR


cdef lutcast_status plan_create(
    lutcast_plan **plan, int32_t src, int32_t dst, int32_t rounding, int32_t overflow, int32_t nan,
) noexcept nogil:
    cdef Prepared *prepared
    cdef lutcast_status status
    if plan == NULL:
        return LUTCAST_NULL_POINTER
    prepared = <Prepared *>malloc(sizeof(Prepared))
    if prepared == NULL:
        return LUTCAST_NO_MEMORY
    status = make_safely(prepared, src, dst, rounding, overflow, nan)
    if status == LUTCAST_OK:
        plan[0] = <lutcast_plan *>prepared
    else:
        free(prepared)
    return status


cdef void release(PyObject *owner) noexcept with gil:
    Py_DECREF(<object>owner)


cdef void plan_destroy(lutcast_plan *plan) noexcept nogil:
    if plan == NULL:
        return
    if Py_IsInitialized():  # else its objects are gone already
        release((<Prepared *>plan).owner)
    free(plan)


# --------------------------------------------------------------------------- running them


cdef inline bint overlap(const char *a, Py_ssize_t a_size, const char *b, Py_ssize_t b_size) noexcept nogil:
    return a < b + b_size and b < a + a_size


cdef inline bint leaves_memory(const void *data, Py_ssize_t low, Py_ssize_t high) noexcept nogil:
    """Whether bytes low (not positive) to high from an address would lie below the first or above the last one."""
    cdef uintptr_t address = <uintptr_t>data
    return address < 0 - <uintptr_t>low or address + <uintptr_t>high < address


cdef inline bint is_aligned(const void *data, Py_ssize_t unit) noexcept nogil:
    return <uintptr_t>data % <uintptr_t>unit == 0


cdef lutcast_status plan_run(const lutcast_plan *plan, const void *src, void *dst, size_t n) noexcept nogil:
    cdef const Prepared *p = <const Prepared *>plan
    cdef Ends ends
    cdef Py_ssize_t shape, size = <Py_ssize_t>n
    cdef int axis = 0
    if n == 0:
        return LUTCAST_OK
    if p == NULL or src == NULL or dst == NULL:
        return LUTCAST_NULL_POINTER
    if n > <size_t>(LARGEST // WIDEST):
        return LUTCAST_BAD_SIZE
    if leaves_memory(src, 0, size * p.src_itemsize) or leaves_memory(dst, 0, size * p.dst_itemsize):
        return LUTCAST_BAD_SIZE
    if (overlap(<const char *>src, size * p.src_itemsize, <const char *>dst, size * p.dst_itemsize)
            and not (src == dst and p.dst_itemsize <= p.src_itemsize)):
        return LUTCAST_OVERLAP
    if is_aligned(src, p.src_unit) and is_aligned(dst, p.dst_unit):
        run_contiguous(&p.chain, <const char *>src, p.src_itemsize, 0, <char *>dst, p.dst_itemsize, 0, size)
        return LUTCAST_OK
    shape = size
    ends.src_bits = ends.dst_bits = 0
    set_walk(&ends.src, <char *>src, p.src_itemsize, 1, p.src_unit, &shape, &p.src_itemsize, &axis, 1)
    set_walk(&ends.dst, <char *>dst, p.dst_itemsize, 1, p.dst_unit, &shape, &p.dst_itemsize, &axis, 1)
    run(&p.chain, &ends, 0, size)
    return LUTCAST_OK


cdef lutcast_status reach(
    const Py_ssize_t *shape, const Py_ssize_t *strides, int ndim, Py_ssize_t itemsize,
    Py_ssize_t *low, Py_ssize_t *high,
) noexcept nogil:
    """Find the bytes before and after the first element that an array spans."""
    cdef int axis
    cdef Py_ssize_t stride, room
    low[0], high[0] = 0, itemsize
    for axis in range(ndim):
        stride = strides[axis]
        room = LARGEST - (high[0] - low[0])
        if stride == -LARGEST - 1 or (stride and shape[axis] - 1 > room // length(stride)):
            return LUTCAST_BAD_SIZE
        if stride > 0:
            high[0] += stride * (shape[axis] - 1)
        else:
            low[0] += stride * (shape[axis] - 1)
    return LUTCAST_OK


cdef lutcast_status read_shape(const size_t *sizes, int32_t ndim, Py_ssize_t *shape, Py_ssize_t *total) noexcept nogil:
    """Take over a shape and multiply it out."""
    cdef int axis
    cdef bint is_empty = False
    if ndim < 0 or ndim > MAX_DIMENSIONS:
        return LUTCAST_BAD_SIZE
    if ndim > 0 and sizes == NULL:
        return LUTCAST_NULL_POINTER
    total[0] = 1
    for axis in range(ndim):
        is_empty = is_empty or sizes[axis] == 0
    for axis in range(ndim):
        if not is_empty and sizes[axis] > <size_t>(LARGEST // total[0]):
            return LUTCAST_BAD_SIZE
        shape[axis] = 0 if is_empty else <Py_ssize_t>sizes[axis]
        total[0] *= shape[axis]
    return LUTCAST_OK


cdef lutcast_status plan_run_strided(
    const lutcast_plan *plan, const void *src, const Py_ssize_t *src_strides, void *dst,
    const Py_ssize_t *dst_strides, const size_t *sizes, int32_t ndim,
) noexcept nogil:
    cdef const Prepared *p = <const Prepared *>plan
    cdef Ends ends
    cdef Py_ssize_t shape[MAX_DIMENSIONS]
    cdef int axes[MAX_DIMENSIONS]
    cdef Py_ssize_t total, src_low, src_high, dst_low, dst_high
    cdef int axis
    cdef lutcast_status status = read_shape(sizes, ndim, shape, &total)
    if status != LUTCAST_OK or total == 0:
        return status
    if p == NULL or src == NULL or dst == NULL or (ndim and (src_strides == NULL or dst_strides == NULL)):
        return LUTCAST_NULL_POINTER
    status = reach(shape, src_strides, ndim, p.src_itemsize, &src_low, &src_high)
    if status == LUTCAST_OK:
        status = reach(shape, dst_strides, ndim, p.dst_itemsize, &dst_low, &dst_high)
    if status != LUTCAST_OK:
        return status
    if leaves_memory(src, src_low, src_high) or leaves_memory(dst, dst_low, dst_high):
        return LUTCAST_BAD_SIZE
    for axis in range(ndim):
        if dst_strides[axis] == 0 and shape[axis] > 1:
            return LUTCAST_OVERLAP
    if overlap(<const char *>src + src_low, src_high - src_low, <const char *>dst + dst_low, dst_high - dst_low):
        return LUTCAST_OVERLAP
    order_axes(dst_strides, axes, ndim)
    ends.src_bits = ends.dst_bits = 0
    set_walk(&ends.src, <char *>src, p.src_itemsize, 1, p.src_unit, shape, src_strides, axes, ndim)
    set_walk(&ends.dst, <char *>dst, p.dst_itemsize, 1, p.dst_unit, shape, dst_strides, axes, ndim)
    run(&p.chain, &ends, 0, total)
    return LUTCAST_OK


# --------------------------------------------------------------------------- packed


cdef void read_codes(const uint8_t *src, Py_ssize_t first, int bits, uint8_t *out, Py_ssize_t n) noexcept nogil:
    """Unpack codes from the first one on."""
    cdef Py_ssize_t i, bit = first * bits
    cdef uint8_t mask = <uint8_t>((1 << bits) - 1)
    cdef int shift
    cdef unsigned int held
    if bit % 8 == 0:
        unpacker(bits)(src + bit // 8, out, n, NULL)
        return
    for i in range(n):
        shift = bit % 8
        held = src[bit // 8]
        if shift + bits > 8:
            held |= <unsigned int>src[bit // 8 + 1] << 8
        out[i] = <uint8_t>(held >> shift) & mask
        bit += bits


cdef void write_codes(const uint8_t *codes, uint8_t *dst, Py_ssize_t first, int bits, Py_ssize_t n) noexcept nogil:
    """Pack codes from the first one on; bits of others are kept."""
    cdef Py_ssize_t i, whole = 0, bit = first * bits
    cdef unsigned int mask = (1 << bits) - 1
    cdef unsigned int held
    cdef int shift
    if bit % 8 == 0:
        whole = n - n % 8
        packer(bits)(codes, dst + bit // 8, whole, NULL)
    for i in range(whole, n):
        shift = (bit + i * bits) % 8
        held = (codes[i] & mask) << shift
        first = (bit + i * bits) // 8
        dst[first] = <uint8_t>((dst[first] & ~(mask << shift)) | held)
        if shift + bits > 8:
            dst[first + 1] = <uint8_t>((dst[first + 1] & ~(mask << shift >> 8)) | held >> 8)


cdef inline bint ranges_overlap(
    const void *a, Py_ssize_t a_first, Py_ssize_t a_bits, const void *b, Py_ssize_t b_first, Py_ssize_t b_bits,
    Py_ssize_t n,
) noexcept nogil:
    """Whether n elements of so many bits each share a byte."""
    cdef Py_ssize_t a_start = a_first * a_bits // 8
    cdef Py_ssize_t b_start = b_first * b_bits // 8
    return overlap(
        <const char *>a + a_start, ((a_first + n) * a_bits + 7) // 8 - a_start,
        <const char *>b + b_start, ((b_first + n) * b_bits + 7) // 8 - b_start)


cdef inline bint begins_whole(const void *data, Py_ssize_t first, int bits, Py_ssize_t unit) noexcept nogil:
    """Whether elements begin at a whole byte, or aligned where they are not packed."""
    return first * bits % 8 == 0 if bits else is_aligned(data, unit)


cdef lutcast_status plan_run_packed(
    const lutcast_plan *plan, const void *src, size_t src_offset, void *dst, size_t dst_offset, size_t n,
    int32_t packed,
) noexcept nogil:
    cdef const Prepared *p = <const Prepared *>plan
    cdef uint64_t read[BLOCK_WORDS]
    cdef uint64_t written[BLOCK_WORDS]
    cdef Py_ssize_t m, start = 0, size = <Py_ssize_t>n
    cdef Py_ssize_t src_start = <Py_ssize_t>src_offset
    cdef Py_ssize_t dst_start = <Py_ssize_t>dst_offset
    cdef int src_bits, dst_bits
    cdef const char *source
    cdef char *target
    cdef char *place
    if n == 0:
        return LUTCAST_OK
    if p == NULL or src == NULL or dst == NULL:
        return LUTCAST_NULL_POINTER
    if (packed & ~(LUTCAST_PACKED_SRC | LUTCAST_PACKED_DST)
            or (packed & LUTCAST_PACKED_SRC and not p.src_bits)
            or (packed & LUTCAST_PACKED_DST and not p.dst_bits)):
        return LUTCAST_NOT_PACKED
    if max(n, max(src_offset, dst_offset)) > <size_t>(LARGEST // (16 * WIDEST)):
        return LUTCAST_BAD_SIZE
    src_bits = p.src_bits if packed & LUTCAST_PACKED_SRC else 0
    dst_bits = p.dst_bits if packed & LUTCAST_PACKED_DST else 0
    if (leaves_memory(src, 0, ((src_start + size) * (src_bits if src_bits else 8 * p.src_itemsize) + 7) // 8)
            or leaves_memory(dst, 0, ((dst_start + size) * (dst_bits if dst_bits else 8 * p.dst_itemsize) + 7) // 8)):
        return LUTCAST_BAD_SIZE
    if ranges_overlap(src, src_start, src_bits if src_bits else 8 * p.src_itemsize,
                      dst, dst_start, dst_bits if dst_bits else 8 * p.dst_itemsize, size):
        return LUTCAST_OVERLAP
    source = <const char *>src + src_start * (src_bits if src_bits else 8 * p.src_itemsize) // 8
    place = <char *>dst + dst_start * (dst_bits if dst_bits else 8 * p.dst_itemsize) // 8
    if (begins_whole(source, src_start, src_bits, p.src_unit) and begins_whole(place, dst_start, dst_bits, p.dst_unit)):
        start = size - size % 8 if dst_bits else size  # the last byte may hold bits of others
        run_contiguous(&p.chain, source, p.src_itemsize, src_bits, place, p.dst_itemsize, dst_bits, start)
    while start < size:
        m = size - start if size - start < BLOCK else BLOCK
        source, target, place = <const char *>read, <char *>written, NULL
        if src_bits:
            read_codes(<const uint8_t *>src, src_start + start, src_bits, <uint8_t *>read, m)
        else:
            source = <const char *>src + (src_start + start) * p.src_itemsize
            if not is_aligned(source, p.src_unit):
                memcpy(read, source, m * p.src_itemsize)
                source = <const char *>read
        if not dst_bits:
            place = <char *>dst + (dst_start + start) * p.dst_itemsize
            target = place if is_aligned(place, p.dst_unit) else target
        run_contiguous(&p.chain, source, p.src_itemsize, 0, target, p.dst_itemsize, 0, m)
        if dst_bits:
            write_codes(<const uint8_t *>target, <uint8_t *>dst, dst_start + start, dst_bits, m)
        elif target != place:
            memcpy(place, target, m * p.dst_itemsize)
        start += m
    return LUTCAST_OK


# --------------------------------------------------------------------------- tiles, sizes, texts


cdef lutcast_status tile(
    const void *src, void *dst, size_t itemsize, const size_t *sizes, const size_t *repeats, int32_t ndim,
) noexcept nogil:
    cdef Py_ssize_t shape[MAX_DIMENSIONS]
    cdef Py_ssize_t counts[MAX_DIMENSIONS]
    cdef Py_ssize_t strides[MAX_DIMENSIONS]
    cdef Py_ssize_t total, copies, size
    cdef int axis
    cdef lutcast_status status = read_shape(sizes, ndim, shape, &total)
    if status == LUTCAST_OK:
        status = read_shape(repeats, ndim, counts, &copies)
    if status != LUTCAST_OK or total == 0 or copies == 0 or itemsize == 0:
        return status
    if src == NULL or dst == NULL:
        return LUTCAST_NULL_POINTER
    if itemsize > <size_t>(LARGEST // total // copies):
        return LUTCAST_BAD_SIZE
    size = <Py_ssize_t>itemsize
    for axis in range(ndim - 1, -1, -1):
        strides[axis] = size
        size *= shape[axis]
    if leaves_memory(src, 0, size) or leaves_memory(dst, 0, size * copies):
        return LUTCAST_BAD_SIZE
    if overlap(<const char *>src, size, <const char *>dst, size * copies):
        return LUTCAST_OVERLAP
    tile_strided(<const char *>src, <char *>dst, <Py_ssize_t>itemsize, ndim, shape, strides, counts)
    return LUTCAST_OK


cdef int32_t format_bits(int32_t number) noexcept nogil:
    return bits_of[number] if 0 <= number < MOST_FORMATS else 0


cdef int32_t format_itemsize(int32_t number) noexcept nogil:
    return itemsize_of[number] if 0 <= number < MOST_FORMATS else 0


cdef const char *TEXTS[STATUSES]
TEXTS[:] = [
    b"no error",
    b"no such format",
    b"no such rounding, overflow or NaN rule, or it has no meaning for these formats",
    b"no such cast between these formats",
    b"a pointer is NULL",
    b"a size, stride or count is negative or too large",
    b"source and destination overlap in a way that is not safe",
    b"a side is called packed whose format takes whole bytes",
    b"out of memory",
    b"an unforeseen error in Python",
]


cdef const char *status_text(lutcast_status status) noexcept nogil:
    if 0 <= status < STATUSES:
        return TEXTS[status]
    return "no such status"


for _number, _format in abi.FORMATS.items():
    bits_of[_number], itemsize_of[_number] = _format.bits, _format.itemsize

cdef lutcast_api api
api.abi_version = LUTCAST_ABI_VERSION
api.struct_size = sizeof(lutcast_api)
api.plan_create = plan_create
api.plan_destroy = plan_destroy
api.plan_run = plan_run
api.plan_run_strided = plan_run_strided
api.plan_run_packed = plan_run_packed
api.tile = tile
api.format_bits = format_bits
api.format_itemsize = format_itemsize
api.status_text = status_text

CAPSULE = PyCapsule_New(&api, "lutcast._C_API", NULL)
