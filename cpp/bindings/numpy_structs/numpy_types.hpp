// SPDX-License-Identifier: Apache-2.0
// The NumPy types of data types. NumPy is imported when the first of them is asked for.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// The type of a class, made once; a new reference, or nullptr with an error set.
PyObject* numpy_type(const library& lib, int type);

// The same by its name in the module; nullptr without an error when there is none of that name.
PyObject* numpy_type_named(const library& lib, PyObject* name);

// Whether the library has any.
bool has_numpy_types(const library& lib);

// Adds the names of those that are not made yet to a list. 0, or -1 with an error set.
int list_numpy_types(const library& lib, PyObject* names);

// Whether `data` is a one-dimensional array of a class's type; false with an error set.
bool check_numpy_array(const library& lib, int type, PyObject* data);

}  // namespace halfwarp::bindings
