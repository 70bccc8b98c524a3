// SPDX-License-Identifier: Apache-2.0
// Methods of data types: comparison, copies, pickling, what they print.
#pragma once

#include "bindings/numpy_structs/data_object.hpp"

namespace halfwarp::bindings {

PyObject* represent_data(PyObject* self);
PyObject* compare_data(PyObject* self, PyObject* other, int operation);

inline constexpr int data_method_count = 6;
extern PyMethodDef data_methods[data_method_count];

// See class_family::from_bytes.
PyObject* data_with_contents(PyObject* called, class_type& type, const Py_buffer& contents);

}  // namespace halfwarp::bindings
