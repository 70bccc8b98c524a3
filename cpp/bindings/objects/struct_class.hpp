// SPDX-License-Identifier: Apache-2.0
// What both kinds of struct classes share: what they list, and how they are pickled.
#pragma once

#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {

// `__dir__` of structs: leaves out padding and the methods that the reference does not have, since
// programs take what is listed for the fields.
PyObject* list_attributes(PyObject* self, PyObject*);

// The documentation that marks the property of padding.
extern const char padding_doc[];

// `__reduce__` of a struct with these contents, which are stolen.
PyObject* pickled_struct(PyObject* self, PyObject* contents);

// What `pickle` calls: a struct of that class with those bytes.
PyObject* struct_from_bytes(PyObject* type, PyObject* contents);

// The texts of a list with a separator between them; steals the list, which may be null.
PyObject* joined(const char* separator, PyObject* texts);

// Adds what it steals to a list; false with an error set, or when it is null.
bool append(PyObject* list, PyObject* item);

}  // namespace halfwarp::bindings
