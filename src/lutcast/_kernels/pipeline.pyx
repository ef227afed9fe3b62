"""Plans: chains of loops, run over arrays in blocks that stay in the nearest cache.

A block is gathered where the source is strided, unaligned, byte-swapped or packed, passes through
the loops of the plan, and is scattered or packed where the destination asks for it. Buffers live on
the stack; a run allocates nothing and holds no lock.
"""

cimport numpy as cnp
from libc.stdint cimport uint64_t, uintptr_t
from libc.string cimport memcpy

from lutcast._kernels.loop cimport Loop, Params
from lutcast._kernels.walk cimport Walk, gather, order_axes, scatter, seek, set_walk

cnp.import_array()

cdef enum:
    BLOCK_BYTES = 16384    # of the widest element of a plan; small enough for the nearest cache
    BLOCK_WORDS = 2048     # the same in units of 64 bits
    LINE = 64              # bytes; stores of the vector units that cross one cost twice as much
    MANY_LINES = 4096      # bytes of a destination whose first elements are cast apart, up to a line


# By bits of a code; set once, when the variant is chosen.
cdef Loop packers[8]
cdef Loop unpackers[8]


def use_packing(loops):
    """Take the loops that pack and unpack from the chosen variant."""
    for bits in (2, 4, 6):
        packers[bits] = <Loop><uintptr_t>loops[f"pack_{bits}"]
        unpackers[bits] = <Loop><uintptr_t>loops[f"unpack_{bits}"]


cdef Loop packer(int bits) noexcept nogil:
    return packers[bits]


cdef Loop unpacker(int bits) noexcept nogil:
    return unpackers[bits]


cdef void run_stages(
    const Chain *chain, const char *src, char *dst, char *spare[2], Py_ssize_t n,
) noexcept nogil:
    """Run a chain on one block; between the ends it alternates between two buffers."""
    cdef int i
    cdef const char *source = src
    cdef char *target
    for i in range(chain.count):
        target = dst if i == chain.count - 1 else spare[i % 2]
        chain.stages[i].loop(source, target, n * chain.stages[i].parts, &chain.stages[i].params)
        source = target


cdef Py_ssize_t widest(const Chain *chain, const Ends *ends) noexcept nogil:
    """Return the bytes of the widest form that an element takes.

    Between loops its parts have at most 4 bytes, or it is as wide as one of the ends.
    """
    cdef Py_ssize_t width = 1 if ends.src_bits else ends.src.itemsize
    cdef int i
    width = max(width, 1 if ends.dst_bits else ends.dst.itemsize)
    for i in range(chain.count - 1):
        width = max(width, 4 * chain.stages[i].parts)
    return width


cdef void run_blocks(const Chain *chain, Ends *ends, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Run a chain block by block; blocks are multiples of 8 elements, so that packed ones are whole bytes."""
    cdef uint64_t space[4 * BLOCK_WORDS]
    cdef char *gathered = <char *>space
    cdef char *scattered = <char *>(space + BLOCK_WORDS)
    cdef char *spare[2]
    cdef const char *source
    cdef char *target
    cdef Py_ssize_t n
    cdef Py_ssize_t block = BLOCK_BYTES // widest(chain, ends)
    spare[0], spare[1] = <char *>(space + 2 * BLOCK_WORDS), <char *>(space + 3 * BLOCK_WORDS)
    while start < stop:
        n = min(block, stop - start)
        if ends.src_bits:
            unpackers[ends.src_bits](ends.src.data + start * ends.src_bits // 8, gathered, n, NULL)
            source = gathered
        elif ends.src.is_contiguous:
            source = ends.src.data + start * ends.src.itemsize
        else:
            gather(&ends.src, gathered, n)
            source = gathered
        target = scattered if ends.dst_bits or not ends.dst.is_contiguous else ends.dst.data + start * ends.dst.itemsize
        if chain.count:
            run_stages(chain, source, target, spare, n)
        elif target == scattered:
            target = <char *>source
        else:
            memcpy(target, source, n * ends.dst.itemsize)
        if ends.dst_bits:
            packers[ends.dst_bits](target, ends.dst.data + start * ends.dst_bits // 8, n, NULL)
        elif not ends.dst.is_contiguous:
            scatter(&ends.dst, target, n)
        start += n


cdef inline bint run_direct(const Chain *chain, const Ends *ends, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Run one loop, or none, from contiguous memory to contiguous memory; False where more is needed."""
    cdef const char *src = ends.src.data + start * ends.src.itemsize
    cdef char *dst = ends.dst.data + start * ends.dst.itemsize
    cdef Loop loop = chain.stages[0].loop
    if chain.count > 1 or not (ends.src.is_contiguous and ends.dst.is_contiguous):
        return False
    if ends.src_bits or ends.dst_bits:
        loop = NULL if ends.src_bits and ends.dst_bits else chain.from_packed if ends.src_bits else chain.to_packed
        if loop == NULL:
            return False
        if ends.src_bits:
            src = ends.src.data + start * ends.src_bits // 8
        else:
            dst = ends.dst.data + start * ends.dst_bits // 8
    if start == stop:
        return True
    if chain.count:
        loop(src, dst, (stop - start) * chain.stages[0].parts, &chain.stages[0].params)
    else:
        memcpy(dst, src, (stop - start) * ends.dst.itemsize)
    return True


cdef inline Py_ssize_t before_line(
    const Chain *chain, const Ends *ends, Py_ssize_t start, Py_ssize_t stop,
) noexcept nogil:
    """Return how many elements to cast apart, so that all others are stored to whole cache lines."""
    cdef int bits = ends.dst_bits if ends.dst_bits else 8 * ends.dst.itemsize
    cdef Py_ssize_t before
    if not chain.count or not ends.dst.is_contiguous or (stop - start) * bits < 8 * MANY_LINES:
        return 0
    before = 8 * (-<uintptr_t>(ends.dst.data + start * bits // 8) % LINE)
    if before % bits or before // bits * ends.src_bits % 8:
        return 0
    return before // bits


cdef void run(const Chain *chain, Ends *ends, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Run a chain on elements start to stop."""
    cdef Py_ssize_t line
    if start >= stop:
        return
    line = start + before_line(chain, ends, start, stop)
    if run_direct(chain, ends, start, line):
        run_direct(chain, ends, line, stop)
        return
    if not ends.src.is_contiguous:
        seek(&ends.src, start)
    if not ends.dst.is_contiguous:
        seek(&ends.dst, start)
    run_blocks(chain, ends, start, line)
    run_blocks(chain, ends, line, stop)


cdef void run_contiguous(
    const Chain *chain, const char *src, Py_ssize_t src_itemsize, int src_bits, char *dst, Py_ssize_t dst_itemsize,
    int dst_bits, Py_ssize_t n,
) noexcept nogil:
    """Run a chain from contiguous memory to contiguous memory; bits are those of a packed side, else 0."""
    cdef Ends ends
    ends.src_bits, ends.dst_bits = src_bits, dst_bits
    ends.src.is_contiguous = ends.dst.is_contiguous = True
    ends.src.data, ends.src.itemsize = <char *>src, src_itemsize
    ends.dst.data, ends.dst.itemsize = dst, dst_itemsize
    run(chain, &ends, 0, n)


cdef void make_walk(Walk *walk, cnp.ndarray array, const int *axes, int ndim, Py_ssize_t unit) noexcept:
    """Describe an array of NumPy in the given order of axes."""
    set_walk(
        walk, <char *>cnp.PyArray_DATA(array), cnp.PyArray_ITEMSIZE(array),
        1 if cnp.PyArray_ISNOTSWAPPED(array) else unit, unit,
        <const Py_ssize_t *>cnp.PyArray_DIMS(array), <const Py_ssize_t *>cnp.PyArray_STRIDES(array), axes, ndim)


cdef class Plan:
    """How one cast is carried out: an immutable chain of loops, shared by threads.

    Parameters
    ----------
    stages : sequence of (address, parts, params, table, pieces)
        Address of each loop; how many loop elements make one element of the cast; its
        parameters, a complete dict of ints; its table and the pieces made from it, arrays
        that are kept alive, or None.
    src_unit, dst_unit : int
        Bytes of one part of an element, the unit of alignment and of byte order.
    from_packed, to_packed : int
        Addresses of loops that do the same as the only stage, from or to packed codes; 0: there are none.
    """

    def __init__(self, stages, Py_ssize_t src_unit, Py_ssize_t dst_unit, from_packed=0, to_packed=0):
        cdef int i
        cdef Stage *stage
        if len(stages) > MAX_STAGES:
            raise ValueError(f"stages: {len(stages)} given, {MAX_STAGES} fit")
        self.chain.count = len(stages)
        self.chain.from_packed, self.chain.to_packed = <Loop><uintptr_t>from_packed, <Loop><uintptr_t>to_packed
        self.src_unit, self.dst_unit = src_unit, dst_unit
        self.tables = tuple(array for _, _, _, *arrays in stages for array in arrays if array is not None)
        for i, (address, parts, params, table, pieces) in enumerate(stages):
            stage = &self.chain.stages[i]
            stage.loop = <Loop><uintptr_t>address
            stage.parts = parts
            stage.params = read_params(params)
            if table is not None:
                stage.params.table = cnp.PyArray_DATA(<cnp.ndarray?>table)
            if pieces is not None:
                stage.params.pieces = cnp.PyArray_DATA(<cnp.ndarray?>pieces)

    def run(
        self, cnp.ndarray src not None, cnp.ndarray dst not None, Py_ssize_t start, Py_ssize_t stop,
        int src_bits=0, int dst_bits=0,
    ):
        """Cast elements ``start`` to ``stop`` of ``src`` into ``dst``, without the GIL.

        The elements are counted in the order of the memory of ``dst``; with a packed side, a 1-D
        uint8 array of codes of ``src_bits`` or ``dst_bits``, in C order. ``start`` is then a
        multiple of 8. Shapes and formats are the caller's to check.
        """
        cdef Ends ends
        cdef int axes[64]
        cdef int i
        cdef bint is_packed = src_bits != 0 or dst_bits != 0
        cdef cnp.ndarray guide = src if dst_bits else dst
        cdef int ndim = cnp.PyArray_NDIM(guide)
        ends.src_bits, ends.dst_bits = src_bits, dst_bits
        if is_packed:
            for i in range(ndim):
                axes[i] = i
        else:
            order_axes(<const Py_ssize_t *>cnp.PyArray_STRIDES(guide), axes, ndim)
        if src_bits:
            ends.src.data = <char *>cnp.PyArray_DATA(src)
            ends.src.is_contiguous = True
        else:
            make_walk(&ends.src, src, axes, ndim, self.src_unit)
        if dst_bits:
            ends.dst.data = <char *>cnp.PyArray_DATA(dst)
            ends.dst.is_contiguous = True
        else:
            make_walk(&ends.dst, dst, axes, ndim, self.dst_unit)
        if stop - start < ENOUGH_TO_RELEASE:
            run(&self.chain, &ends, start, stop)
        else:
            with nogil:
                run(&self.chain, &ends, start, stop)


cdef Params read_params(dict fields) except *:
    cdef Params params
    params.table = NULL
    params.pieces = NULL
    params.nearest = fields["nearest"]
    params.tie_even = fields["tie_even"]
    params.tie_away = fields["tie_away"]
    params.away = fields["away"]
    params.odd = fields["odd"]
    params.direction = fields["direction"]
    params.src_fraction_bits = fields["src_fraction_bits"]
    params.src_sign_shift = fields["src_sign_shift"]
    params.src_infinity = fields["src_infinity"]
    params.src_bias = fields["src_bias"]
    params.dst_fraction_bits = fields["dst_fraction_bits"]
    params.dst_sign_shift = fields["dst_sign_shift"]
    params.dst_bias = fields["dst_bias"]
    params.max_code = fields["max_code"]
    params.overflow = fields["overflow"]
    params.infinity = fields["infinity"]
    params.nan = fields["nan"]
    params.nan_keep = fields["nan_keep"]
    params.limit = fields["limit"]
    params.saturate = fields["saturate"]
    params.low = fields["low"]
    params.high = fields["high"]
    params.mask = fields["mask"]
    return params
