# SPDX-License-Identifier: Apache-2.0
# Completion of all classes of an extension, after the last class was defined.

cdef extern from "python/classes/properties.hpp" namespace "halfwarp::python":
    int refuse_deletions(object) except -1

cdef extern from "python/classes/methods.hpp" namespace "halfwarp::python":
    int check_self_in_methods(object) except -1


from cpython.ref cimport Py_INCREF


cdef extern from "Python.h":
    const unsigned long Py_TPFLAGS_HAVE_VECTORCALL


cdef PyObject* call_in_range(PyObject* self, PyObject* arguments, PyObject* keywords) except NULL:
    """Implement tp_call of classes whose `__call__` has an NVTX range."""
    kwargs = <dict>keywords if keywords is not NULL else {}
    result = type(<object>self).__dict__["__call__"](<object>self, *<tuple>arguments, **kwargs)
    Py_INCREF(result)
    return <PyObject*>result


cdef PyObject* subtract_in_range(PyObject* minuend, PyObject* subtrahend) except NULL:
    """Implement nb_subtract of classes whose `__sub__` has an NVTX range."""
    subtract = type(<object>minuend).__dict__.get("__sub__")
    result = NotImplemented
    if subtract is not None:
        result = subtract(<object>minuend, <object>subtrahend)
    Py_INCREF(result)
    return <PyObject*>result


cdef int add_nvtx_ranges(dict names, str module) except -1:
    nvtx = import_module("cuda.core.extension.nvtx")
    listener = nvtx.range_functions()
    if listener is None:
        return 0
    for name, each in list(names.items()):
        if name.startswith("_"):
            continue
        if isinstance(each, type) and each.__module__ == module:
            members = <dict>(<mutable_type*><PyObject*>each).tp_dict
            for key, member, call in list(nvtx.members(each)):
                members[key] = nvtx.wrap_member(member, call, f"{name}.{key}", *listener)
            if "__call__" in members:  # CPython calls the slot and does not look up the method
                (<mutable_type*><PyObject*>each).tp_call = call_in_range
                (<mutable_type*><PyObject*>each).tp_flags &= ~Py_TPFLAGS_HAVE_VECTORCALL
            if "__sub__" in members and (<mutable_type*><PyObject*>each).tp_as_number:
                (<mutable_type*><PyObject*>each).tp_as_number.nb_subtract = subtract_in_range
            PyType_Modified(<PyTypeObject*>each)
        elif nvtx.is_public_function(each):
            names[name] = nvtx.wrap_in_range(each, name, *listener)


def _complete_classes(dict names, str module):
    """Add checks that Cython omits, and NVTX ranges, to the classes of an extension. Host only."""
    for each in list(names.values()):
        if isinstance(each, type) and each.__module__ == module:
            refuse_deletions(each)
            check_self_in_methods(each)
    if os.environ.get("HALFWARP_NVTX") == "1":
        add_nvtx_ranges(names, module)


_complete_classes(globals(), __name__)
