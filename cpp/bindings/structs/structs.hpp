// SPDX-License-Identifier: Apache-2.0
// Struct classes: fields by kind, their properties, methods, and what the class says of itself.
#pragma once

#include "bindings/numbers/numbers.hpp"
#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {

// Calls `visit` for all fields, those of bases first, until it answers false.
template <class V>
bool for_each_field(const library& lib, const class_record& record, V visit) {
  if (record.base >= 0 && !for_each_field(lib, lib.classes[std::size_t(record.base)], visit))
    return false;
  for (const field& f : lib.fields_of(record))
    if (!visit(f)) return false;
  return true;
}

// A new reference; nullptr with an error set.
PyObject* read_field(const library& lib, const field& f, PyObject* self);
// 0, or -1 with an error set.
int write_field(const library& lib, const field& f, PyObject* self, PyObject* value);

PyObject* read_array(const library& lib, const field& f, PyObject* self, char* data);
int write_array(const library& lib, const field& f, PyObject* self, char* data, PyObject* value);

// char[n]: up to NUL, or all of it; written from bytes or a sequence of integers.
PyObject* read_text(const library& lib, const field& f, PyObject* self, char* data);
PyObject* read_bytes(const library& lib, const field& f, PyObject* self, char* data);
int write_bytes(const library& lib, const field& f, PyObject* self, char* data, PyObject* value);

// A pointer to an array that a list was copied into. The C count beside it is the user's to set.
PyObject* read_pointer_list(const library& lib, const field& f, PyObject* self, char* data);
int write_pointer_list(const library& lib, const field& f, PyObject* self, char* data,
                       PyObject* value);

// Before the class is readied: a property for each field, bound to its record.
bool add_field_properties(class_type& type);

// After it: lets these properties reach their fields directly.
bool replace_property_types(class_type& type);

extern PyMethodDef struct_methods[];

// Those, and one that sets the lists of a record that has any with a count in common; nullptr with
// an error set on failure. Lives as long as the type: for ever.
PyMethodDef* methods_of(const library& lib, const class_record& record);

// One `name : value` line per field; nested structs are indented.
PyObject* represent_struct(PyObject* self);

// See class_family::from_bytes.
PyObject* struct_with_contents(PyObject* called, class_type& type, const Py_buffer& contents);

// Gives a class that was just readied `__doc__` and `__signature__`, both made from its fields each
// time they are read: nothing is stored for the classes that nobody asks.
bool add_struct_notes(class_type& type);

}  // namespace halfwarp::bindings
