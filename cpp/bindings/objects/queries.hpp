// SPDX-License-Identifier: Apache-2.0
// Queries: callables in C for members that ask a library. A Python function costs as much as the
// question itself.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace halfwarp::bindings {

// Returns a callable of one object, or nullptr with an error set. A call with other arguments
// reaches the Python function `declaration`, whose documentation and signature the query shows.
// `parts` is one of these tuples:
// - (declaration, arguments, name): the attribute `name` of the only argument.
// - (declaration, arguments, name, module, type, target): the result of the function `name` of a
//   module, which each call looks up: the program may replace it. With a class as `type`, the
//   result is an object of it that has the value in the attribute `target`, and there is one
//   argument. Without a name, the value is the first argument.
// A str in the tuple `arguments` is an attribute of the object, anything else a constant.
PyObject* new_query(PyObject* parts);

// Returns the property `name` of a class that makes the query, nullptr with an error set. The
// property may live as long as the process, so the query does.
PyObject* query_property(PyObject* query, PyObject* cls, PyObject* name);

}  // namespace halfwarp::bindings
