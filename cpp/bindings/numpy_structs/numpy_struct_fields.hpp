// SPDX-License-Identifier: Apache-2.0
// Fields and methods of NumPy struct classes, and class methods that create objects from existing
// memory.
#pragma once

#include "bindings/numbers/numbers.hpp"
#include "bindings/numpy_structs/numpy_struct_object.hpp"

namespace halfwarp::bindings {

inline char* data_of(const numpy_field& f, PyObject* self) {
  return as_numpy_struct(self)->data + f.offset;
}

// Return the accessors of a property; `closure` is a bound_field. Common forms have specialized
// ones.
getter getter_of(const numpy_record& record, const numpy_field& f);
setter setter_of(const numpy_field& f);

// Returns the public field with a name, nullptr if there is none.
const numpy_field* find_numpy_field(const numpy_record& record, PyObject* name);

PyObject* read_numpy_field(const library& lib, const numpy_field& f, PyObject* self);
int write_numpy_field(const library& lib, const numpy_field& f, PyObject* self, PyObject* value);

// Reads a number or a text from memory of a struct.
PyObject* text_at(const numpy_field& f, const char* place);
inline PyObject* read_plain_field(const numpy_field& f, const void* data) {
  const char* place = static_cast<const char*>(data) + f.offset;
  return f.shape == form::text ? text_at(f, place) : read_number(f.element, place);
}

// Lists by address: an array of numbers or structs that the field points to.
PyObject* read_number_list(const library& lib, const numpy_field& f, PyObject* self);
int write_number_list(const library& lib, const numpy_field& f, PyObject* self, PyObject* value);
PyObject* read_structure_list(const library& lib, const numpy_field& f, PyObject* self);
int write_structure_list(const library& lib, const numpy_field& f, PyObject* self, PyObject* value);

// Allocates an array of `n` zeroed elements for the library to fill, and sets a list field and its
// count. Returns 0, or -1 with an error set.
int allocate_list(const library& lib, const numpy_field& f, PyObject* self, Py_ssize_t n);

// Returns the value of the counter of a field; without a counter, the number of all elements.
Py_ssize_t counted(const numpy_field& f, PyObject* self);
int set_counter(const numpy_field& f, PyObject* self, Py_ssize_t n);

PyObject* represent_numpy_struct(PyObject* self);
PyObject* compare_numpy_structs(PyObject* self, PyObject* other, int operation);

inline constexpr int numpy_struct_method_count = 6;
extern PyMethodDef numpy_struct_methods[numpy_struct_method_count];

// Implements class_family::from_bytes.
PyObject* numpy_struct_with_contents(PyObject* called, class_type& type, const Py_buffer& contents);

// Adds from_ptr, from_buffer and from_data to the methods of a class. `methods` must have
// `source_method_count` entries and live as long as the class.
inline constexpr int source_method_count = 3;
void add_source_methods(const numpy_record& record, PyMethodDef* methods);

}  // namespace halfwarp::bindings
