// SPDX-License-Identifier: Apache-2.0
// Checks `self` in methods of extension classes.
#pragma once

#include <Python.h>

namespace halfwarp::python {

// Makes `Class.method(other_object)` raise TypeError, as for CPython's own classes. A Cython method
// with `binding` accepts any object as `self` and reads beyond its end. Skips classes that are
// already checked or written in Python, and methods with a variable number of arguments.
int check_self_in_methods(PyObject* type) noexcept;

}  // namespace halfwarp::python
