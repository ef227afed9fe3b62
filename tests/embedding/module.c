/* A C extension that casts with lutcast: what a user writes. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <lutcast.h>

static const lutcast_api *lutcast;

static PyObject *answer(lutcast_status status)
{
    if (status == LUTCAST_OK)
        Py_RETURN_NONE;
    return PyErr_Format(PyExc_ValueError, "%d: %s", (int)status, lutcast->status_text(status));
}

/* cast(src_format, dst_format, rounding, overflow, nan, x, y, n) on buffers; n elements from unaligned places too */
static PyObject *cast(PyObject *self, PyObject *args)
{
    int src, dst, rounding, overflow, nan;
    Py_buffer x, y;
    Py_ssize_t n;
    lutcast_plan *plan;
    lutcast_status status;
    (void)self;
    if (!PyArg_ParseTuple(args, "iiiiiy*w*n", &src, &dst, &rounding, &overflow, &nan, &x, &y, &n))
        return NULL;
    status = lutcast->plan_create(&plan, src, dst, rounding, overflow, nan);
    if (status == LUTCAST_OK) {
        Py_BEGIN_ALLOW_THREADS
        status = lutcast->plan_run(plan, x.buf, y.buf, (size_t)n);
        Py_END_ALLOW_THREADS
        lutcast->plan_destroy(plan);
    }
    PyBuffer_Release(&x);
    PyBuffer_Release(&y);
    return answer(status);
}

/* cast_packed(src_format, dst_format, x, x_offset, y, y_offset, n, packed) */
static PyObject *cast_packed(PyObject *self, PyObject *args)
{
    int src, dst, packed;
    Py_buffer x, y;
    Py_ssize_t x_offset, y_offset, n;
    lutcast_plan *plan;
    lutcast_status status;
    (void)self;
    if (!PyArg_ParseTuple(args, "iiy*nw*nni", &src, &dst, &x, &x_offset, &y, &y_offset, &n, &packed))
        return NULL;
    status = lutcast->plan_create(&plan, src, dst, 0, 0, 0);
    if (status == LUTCAST_OK) {
        status = lutcast->plan_run_packed(plan, x.buf, (size_t)x_offset, y.buf, (size_t)y_offset, (size_t)n, packed);
        lutcast->plan_destroy(plan);
    }
    PyBuffer_Release(&x);
    PyBuffer_Release(&y);
    return answer(status);
}

/* Read a tuple of integers; -1 with an exception. */
static int read_tuple(PyObject *tuple, Py_ssize_t *values)
{
    Py_ssize_t i, n = PyTuple_Size(tuple);
    for (i = 0; i < n && i < LUTCAST_MAX_DIMENSIONS; i++)
        values[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, i));
    return PyErr_Occurred() ? -1 : (int)n;
}

/* cast_strided(src_format, dst_format, x, x_first, x_strides, y, y_first, y_strides, shape) */
static PyObject *cast_strided(PyObject *self, PyObject *args)
{
    int src, dst, ndim;
    Py_buffer x, y;
    Py_ssize_t x_first, y_first;
    PyObject *x_strides, *y_strides, *shape;
    Py_ssize_t from[LUTCAST_MAX_DIMENSIONS], to[LUTCAST_MAX_DIMENSIONS], sizes[LUTCAST_MAX_DIMENSIONS];
    lutcast_plan *plan;
    lutcast_status status;
    (void)self;
    if (!PyArg_ParseTuple(
            args, "iiy*nO!w*nO!O!", &src, &dst, &x, &x_first, &PyTuple_Type, &x_strides, &y, &y_first, &PyTuple_Type,
            &y_strides, &PyTuple_Type, &shape))
        return NULL;
    ndim = read_tuple(shape, sizes);
    if (ndim < 0 || read_tuple(x_strides, from) < 0 || read_tuple(y_strides, to) < 0)
        return NULL;
    status = lutcast->plan_create(&plan, src, dst, 0, 0, 0);
    if (status == LUTCAST_OK) {
        status = lutcast->plan_run_strided(
            plan, (char *)x.buf + x_first, from, (char *)y.buf + y_first, to, (const size_t *)sizes, ndim);
        lutcast->plan_destroy(plan);
    }
    PyBuffer_Release(&x);
    PyBuffer_Release(&y);
    return answer(status);
}

/* tile(x, y, itemsize, shape, repeats) */
static PyObject *tile(PyObject *self, PyObject *args)
{
    Py_buffer x, y;
    Py_ssize_t itemsize, sizes[LUTCAST_MAX_DIMENSIONS], counts[LUTCAST_MAX_DIMENSIONS];
    PyObject *shape, *repeats;
    lutcast_status status;
    int ndim;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*w*nO!O!", &x, &y, &itemsize, &PyTuple_Type, &shape, &PyTuple_Type, &repeats))
        return NULL;
    ndim = read_tuple(shape, sizes);
    if (ndim < 0 || read_tuple(repeats, counts) < 0)
        return NULL;
    status = lutcast->tile(x.buf, y.buf, (size_t)itemsize, (const size_t *)sizes, (const size_t *)counts, ndim);
    PyBuffer_Release(&x);
    PyBuffer_Release(&y);
    return answer(status);
}

/* sizes(format) -> (bits, itemsize); text(status) */
static PyObject *sizes(PyObject *self, PyObject *args)
{
    int format;
    (void)self;
    if (!PyArg_ParseTuple(args, "i", &format))
        return NULL;
    return Py_BuildValue("ii", (int)lutcast->format_bits(format), (int)lutcast->format_itemsize(format));
}

static PyObject *text(PyObject *self, PyObject *args)
{
    int status;
    (void)self;
    if (!PyArg_ParseTuple(args, "i", &status))
        return NULL;
    return PyUnicode_FromString(lutcast->status_text(status));
}

/* nulls() -> the status of each call that gets NULL */
static PyObject *nulls(PyObject *self, PyObject *args)
{
    lutcast_plan *plan;
    char byte[8] = {0};
    size_t one = 1, big = SIZE_MAX;
    ptrdiff_t stride = 1, most = PTRDIFF_MAX, least = PTRDIFF_MIN;
    PyObject *result;
    (void)self;
    (void)args;
    if (lutcast->plan_create(&plan, LUTCAST_UINT8, LUTCAST_UINT16, 0, 0, 0) != LUTCAST_OK)
        return answer(LUTCAST_PYTHON_ERROR);
    lutcast->plan_destroy(NULL);
    result = Py_BuildValue(
        "[iiiiiiiiiiiiiiiiiii]", lutcast->plan_create(NULL, 1, 1, 0, 0, 0), lutcast->plan_run(NULL, byte, byte, 1),
        lutcast->plan_run(plan, NULL, byte, 1), lutcast->plan_run(plan, byte, NULL, 1),
        lutcast->plan_run(NULL, NULL, NULL, 0), lutcast->plan_run(plan, byte, byte + 1, big),
        lutcast->plan_run_strided(plan, byte, NULL, byte, &stride, &one, 1),
        lutcast->plan_run_strided(plan, byte, &stride, byte, &stride, NULL, 1),
        lutcast->plan_run_strided(plan, byte, &stride, byte, &stride, &one, 65),
        lutcast->plan_run_strided(plan, byte, &stride, byte, &stride, &one, -1),
        lutcast->plan_run_strided(plan, byte, &stride, byte, &stride, &big, 1),
        lutcast->plan_run_packed(plan, byte, 0, byte, 0, 1, LUTCAST_PACKED_SRC),
        lutcast->plan_run_packed(plan, byte, 0, byte, 0, 1, 4), lutcast->plan_run_packed(plan, byte, big, byte, 0, 1, 0),
        lutcast->tile(NULL, byte, 1, &one, &one, 1), lutcast->tile(byte, byte + 1, big, &one, &one, 1),
        lutcast->tile(byte, byte + 1, 1, &big, &one, 1), lutcast->tile(byte, byte, 1, &one, &one, 1),
        lutcast->plan_run_strided(plan, byte, &least, byte, &most, (const size_t[]){3}, 1));
    lutcast->plan_destroy(plan);
    return result;
}

static PyMethodDef methods[] = {
    {"cast", cast, METH_VARARGS, NULL},
    {"cast_packed", cast_packed, METH_VARARGS, NULL},
    {"cast_strided", cast_strided, METH_VARARGS, NULL},
    {"tile", tile, METH_VARARGS, NULL},
    {"sizes", sizes, METH_VARARGS, NULL},
    {"text", text, METH_VARARGS, NULL},
    {"nulls", nulls, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "module", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_module(void)
{
    lutcast = lutcast_import();
    return lutcast == NULL ? NULL : PyModule_Create(&definition);
}
