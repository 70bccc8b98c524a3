// SPDX-License-Identifier: Apache-2.0
// What is asked of NumPy.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace halfwarp::bindings {

// A function or class of NumPy, which is imported; a new reference, or nullptr with an error set.
PyObject* from_numpy(const char* name);

// A function of NumPy if that is loaded, which this does not do; a new reference, or nullptr
// without an error.
PyObject* loaded_numpy_function(const char* name);

// The type of numbers by their letter in `struct`; a new reference, or nullptr with an error set.
PyObject* numpy_type_of(const char* format);

}  // namespace halfwarp::bindings
