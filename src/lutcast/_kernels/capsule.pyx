"""DLPack capsules: made of arrays, read, and turned into arrays; arrays over the memory of others.

Only pointers and lifetimes are handled here; `lutcast.dlpack` decides what is allowed. A capsule
that nobody consumes frees what it holds; once consumed, the consumer calls the deleter.
"""

from cpython.exc cimport PyErr_Fetch, PyErr_Restore
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc

cimport cython
cimport numpy as cnp

cnp.import_array()

cdef extern from "Python.h":
    ctypedef void (*PyCapsule_Destructor)(PyObject *)
    bint Py_IsInitialized() nogil
    object PyCapsule_New(void *pointer, const char *name, PyCapsule_Destructor destructor)
    bint PyCapsule_CheckExact(object capsule)
    bint IsValid "PyCapsule_IsValid"(PyObject *capsule, const char *name)
    void *GetPointer "PyCapsule_GetPointer"(PyObject *capsule, const char *name) except NULL
    const char *PyCapsule_GetName(object capsule) except? NULL
    int PyCapsule_SetName(object capsule, const char *name) except -1

cdef extern from "numpy/arrayobject.h":
    object NewFromDescr "PyArray_NewFromDescr"(
        PyTypeObject *subtype, cnp.dtype descr, int ndim, const cnp.npy_intp *dims, const cnp.npy_intp *strides,
        void *data, int flags, PyObject *obj)
    PyTypeObject *array_type "(&PyArray_Type)"

cdef enum:
    MAX_DIMENSIONS = 64
    MAJOR = 1

# --------------------------------------------------------------------------- the structs of dlpack.h

cdef struct Tensor:
    void *data
    int32_t device_type
    int32_t device_id
    int32_t ndim
    uint8_t code
    uint8_t bits
    uint16_t lanes
    int64_t *shape
    int64_t *strides
    uint64_t byte_offset

cdef struct Legacy:
    Tensor tensor
    void *context
    void (*deleter)(Legacy *) noexcept nogil

cdef struct Versioned:
    uint32_t major
    uint32_t minor
    void *context
    void (*deleter)(Versioned *) noexcept nogil
    uint64_t flags
    Tensor tensor

cdef const char *LEGACY = "dltensor"
cdef const char *VERSIONED = "dltensor_versioned"
cdef const char *USED_LEGACY = "used_dltensor"
cdef const char *USED_VERSIONED = "used_dltensor_versioned"

# --------------------------------------------------------------------------- from arrays


cdef void release(PyObject *owner) noexcept with gil:
    Py_DECREF(<object>owner)


cdef void delete_legacy(Legacy *managed) noexcept nogil:
    if Py_IsInitialized():  # else the objects are gone already
        release(<PyObject *>managed.context)
    free(managed)


cdef void delete_versioned(Versioned *managed) noexcept nogil:
    if Py_IsInitialized():
        release(<PyObject *>managed.context)
    free(managed)


cdef void destroy(PyObject *capsule) noexcept:
    """Free what a capsule holds that nobody consumed; an exception on its way passes by."""
    cdef PyObject *error[3]
    PyErr_Fetch(&error[0], &error[1], &error[2])
    if IsValid(capsule, LEGACY):
        delete_legacy(<Legacy *>GetPointer(capsule, LEGACY))
    elif IsValid(capsule, VERSIONED):
        delete_versioned(<Versioned *>GetPointer(capsule, VERSIONED))
    PyErr_Restore(error[0], error[1], error[2])


cdef void describe(
    Tensor *tensor, cnp.ndarray array, tuple element, tuple shape, tuple strides, int64_t *sizes,
) except *:
    cdef int axis
    tensor.data = cnp.PyArray_DATA(array)
    tensor.device_type, tensor.device_id = 1, 0
    tensor.ndim = len(shape)
    tensor.code, tensor.bits, tensor.lanes = element
    tensor.shape = sizes
    tensor.strides = sizes + tensor.ndim
    tensor.byte_offset = 0
    for axis in range(tensor.ndim):
        tensor.shape[axis] = shape[axis]
        tensor.strides[axis] = strides[axis]


def export(cnp.ndarray array not None, tuple element, tuple shape, tuple strides, flags, version):
    """Return a capsule over the memory of an array.

    Parameters
    ----------
    array : ndarray
        Is kept alive by what the capsule holds.
    element : tuple of int
        Code, bits and lanes.
    shape, strides : tuple of int
        In elements.
    flags : int
    version : (int, int) or None
        None: a capsule of the kind without version and flags.

    Returns
    -------
    capsule
    """
    cdef size_t head = sizeof(Legacy) if version is None else sizeof(Versioned)
    cdef char *block = <char *>malloc(head + 2 * len(shape) * sizeof(int64_t))
    cdef int64_t *sizes = <int64_t *>(block + head)
    cdef Legacy *legacy = <Legacy *>block
    cdef Versioned *versioned = <Versioned *>block
    if block == NULL:
        raise MemoryError
    try:
        if version is None:
            describe(&legacy.tensor, array, element, shape, strides, sizes)
            legacy.context, legacy.deleter = <void *>array, delete_legacy
            capsule = PyCapsule_New(block, LEGACY, destroy)
        else:
            describe(&versioned.tensor, array, element, shape, strides, sizes)
            versioned.major, versioned.minor = version
            versioned.flags = flags
            versioned.context, versioned.deleter = <void *>array, delete_versioned
            capsule = PyCapsule_New(block, VERSIONED, destroy)
    except BaseException:
        free(block)
        raise
    Py_INCREF(array)
    return capsule


# --------------------------------------------------------------------------- to arrays


cdef Tensor *tensor_of(object capsule) except NULL:
    """Return what a capsule holds, or refuse it before anything is read that may not be there."""
    cdef PyObject *pointer = <PyObject *>capsule
    cdef Versioned *versioned
    cdef const char *name
    if not PyCapsule_CheckExact(capsule):
        raise TypeError(f"obj: __dlpack__ gave a {type(capsule).__name__}, a capsule is needed")
    if IsValid(pointer, LEGACY):
        return &(<Legacy *>GetPointer(pointer, LEGACY)).tensor
    if IsValid(pointer, VERSIONED):
        versioned = <Versioned *>GetPointer(pointer, VERSIONED)
        if versioned.major != MAJOR:  # what follows may be laid out in another way
            raise BufferError(f"obj: DLPack {versioned.major}.{versioned.minor} given, {MAJOR}.x is read")
        return &versioned.tensor
    name = PyCapsule_GetName(capsule)
    shown = None if name == NULL else name.decode("ascii", "replace")
    raise ValueError(
        f"obj: a capsule named {shown!r} given; 'dltensor' or 'dltensor_versioned', not yet consumed, is needed")


def read(capsule):
    """Return what a capsule says: address, byte offset, device, element, shape, strides and flags.

    Strides are None where they are left out, flags where the capsule has none.

    Raises
    ------
    TypeError, ValueError, BufferError
        No capsule, one that is consumed, or one that cannot be read.
    """
    cdef Tensor *tensor = tensor_of(capsule)
    cdef int axis
    if not 0 <= tensor.ndim <= MAX_DIMENSIONS:
        raise ValueError(f"obj: {tensor.ndim} dimensions given, 0 to {MAX_DIMENSIONS} are read")
    if tensor.ndim and tensor.shape == NULL:
        raise ValueError(f"obj: a shape of NULL given for {tensor.ndim} dimensions")
    shape = tuple([tensor.shape[axis] for axis in range(tensor.ndim)])
    strides = None if tensor.strides == NULL else tuple([tensor.strides[axis] for axis in range(tensor.ndim)])
    flags = (<Versioned *>GetPointer(<PyObject *>capsule, VERSIONED)).flags if IsValid(
        <PyObject *>capsule, VERSIONED) else None
    return (
        <uintptr_t>tensor.data, tensor.byte_offset, (tensor.device_type, tensor.device_id),
        (tensor.code, tensor.bits, tensor.lanes), shape, strides, flags)


@cython.final
cdef class Owner:
    """What a consumed capsule held; its deleter runs when no array lies in it any more."""

    cdef Legacy *legacy
    cdef Versioned *versioned

    def __dealloc__(self):
        if self.legacy != NULL and self.legacy.deleter != NULL:
            self.legacy.deleter(self.legacy)
        if self.versioned != NULL and self.versioned.deleter != NULL:
            self.versioned.deleter(self.versioned)


cdef char nothing = 0  # where arrays without elements lie


cdef object array_over(
    address, cnp.dtype dtype, tuple shape, tuple strides, Py_ssize_t unit, bint is_writable, object owner,
):
    """Return an array of memory that the owner keeps; strides are in so many bytes, the address 0 if it is empty."""
    cdef cnp.npy_intp sizes[2 * MAX_DIMENSIONS]
    cdef uintptr_t start = address
    cdef void *data = <void *>start if start else &nothing
    cdef int axis, ndim = len(shape)
    if ndim > MAX_DIMENSIONS:
        raise ValueError(f"{ndim} dimensions given, 0 to {MAX_DIMENSIONS} are read")
    for axis in range(ndim):
        sizes[axis] = shape[axis]
        sizes[ndim + axis] = strides[axis] * unit
    Py_INCREF(dtype)  # the call takes it over
    array = NewFromDescr(
        array_type, dtype, ndim, sizes, sizes + ndim, data, cnp.NPY_ARRAY_WRITEABLE if is_writable else 0, NULL)
    if start == 0 and cnp.PyArray_SIZE(array):
        raise ValueError("elements given without memory that holds them")
    cnp.set_array_base(array, owner)
    return array


def array_at(address, cnp.dtype dtype not None, tuple shape, tuple strides, owner):
    """Return a writable array of the memory of another object.

    Parameters
    ----------
    address : int
    dtype : dtype
    shape, strides : tuple of int
        Strides in elements.
    owner : object
        Is kept alive by the array.

    Returns
    -------
    ndarray
    """
    return array_over(address, dtype, shape, strides, dtype.itemsize, True, owner)


def consume(capsule, address, cnp.dtype dtype not None, tuple shape, tuple strides, bint is_writable):
    """Consume a capsule; return an array of its memory, which owns it.

    Parameters
    ----------
    capsule : capsule
        One that `read` has read.
    address : int
        0 for an array without elements.
    dtype : dtype
    shape, strides : tuple of int
        Strides in bytes.
    is_writable : bool

    Returns
    -------
    ndarray
    """
    cdef PyObject *pointer = <PyObject *>capsule
    cdef Owner owner = Owner.__new__(Owner)
    tensor_of(capsule)
    array = array_over(address, dtype, shape, strides, 1, is_writable, owner)
    if IsValid(pointer, LEGACY):
        owner.legacy = <Legacy *>GetPointer(pointer, LEGACY)
        PyCapsule_SetName(capsule, USED_LEGACY)
    else:
        owner.versioned = <Versioned *>GetPointer(pointer, VERSIONED)
        PyCapsule_SetName(capsule, USED_VERSIONED)
    return array
