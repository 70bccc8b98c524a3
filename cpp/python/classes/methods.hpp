// SPDX-License-Identifier: Apache-2.0
// Methods of extension classes that are called through their class.
#pragma once

#include <Python.h>

namespace halfwarp::python {

// Lets `Class.method(something else)` raise TypeError, as for every class of Python's own; a method
// that Cython makes with `binding` takes any object for its `self` and reads beyond its end. Does
// nothing for a class that has it already, or that is written in Python, nor for methods of any
// number of arguments.
int check_self_in_methods(PyObject* type) noexcept;

}  // namespace halfwarp::python
