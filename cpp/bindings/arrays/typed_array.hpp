// SPDX-License-Identifier: Apache-2.0
// Arrays of C numbers without NumPy: results of calls, columns of struct arrays; and what is asked
// of NumPy.
#pragma once

#include "bindings/arrays/extent.hpp"
#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Elements of one kind in memory that it owns, or that `owner` keeps alive.
struct typed_array {
  PyObject_HEAD char* data;
  PyObject* owner;  // null: the memory is this object's own
  extent e;
  kind element;
  bool is_read_only;
};

// An array of zeros with memory of its own; nullptr with an error set.
PyObject* new_typed_array(kind element, Py_ssize_t n);

// A view of elements that belong to `owner`.
PyObject* new_typed_view(kind element, char* data, const extent& e, PyObject* owner,
                         bool is_read_only);

inline typed_array* as_typed_array(PyObject* object) {
  return reinterpret_cast<typed_array*>(object);
}

bool is_typed_array(PyObject* object);

// The letter of `struct` and of the buffer protocol.
const char* number_format(kind element);

// Stores one number everywhere, or a sequence (nested like the shape) element by element.
int assign_numbers(kind element, const extent& e, char* data, PyObject* value);
// The elements as numbers in (nested) lists.
PyObject* list_of_numbers(kind element, const extent& e, char* data);

// The class, for the module that shows it.
PyTypeObject* typed_array_type();

// A function or class of NumPy, which is imported; a new reference, or nullptr with an error set.
PyObject* from_numpy(const char* name);

// A function of NumPy if that is loaded, which this does not do; a new reference, or nullptr
// without an error.
PyObject* loaded_numpy_function(const char* name);

// The type of numbers by their letter in `struct`; a new reference, or nullptr with an error set.
PyObject* numpy_type_of(const char* format);

}  // namespace halfwarp::bindings
