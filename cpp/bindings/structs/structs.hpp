// SPDX-License-Identifier: Apache-2.0
// Struct classes: fields by kind, their properties, methods, and documentation.
#pragma once

#include "bindings/numbers/numbers.hpp"
#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {

// Calls `visit` for all fields, inherited ones first, until it returns false.
template <class V>
bool for_each_field(const library& lib, const class_record& record, V visit) {
  if (record.base >= 0 && !for_each_field(lib, lib.classes[std::size_t(record.base)], visit))
    return false;
  for (const field& f : lib.fields_of(record))
    if (!visit(f)) return false;
  return true;
}

// Returns a new reference; nullptr with an error set.
PyObject* read_field(const library& lib, const field& f, PyObject* self);
// Returns 0, or -1 with an error set.
int write_field(const library& lib, const field& f, PyObject* self, PyObject* value);
// Writes a field that may be joint: the caller keeps the lists and their count consistent.
int store_field(const library& lib, const field& f, PyObject* self, PyObject* value);
const char* joint_method_of(PyObject* self);

PyObject* read_array(const library& lib, const field& f, PyObject* self, char* data);
int write_array(const library& lib, const field& f, PyObject* self, char* data, PyObject* value);

// Accessors of char[n]: read_text stops at NUL, read_bytes reads all; written from bytes or a
// sequence of integers.
PyObject* read_text(const library& lib, const field& f, PyObject* self, char* data);
PyObject* read_bytes(const library& lib, const field& f, PyObject* self, char* data);
int write_bytes(const library& lib, const field& f, PyObject* self, char* data, PyObject* value);

// Accessors of a pointer to an array with copies of the elements of a list. The user sets the C
// count field.
PyObject* read_pointer_list(const library& lib, const field& f, PyObject* self, char* data);
int write_pointer_list(const library& lib, const field& f, PyObject* self, char* data,
                       PyObject* value);

// Adds a property per field to a class that is not ready yet.
bool add_field_properties(class_type& type);

// Replaces the type of these properties, in a ready class, with one that reads fields directly.
bool replace_property_types(class_type& type);

extern PyMethodDef struct_methods[];

// Returns struct_methods, plus a method that sets all lists with a common count; nullptr with an
// error set. The table is never freed, like the type.
PyMethodDef* methods_of(const library& lib, const class_record& record);

// Returns one `name : value` line per field; nested structs are indented.
PyObject* represent_struct(PyObject* self);

// Implements class_family::from_bytes.
PyObject* struct_with_contents(PyObject* called, class_type& type, const Py_buffer& contents);

// Adds `__doc__` and `__signature__` to a ready class. Both are computed from its fields on each
// read, so unused classes store nothing.
bool add_struct_notes(class_type& type);

}  // namespace halfwarp::bindings
