# SPDX-License-Identifier: Apache-2.0
# Calls of classes with wrong arguments: Cython's message names `__init__`, but not the class.


cdef object call_class(PyObject* cls, PyObject* const* args, size_t flags, PyObject* names):
    cdef Py_ssize_t count = PyVectorcall_NARGS(flags)
    called = <object>cls
    positional = tuple([<object>args[i] for i in range(count)])
    keywords = {}
    if names is not NULL:
        keywords = {name: <object>args[count + i] for i, name in enumerate(<tuple>names)}
    try:
        return type.__call__(called, *positional, **keywords)
    except TypeError as error:
        text = str(error)
        if not text.startswith("__init__() "):
            raise
        signature = import_module("inspect").signature(called)
    raise TypeError(f"{called.__name__}{text.removeprefix('__init__')}; the call is "
                    f"{called.__name__}{signature}")


cdef int install_named_calls(tuple classes) except -1:
    for cls in classes:
        (<mutable_type*><PyObject*>cls).tp_vectorcall = <vectorcallfunc>call_class
