// SPDX-License-Identifier: Apache-2.0
// Getters of properties in C: a Python function as getter costs as much as the query itself.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace halfwarp::bindings {

// Returns a function of one object, or nullptr with an error set. `parts` is one of these tuples:
// - (source, name, docstring): the function gets the attribute `source`, and then its attribute
// `name`.
// - (source, name, functions, module, type, target, docstring): the function calls the function
//   `name` of a module with the attribute `source`. `functions` is the dictionary of `module`,
//   which may get the function later. With a class as `type`, the result is an object of it that
//   has the value in the attribute `target`. Without a name, the value is the attribute.
PyObject* property_getter(PyObject* parts);

}  // namespace halfwarp::bindings
