/* Refuses to be imported in a sub-interpreter. The compiled modules keep plans and tables for the whole
 * process, and threads of the C interface enter the main interpreter. Imported first, and able to load
 * anywhere: NumPy and Cython also refuse, but count the first interpreter that came as the main one, so
 * that a failed import in a sub-interpreter would spoil those of the main one. */
#include <Python.h>

static int refuse(PyObject *module)
{
    (void)module;
    if (PyInterpreterState_Get() == PyInterpreterState_Main())
        return 0;
    PyErr_SetString(PyExc_ImportError, "lutcast: works in the main interpreter only, not in a sub-interpreter");
    return -1;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)refuse},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_interpreter", .m_doc = "Refuses sub-interpreters.", .m_slots = slots};

PyMODINIT_FUNC PyInit__interpreter(void)
{
    return PyModuleDef_Init(&definition);
}
