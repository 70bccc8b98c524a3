// SPDX-License-Identifier: Apache-2.0
// The methods that all struct classes share.
#pragma once

#include "bindings/types/class_type.hpp"

namespace halfwarp::bindings {

extern PyMethodDef struct_methods[];

// Those, and one that sets the lists of a record that has any with a count in common; nullptr with
// an error set on failure. Lives as long as the type: for ever.
PyMethodDef* methods_of(const library& lib, const class_record& record);

// One `name : value` line per field; nested structs are indented.
PyObject* represent_struct(PyObject* self);

// `__dir__` of both kinds of structs.
PyObject* list_attributes(PyObject* self, PyObject*);

// What `pickle` calls: a struct of that class with those bytes.
PyObject* struct_from_bytes(PyObject* type, PyObject* contents);

}  // namespace halfwarp::bindings
