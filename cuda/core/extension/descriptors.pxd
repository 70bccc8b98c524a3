# SPDX-License-Identifier: Apache-2.0
# Declarations for descriptors that are created from a table at import.

from cpython.object cimport PyObject, PyTypeObject


cdef extern from "Python.h":
    ctypedef object (*getter)(PyObject*, void*)
    ctypedef int (*setter)(PyObject*, PyObject*, void*) except -1
    ctypedef struct PyGetSetDef:
        const char* name
        getter get
        setter set
        const char* doc
        void* closure
    object PyDescr_NewGetSet(PyTypeObject*, PyGetSetDef*)
    void PyType_Modified(PyTypeObject*)
    ctypedef void* vectorcallfunc
    Py_ssize_t PyVectorcall_NARGS(size_t)
    ctypedef void* newfunc
    ctypedef struct number_slots "PyNumberMethods":
        PyObject* (*nb_subtract)(PyObject*, PyObject*) except NULL
    # Cython's declaration of PyTypeObject lacks these members.
    ctypedef struct mapping_slots "PyMappingMethods":
        PyObject* (*mp_subscript)(PyObject*, PyObject*) except NULL
        int (*mp_ass_subscript)(PyObject*, PyObject*, PyObject*) except -1
    ctypedef struct mutable_type "PyTypeObject":
        PyObject* tp_dict
        mapping_slots* tp_as_mapping
        number_slots* tp_as_number
        PyObject* (*tp_call)(PyObject*, PyObject*, PyObject*) except NULL
        unsigned long tp_flags
        vectorcallfunc tp_vectorcall
        newfunc tp_new
