// SPDX-License-Identifier: Apache-2.0
// A module that cimports `cuda.core.capi` asks, as it is imported, whether the extension has the
// interface that the module was compiled for. C and C++; included before the code of Cython, whose
// last act in the function that the interpreter calls is what is redirected here.
#pragma once

#include <Python.h>

#include "python/foreign/abi.hpp"

#if defined(__GNUC__)
__attribute__((unused))
#endif
static PyObject*
halfwarp_checked_module(struct PyModuleDef* made) {
  PyObject* const core = PyImport_ImportModule("cuda.core._core");
  if (core == NULL) return NULL;
  PyObject* const number = PyObject_GetAttrString(core, "_abi_number");
  Py_DECREF(core);
  const long found = number != NULL ? PyLong_AsLong(number) : 0;
  Py_XDECREF(number);
  PyErr_Clear();
  if (found == HALFWARP_CORE_ABI) return PyModuleDef_Init(made);
  PyErr_Format(
      PyExc_ImportError,
      "%s was compiled for number %d of the C interface of cuda.core, and the cuda.core that "
      "is installed has number %ld: compile it again, against the one that is installed",
      made->m_name, HALFWARP_CORE_ABI, found);
  return NULL;
}

#define PyModuleDef_Init halfwarp_checked_module
