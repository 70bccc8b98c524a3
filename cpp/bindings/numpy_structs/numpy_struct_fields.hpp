// SPDX-License-Identifier: Apache-2.0
// What classes of data types have: fields, methods, and ways to be made of what exists already.
#pragma once

#include "bindings/numbers/numbers.hpp"
#include "bindings/numpy_structs/numpy_struct_object.hpp"

namespace halfwarp::bindings {

inline char* data_of(const numpy_field& f, PyObject* self) {
  return as_numpy_struct(self)->data + f.offset;
}

// As properties call them: `closure` is a bound_field. The usual forms have getters of their own.
getter getter_of(const numpy_record& record, const numpy_field& f);
setter setter_of(const numpy_field& f);

// The public field of a name, nullptr when there is none.
const numpy_field* find_numpy_field(const numpy_record& record, PyObject* name);

PyObject* read_numpy_field(const library& lib, const numpy_field& f, PyObject* self);
int write_numpy_field(const library& lib, const numpy_field& f, PyObject* self, PyObject* value);

// A number or a text of the struct at an address.
PyObject* text_at(const numpy_field& f, const char* place);
inline PyObject* read_plain_field(const numpy_field& f, const void* data) {
  const char* place = static_cast<const char*>(data) + f.offset;
  return f.shape == form::text ? text_at(f, place) : read_number(f.element, place);
}

// Lists by address (numpy_struct_fields.cpp): an array of numbers or structs that is kept.
PyObject* read_number_list(const library& lib, const numpy_field& f, PyObject* self);
int write_number_list(const library& lib, const numpy_field& f, PyObject* self, PyObject* value);
PyObject* read_structure_list(const library& lib, const numpy_field& f, PyObject* self);
int write_structure_list(const library& lib, const numpy_field& f, PyObject* self, PyObject* value);

// Makes a list field point to a new array of `n` zeroed elements, and counts them: what a library
// then fills. 0, or -1 with an error set.
int allocate_list(const library& lib, const numpy_field& f, PyObject* self, Py_ssize_t n);

// The number of elements that the counter of a field says; all of them without one.
Py_ssize_t counted(const numpy_field& f, PyObject* self);
int set_counter(const numpy_field& f, PyObject* self, Py_ssize_t n);

PyObject* represent_numpy_struct(PyObject* self);
PyObject* compare_numpy_structs(PyObject* self, PyObject* other, int operation);

inline constexpr int numpy_struct_method_count = 6;
extern PyMethodDef numpy_struct_methods[numpy_struct_method_count];

// See class_family::from_bytes.
PyObject* numpy_struct_with_contents(PyObject* called, class_type& type, const Py_buffer& contents);

// Adds from_ptr, from_buffer and from_data to the methods of a class: `methods` has room for
// `source_method_count` entries, and stays as long as the class.
inline constexpr int source_method_count = 3;
void add_source_methods(const numpy_record& record, PyMethodDef* methods);

}  // namespace halfwarp::bindings
