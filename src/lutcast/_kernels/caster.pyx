"""Prepared casts: a call on ordinary arrays looks nothing up.

Ordinary is: ndarrays of exactly the two dtypes, contiguous in C order, aligned, one thread. All
else takes the careful way, a Python function.
"""

from functools import update_wrapper

cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
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

    def __cinit__(self, Plan plan not None, src, dst, policy, cnp.dtype src_dtype, cnp.dtype dst_dtype, careful):
        self.vectorcall = call
        self.plan, self.src, self.dst, self.policy = plan, src, dst, policy
        self.src_dtype, self.dst_dtype, self.careful = src_dtype, dst_dtype, careful

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


cdef inline bint fits(cnp.ndarray out, cnp.ndarray array) noexcept:
    """Whether out is writable, of the shape of array, and apart from it in memory."""
    cdef int ndim = cnp.PyArray_NDIM(array)
    cdef char *start = cnp.PyArray_BYTES(array)
    cdef char *out_start = cnp.PyArray_BYTES(out)
    return (
        cnp.PyArray_ISWRITEABLE(out)
        and cnp.PyArray_NDIM(out) == ndim
        and memcmp(cnp.PyArray_DIMS(out), cnp.PyArray_DIMS(array), ndim * sizeof(cnp.npy_intp)) == 0
        and (out_start + cnp.PyArray_NBYTES(out) <= start or start + cnp.PyArray_NBYTES(array) <= out_start))


cdef inline cnp.ndarray new_result(Caster caster, cnp.ndarray array):
    Py_INCREF(caster.dst_dtype)  # the call takes it over
    return PyArray_SimpleNewFromDescr(cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array), caster.dst_dtype)


cdef object run_ordinary(Caster caster, cnp.ndarray array, cnp.ndarray out):
    cdef Plan plan = caster.plan
    cdef Py_ssize_t n = cnp.PyArray_SIZE(array)
    cdef const char *src = cnp.PyArray_BYTES(array)
    cdef char *dst = cnp.PyArray_BYTES(out)
    cdef Py_ssize_t src_itemsize = cnp.PyArray_ITEMSIZE(array)
    cdef Py_ssize_t dst_itemsize = cnp.PyArray_ITEMSIZE(out)
    if n < ENOUGH_TO_RELEASE:
        run_contiguous(plan.stages, plan.count, src, src_itemsize, dst, dst_itemsize, n)
    else:
        with nogil:
            run_contiguous(plan.stages, plan.count, src, src_itemsize, dst, dst_itemsize, n)
    return out


cdef object call(object self, PyObject *const *args, size_t nargsf, PyObject *names):
    """Take (x), (x, out) and (x, out=out) at once; leave every other call to ``__call__``."""
    cdef Caster caster = <Caster>self
    cdef Py_ssize_t given = PyVectorcall_NARGS(nargsf)
    cdef Py_ssize_t named = 0 if names == NULL else len(<tuple>names)
    cdef bint takes_out
    cdef cnp.ndarray array, out
    if given >= 1 and given + named <= 2 and is_ordinary(<object>args[0], caster.src_dtype):
        array = <cnp.ndarray>args[0]
        takes_out = given + named == 2 and (named == 0 or (<tuple>names)[0] == "out")
        if given + named == 1 or (takes_out and args[1] == <PyObject *>None):
            return run_ordinary(caster, array, new_result(caster, array))
        if takes_out and is_ordinary(<object>args[1], caster.dst_dtype):
            out = <cnp.ndarray>args[1]
            if fits(out, array):
                return run_ordinary(caster, array, out)
    return caster.__call__(
        *[<object>args[i] for i in range(given)],
        **{(<tuple>names)[i]: <object>args[given + i] for i in range(named)})


# What plain calls of `cast` have used, by dtype of x, destination and policy: no name is looked up twice.
cdef dict _remembered = {}


def remember(Caster caster not None, cnp.dtype x_dtype not None, dtype, rounding, overflow, nan):
    """Let later plain calls of `cast` find a caster."""
    _remembered[x_dtype, dtype, rounding, overflow, nan] = caster


cdef class Front:
    """The function `cast`, with a short way for calls that were made before.

    Short is the way of ``cast(x, dtype)`` with ``rounding``, ``overflow``, ``nan`` and ``out`` at most,
    where x is an ndarray. All others go to the function itself.
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
    cdef object rounding = None, overflow = None, nan = "keep", out = None, name
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
            else:
                return PyObject_Vectorcall(owner.function, args, nargsf, names)
        try:
            caster = _remembered.get(
                (<object>cnp.PyArray_DESCR(<cnp.ndarray>args[0]), <object>args[1], rounding, overflow, nan))
        except TypeError:  # an argument that cannot be a key is no name either
            pass
    if caster is None:
        return PyObject_Vectorcall(owner.function, args, nargsf, names)
    if is_ordinary(<object>args[0], caster.src_dtype):
        if out is None:
            return run_ordinary(caster, <cnp.ndarray>args[0], new_result(caster, <cnp.ndarray>args[0]))
        if is_ordinary(out, caster.dst_dtype) and fits(<cnp.ndarray>out, <cnp.ndarray>args[0]):
            return run_ordinary(caster, <cnp.ndarray>args[0], <cnp.ndarray>out)
    return caster.careful(caster, <object>args[0], out, 1)


cdef Caster _example = Caster.__new__(Caster, Plan((), 1, 1), None, None, None, cnp.dtype("u1"), cnp.dtype("u1"), None)
give_vectorcall(<PyTypeObject *>Caster, <char *>&_example.vectorcall - <char *><PyObject *>_example)
_example = None
cdef Front _other = Front.__new__(Front, remember)
give_vectorcall(<PyTypeObject *>Front, <char *>&_other.vectorcall - <char *><PyObject *>_other)
_other = None
