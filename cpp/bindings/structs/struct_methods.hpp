// SPDX-License-Identifier: Apache-2.0
// The methods that all struct classes share.
#pragma once

#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {

extern PyMethodDef struct_methods[];

// Those, and one that sets the lists of a record that has any with a count in common; nullptr with
// an error set on failure. Lives as long as the type: for ever.
PyMethodDef* methods_of(const library& lib, const class_record& record);

// One `name : value` line per field; nested structs are indented.
PyObject* represent_struct(PyObject* self);

// See class_family::from_bytes.
PyObject* struct_with_contents(PyObject* called, class_type& type, const Py_buffer& contents);

}  // namespace halfwarp::bindings
