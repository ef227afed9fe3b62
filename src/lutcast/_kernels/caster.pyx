"""Prepared casts: a call on ordinary arrays looks nothing up.

Ordinary is: ndarrays of exactly the two dtypes, contiguous in C order, aligned, one thread. All
else takes the careful way, a Python function.
"""

from functools import update_wrapper

from lutcast.formats import UINT8

cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uintptr_t
from libc.string cimport memcmp

from lutcast._kernels.pipeline cimport ENOUGH_TO_RELEASE, Plan, run_contiguous

cnp.import_array()

cdef extern from *:
    """
    static void lutcast_give_vectorcall(PyTypeObject *type, Py_ssize_t offset)
    {
        type->tp_vectorcall_offset = offset;
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        PyType_Modified(type);
    }
    """
    void give_vectorcall "lutcast_give_vectorcall"(PyTypeObject *type, Py_ssize_t offset)
    Py_ssize_t PyVectorcall_NARGS(size_t nargsf)
    object PyObject_Vectorcall(object callable, PyObject *const *args, size_t nargsf, PyObject *names)

cdef extern from "numpy/arrayobject.h":
    object PyArray_SimpleNewFromDescr(int ndim, cnp.npy_intp *dims, cnp.dtype descr)

cdef enum:
    MAX_DIMENSIONS = 64
    LARGEST_SIZE = 1 << 30  # of packed shapes on the short way, so that no product overflows

ctypedef object (*VectorCall)(object, PyObject *const *, size_t, PyObject *)


cdef class Caster:
    """A prepared cast from one format to another: `caster` makes it, calls look nothing up.

    It is immutable and may be shared by threads.

    Attributes
    ----------
    src, dst : Format
    policy : Policy
        Rounding, overflow and NaN, defaults filled in.
    plan : Plan
        What calls run.
    """

    cdef VectorCall vectorcall
    cdef readonly Plan plan
    cdef readonly object src
    cdef readonly object dst
    cdef readonly object policy
    cdef cnp.dtype src_dtype
    cdef cnp.dtype dst_dtype
    cdef object careful
    cdef int src_bits
    cdef int dst_bits

    def __cinit__(self, Plan plan not None, src, dst, policy, cnp.dtype src_dtype, cnp.dtype dst_dtype, careful):
        self.vectorcall = call
        self.plan, self.src, self.dst, self.policy = plan, src, dst, policy
        self.src_dtype, self.dst_dtype, self.careful = src_dtype, dst_dtype, careful
        self.src_bits, self.dst_bits = src.bits, dst.bits

    def __repr__(self):
        return f"<Caster {self.src.name} to {self.dst.name}, {self.policy}>"

    def __call__(self, x, out=None, threads=1):
        """Cast x, which is of the source format or holds its codes.

        Parameters
        ----------
        x : array_like
        out : ndarray, optional
        threads : int

        Returns
        -------
        ndarray

        Raises
        ------
        ValueError
            x is not of the source format, or a bad ``out`` or count of threads.
        """
        return self.careful(self, x, out, threads)


cdef inline bint is_ordinary(object array, cnp.dtype dtype) noexcept:
    return (
        cnp.PyArray_CheckExact(array)
        and <PyObject *>cnp.PyArray_DESCR(<cnp.ndarray>array) == <PyObject *>dtype
        and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>array))


cdef inline bint is_apart(cnp.ndarray out, cnp.ndarray array) noexcept:
    """Whether out is writable and shares no memory with array."""
    cdef char *start = cnp.PyArray_BYTES(array)
    cdef char *out_start = cnp.PyArray_BYTES(out)
    return cnp.PyArray_ISWRITEABLE(out) and (
        out_start + cnp.PyArray_NBYTES(out) <= start or start + cnp.PyArray_NBYTES(array) <= out_start)


cdef inline bint has_shape(cnp.ndarray array, int ndim, const cnp.npy_intp *shape) noexcept:
    return (
        cnp.PyArray_NDIM(array) == ndim
        and memcmp(cnp.PyArray_DIMS(array), shape, ndim * sizeof(cnp.npy_intp)) == 0)


cdef inline cnp.ndarray new_array(int ndim, cnp.npy_intp *shape, cnp.dtype dtype):
    Py_INCREF(dtype)  # the call takes it over
    return PyArray_SimpleNewFromDescr(ndim, shape, dtype)


cdef void run_memory(
    Caster caster, const char *src, Py_ssize_t src_itemsize, int src_bits, char *dst, Py_ssize_t dst_itemsize,
    int dst_bits, Py_ssize_t n,
) noexcept:
    """Run the plan on n elements; bits are those of a packed side, else 0."""
    cdef Plan plan = caster.plan
    if n < ENOUGH_TO_RELEASE:
        run_contiguous(&plan.chain, src, src_itemsize, src_bits, dst, dst_itemsize, dst_bits, n)
    else:
        with nogil:
            run_contiguous(&plan.chain, src, src_itemsize, src_bits, dst, dst_itemsize, dst_bits, n)


cdef object run(Caster caster, cnp.ndarray array, cnp.ndarray out, Py_ssize_t n, int src_bits, int dst_bits):
    run_memory(
        caster, cnp.PyArray_BYTES(array), cnp.PyArray_ITEMSIZE(array), src_bits,
        cnp.PyArray_BYTES(out), cnp.PyArray_ITEMSIZE(out), dst_bits, n)
    return out


def run_at(Caster caster not None, uintptr_t source, uintptr_t destination, Py_ssize_t n):
    """Cast n contiguous elements from one place in memory to another; the two must not overlap.

    Parameters
    ----------
    caster : Caster
    source, destination : int
        Addresses.
    n : int

    Returns
    -------
    bool
        Whether it was done: not where an address is 0 or not a multiple of the dtype's alignment.
    """
    if source == 0 or destination == 0 or (
            source % caster.src_dtype.alignment or destination % caster.dst_dtype.alignment):
        return False
    run_memory(
        caster, <const char *>source, caster.src_dtype.itemsize, 0,
        <char *>destination, caster.dst_dtype.itemsize, 0, n)
    return True


cdef object run_into(
    Caster caster, cnp.ndarray array, object out, cnp.dtype dtype, int ndim, cnp.npy_intp *shape, Py_ssize_t n,
    int src_bits, int dst_bits,
):
    """Run into ``out``, or into a new array if that is None; None comes back where ``out`` is not ordinary."""
    if out is None:
        return run(caster, array, new_array(ndim, shape, dtype), n, src_bits, dst_bits)
    if is_ordinary(out, dtype) and has_shape(<cnp.ndarray>out, ndim, shape) and is_apart(<cnp.ndarray>out, array):
        return run(caster, array, <cnp.ndarray>out, n, src_bits, dst_bits)
    return None


cdef inline object run_ordinary(Caster caster, cnp.ndarray array, object out):
    """Run without packing; None comes back where ``out`` is not ordinary."""
    return run_into(
        caster, array, out, caster.dst_dtype, cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array),
        cnp.PyArray_SIZE(array), 0, 0)


cdef object call(object self, PyObject *const *args, size_t nargsf, PyObject *names):
    """Take (x), (x, out) and (x, out=out) at once; leave every other call to ``__call__``."""
    cdef Caster caster = <Caster>self
    cdef Py_ssize_t given = PyVectorcall_NARGS(nargsf)
    cdef Py_ssize_t named = 0 if names == NULL else len(<tuple>names)
    cdef object result = None
    if given >= 1 and given + named <= 2 and is_ordinary(<object>args[0], caster.src_dtype):
        if given + named == 1:
            return run_ordinary(caster, <cnp.ndarray>args[0], None)
        if named == 0 or (<tuple>names)[0] == "out":
            result = run_ordinary(caster, <cnp.ndarray>args[0], <object>args[1])
        if result is not None:
            return result
    return caster.__call__(
        *[<object>args[i] for i in range(given)],
        **{(<tuple>names)[i]: <object>args[given + i] for i in range(named)})


# What plain calls of `cast` have used, by dtype of x (or format, where x is packed), destination and
# policy: no name is looked up twice.
cdef dict _remembered = {}
cdef dict _packing = {}
cdef dict _unpacking = {}


cdef inline tuple key(object source, object dtype, object rounding, object overflow, object nan):
    """Return what a call is known by; a short one, where the policy is the default, is found sooner."""
    if rounding is None and overflow is None and isinstance(nan, str) and nan == "keep":
        return source, dtype
    return source, dtype, rounding, overflow, nan


def remember(Caster caster not None, source, dtype, rounding, overflow, nan, bint packs, bint unpacks):
    """Let later plain calls of `cast` find a caster."""
    cdef dict known = _packing if packs else _unpacking if unpacks else _remembered
    known[key(source, dtype, rounding, overflow, nan)] = caster


cdef class Front:
    """The function `cast`, with a short way for calls that were made before.

    Short is the way of ``cast(x, dtype)`` with policy, ``out`` and packing at most, where x is an
    ndarray. All others go to the function itself.
    """

    cdef VectorCall vectorcall
    cdef object function
    cdef dict __dict__

    def __cinit__(self, function):
        self.vectorcall = front
        self.function = function
        update_wrapper(self, function)

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    def __repr__(self):
        return f"<function {self.__qualname__}>"

    def __reduce__(self):
        return self.__qualname__  # found by its name, as any function


cdef object front(object self, PyObject *const *args, size_t nargsf, PyObject *names):
    cdef Front owner = <Front>self
    cdef Py_ssize_t named = 0 if names == NULL else len(<tuple>names)
    cdef object rounding = None, overflow = None, nan = "keep", out = None, name, result
    cdef PyObject *src = NULL
    cdef PyObject *shape = NULL
    cdef bint packed = False
    cdef Caster caster = None
    cdef Py_ssize_t i
    if PyVectorcall_NARGS(nargsf) == 2 and cnp.PyArray_CheckExact(<object>args[0]):
        for i in range(named):
            name = (<tuple>names)[i]
            if name == "out":
                out = <object>args[2 + i]
            elif name == "rounding":
                rounding = <object>args[2 + i]
            elif name == "overflow":
                overflow = <object>args[2 + i]
            elif name == "nan":
                nan = <object>args[2 + i]
            elif name == "packed" and <object>args[2 + i] is True:
                packed = True
            elif name == "src":
                src = args[2 + i]
            elif name == "shape":
                shape = args[2 + i]
            else:
                return PyObject_Vectorcall(owner.function, args, nargsf, names)
        if src == NULL:
            caster = recall(
                _packing if packed else _remembered, <object>cnp.PyArray_DESCR(<cnp.ndarray>args[0]),
                <object>args[1], rounding, overflow, nan)
        elif not packed:
            caster = recall(_unpacking, <object>src, <object>args[1], rounding, overflow, nan)
    if caster is not None and (src == NULL) == (shape == NULL):
        if src != NULL:
            result = run_unpacking(caster, <cnp.ndarray>args[0], <object>shape, out)
        elif not is_ordinary(<object>args[0], caster.src_dtype):
            result = None
        elif packed:
            result = run_packing(caster, <cnp.ndarray>args[0], out)
        else:
            result = run_ordinary(caster, <cnp.ndarray>args[0], out)
        if result is not None:
            return result
    return PyObject_Vectorcall(owner.function, args, nargsf, names)


cdef Caster recall(dict known, object source, object dtype, object rounding, object overflow, object nan):
    try:
        return known.get(key(source, dtype, rounding, overflow, nan))
    except TypeError:  # an argument that cannot be a key is no name either
        return None


cdef object run_packing(Caster caster, cnp.ndarray array, object out):
    cdef Py_ssize_t n = cnp.PyArray_SIZE(array)
    cdef cnp.npy_intp size = (n * caster.dst_bits + 7) // 8
    return run_into(caster, array, out, _bytes, 1, &size, n, 0, caster.dst_bits)


cdef object run_unpacking(Caster caster, cnp.ndarray array, object shape, object out):
    """Unpack and cast; None comes back where ``array`` is not what packed elements of that shape take."""
    cdef cnp.npy_intp sizes[MAX_DIMENSIONS]
    cdef int ndim = 1, i
    cdef Py_ssize_t n = 1
    if type(shape) is int:
        shape = (shape,)
    if type(shape) is not tuple or len(<tuple>shape) > MAX_DIMENSIONS or not is_ordinary(array, _bytes):
        return None
    ndim = len(<tuple>shape)
    for i in range(ndim):
        if type((<tuple>shape)[i]) is not int or not 0 <= (<tuple>shape)[i] <= LARGEST_SIZE:
            return None
        sizes[i] = (<tuple>shape)[i]
        n *= sizes[i]
        if n > LARGEST_SIZE:
            return None
    if cnp.PyArray_NDIM(array) != 1 or cnp.PyArray_DIM(array, 0) != (n * caster.src_bits + 7) // 8:
        return None
    return run_into(caster, array, out, caster.dst_dtype, ndim, sizes, n, caster.src_bits, 0)


cdef cnp.dtype _bytes = cnp.dtype("u1")
cdef Caster _example = Caster.__new__(Caster, Plan((), 1, 1), UINT8, UINT8, None, _bytes, _bytes, None)
give_vectorcall(<PyTypeObject *>Caster, <char *>&_example.vectorcall - <char *><PyObject *>_example)
_example = None
cdef Front _other = Front.__new__(Front, remember)
give_vectorcall(<PyTypeObject *>Front, <char *>&_other.vectorcall - <char *><PyObject *>_other)
_other = None
