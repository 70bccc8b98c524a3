// SPDX-License-Identifier: Apache-2.0
// Makes a module that cimports `cuda.core.capi` check at import that the extension has the
// interface version that the module was compiled for. For C and C++. Included before Cython's code,
// whose module function ends with the call that is redirected here.
#pragma once

#include <cuda.h>
// A missing file ends the compilation: the errors after this one would hide it.
#if defined(__cplusplus) && __cplusplus < 202002L
#error "modules that cimport cuda.core need C++20: compile with -std=c++20"
#include "the option -std=c++20"
#elif CUDA_VERSION < 13050
#error "modules that cimport cuda.core need headers of CUDA 13.5: nvidia-cuda-runtime==13.5.*"
#include "headers of CUDA 13.5 or newer"
#endif

#include <Python.h>

#include "python/foreign/abi.hpp"

#if defined(__GNUC__)
__attribute__((unused))
#endif
static PyObject*
halfwarp_checked_module(struct PyModuleDef* definition) {
  PyObject* const core = PyImport_ImportModule("cuda.core._core");
  if (core == NULL) return NULL;
  PyObject* const version_object = PyObject_GetAttrString(core, "_abi_number");
  Py_DECREF(core);
  const long version = version_object != NULL ? PyLong_AsLong(version_object) : 0;
  Py_XDECREF(version_object);
  PyErr_Clear();
  if (version == HALFWARP_CORE_ABI) return PyModuleDef_Init(definition);
  PyErr_Format(PyExc_ImportError,
               "%s was compiled for version %d of the C interface of cuda.core, but the installed "
               "cuda.core has version %ld: recompile it",
               definition->m_name, HALFWARP_CORE_ABI, version);
  return NULL;
}

#define PyModuleDef_Init halfwarp_checked_module
