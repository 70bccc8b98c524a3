// SPDX-License-Identifier: Apache-2.0
// Array fields: inside the struct, or owned memory that the struct points to.
#pragma once

#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {

PyObject* read_array(const library& lib, const field& f, PyObject* self, char* where);
int write_array(const library& lib, const field& f, PyObject* self, char* where, PyObject* value);

// char[n]: up to NUL, or all of it; written from bytes or a sequence of integers.
PyObject* read_text(const library& lib, const field& f, PyObject* self, char* where);
PyObject* read_bytes(const library& lib, const field& f, PyObject* self, char* where);
int write_bytes(const library& lib, const field& f, PyObject* self, char* where, PyObject* value);

// A pointer to an array that a list was copied into. The C count beside it is the user's to set.
PyObject* read_pointer_list(const library& lib, const field& f, PyObject* self, char* where);
int write_pointer_list(const library& lib, const field& f, PyObject* self, char* where,
                       PyObject* value);

}  // namespace halfwarp::bindings
