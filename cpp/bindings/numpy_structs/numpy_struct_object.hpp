// SPDX-License-Identifier: Apache-2.0
// Objects of data types: one struct, or an array of them, in memory of their own or of others.
// Their own follows the object, so that one allocation makes both.
#pragma once

#include "bindings/arrays/extent.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

struct numpy_struct_object : storage {
  extent e;  // no dimensions: one struct
  bool is_read_only;
  bool is_column;        // a field of several structs: its numbers are arrays
  bool is_length_fixed;  // the memory stays
  bool is_recyclable;    // one small struct in memory of its own: the next may take its place
};

inline numpy_struct_object* as_numpy_struct(PyObject* object) {
  return reinterpret_cast<numpy_struct_object*>(object);
}
inline const numpy_record& numpy_record_of(PyObject* object) {
  return *class_of(Py_TYPE(object)).record->numpy;
}

// Who keeps alive the memory that an object shows.
inline PyObject* memory_owner(PyObject* self) {
  PyObject* owner = as_numpy_struct(self)->owner;
  return owner ? owner : self;
}

// Whether fields are single values: one struct, or an array of one.
inline bool is_single(const numpy_struct_object* object) {
  return !object->is_column &&
         (object->e.ndim == 0 || (object->e.ndim == 1 && object->e.shape[0] == 1));
}

// The shape of one struct of a class: an array of one where the class is an array.
extent extent_of_one(const numpy_record& record);

// New zeroed structs: one, or `n` of an array class. nullptr with an error set.
PyObject* new_numpy_struct(const library& lib, int type);
// Likewise one struct, with zeroed memory behind it up to so many bytes.
PyObject* new_numpy_struct_with_tail(const library& lib, int type, std::size_t bytes);
PyObject* new_numpy_struct_array(const library& lib, int type, Py_ssize_t n);

// Bytes of the memory for `n` structs, `least` or more, with slack behind them: the structs of
// another release of a library may be larger. 0 with MemoryError set if no memory is as large.
std::size_t memory_of(const numpy_record& record, Py_ssize_t n, std::size_t least = 0);

// What a view shows, and how.
struct numpy_struct_view {
  char* data;
  extent e;
  PyObject* owner;
  bool is_read_only = false;
  bool is_column = false;
};
PyObject* new_numpy_struct_view(const library& lib, int type, const numpy_struct_view& view);

// Whether `object` is of the class; false with TypeError set.
bool check_numpy_struct(PyObject* object, const library& lib, int type);

// Copies the structs of `source`, which have the shape `e`, with what they depend on, into memory
// that `target` shows.
int copy_numpy_structs(PyObject* target, char* data, const extent& e, PyObject* source);

// The same bytes in memory of its own, without gaps.
PyObject* packed_copy(PyObject* source);

// ValueError unless the object may be written; false when it may not.
bool check_writable(PyObject* self);

// NumPy types of data types (numpy_types.cpp). NumPy is imported when the first is asked for.
// The type of a class, made once; a new reference, or nullptr with an error set.
PyObject* numpy_type(const library& lib, int type);

// The same by its name in the module; nullptr without an error when there is none of that name.
PyObject* numpy_type_named(const library& lib, PyObject* name);

// Whether the library has any.
bool has_numpy_types(const library& lib);

// Makes all of them if NumPy is loaded: whether they are there.
bool make_numpy_types(const library& lib);

// Adds the names of those that are not made yet to a list. 0, or -1 with an error set.
int list_numpy_types(const library& lib, PyObject* names);

// Whether `data` is a one-dimensional array of a class's type; false with an error set.
bool check_numpy_array(const library& lib, int type, PyObject* data);

}  // namespace halfwarp::bindings
