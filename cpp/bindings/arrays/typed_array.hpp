// SPDX-License-Identifier: Apache-2.0
// Arrays of C numbers without NumPy: results of calls and columns of struct arrays. Also looks up
// functions of NumPy.
#pragma once

#include "bindings/arrays/extent.hpp"
#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Array of numbers of one kind, in owned memory or in memory of `owner`.
struct typed_array {
  PyObject_HEAD char* data;
  PyObject* owner;  // null: this object owns the memory
  extent e;
  kind element;
  bool is_read_only;
};

// Creates a zeroed array that owns its memory; nullptr with an error set.
PyObject* new_typed_array(kind element, Py_ssize_t n);

// Creates a view of elements in memory of `owner`.
PyObject* new_typed_view(kind element, char* data, const extent& e, PyObject* owner,
                         bool is_read_only);

inline typed_array* as_typed_array(PyObject* object) {
  return reinterpret_cast<typed_array*>(object);
}

bool is_typed_array(PyObject* object);

// Returns the format letter of `struct` and of the buffer protocol.
const char* number_format(kind element);

// Stores one number in all elements, or a (nested) sequence of the same shape element by element.
int assign_numbers(kind element, const extent& e, char* data, PyObject* value);
// Returns the elements as numbers in (nested) lists.
PyObject* list_of_numbers(kind element, const extent& e, char* data);

// Returns the class of arrays; nullptr with an error set.
PyTypeObject* typed_array_type();

// Imports NumPy and returns a function or class of it: a new reference, nullptr with an error
// set.
PyObject* from_numpy(const char* name);

// Returns the NumPy dtype of a format letter: a new reference, nullptr with an error set.
PyObject* numpy_type_of(const char* format);

}  // namespace halfwarp::bindings
