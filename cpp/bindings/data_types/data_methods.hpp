// SPDX-License-Identifier: Apache-2.0
// Methods of data types: comparison, copies, pickling, what they print.
#pragma once

#include "bindings/data_types/data_object.hpp"

namespace halfwarp::bindings {

PyObject* represent_data(PyObject* self);
PyObject* compare_data(PyObject* self, PyObject* other, int operation);

inline constexpr int data_method_count = 6;
extern PyMethodDef data_methods[data_method_count];

// Structs of a class with the given contents, one or an array: what pickle calls.
PyObject* data_from_bytes(const library& lib, int type, const Py_buffer& contents);

}  // namespace halfwarp::bindings
