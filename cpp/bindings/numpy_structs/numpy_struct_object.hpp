// SPDX-License-Identifier: Apache-2.0
// Objects of NumPy structs: one struct, or an array of structs, in owned memory or as a view. Owned
// memory follows the object in the same allocation.
#pragma once

#include "bindings/arrays/extent.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

struct numpy_struct_object : storage {
  extent e;  // no dimensions: one struct
  bool is_read_only;
  bool is_column;        // a field of several structs: numbers are read as arrays
  bool is_length_fixed;  // the memory cannot be replaced any more
  bool is_recyclable;    // one small struct that owns its memory: the next one may reuse it
};

inline numpy_struct_object* as_numpy_struct(PyObject* object) {
  return reinterpret_cast<numpy_struct_object*>(object);
}
inline const numpy_record& numpy_record_of(PyObject* object) {
  return *class_of(Py_TYPE(object)).record->numpy;
}

// Returns the object that keeps the memory of `self` alive.
inline PyObject* memory_owner(PyObject* self) {
  PyObject* owner = as_numpy_struct(self)->owner;
  return owner ? owner : self;
}

// Whether fields are single values: one struct, or an array of one.
inline bool is_single(const numpy_struct_object* object) {
  return !object->is_column &&
         (object->e.ndim == 0 || (object->e.ndim == 1 && object->e.shape[0] == 1));
}

// Returns the extent of one struct of a class; an array class has one dimension of length 1.
extent extent_of_one(const numpy_record& record);

// Create zeroed structs: one, or `n` of an array class; nullptr with an error set.
PyObject* new_numpy_struct(const library& lib, int type);
// Creates one struct with zeroed memory after it, up to `bytes` in total.
PyObject* new_numpy_struct_with_tail(const library& lib, int type, std::size_t bytes);
PyObject* new_numpy_struct_array(const library& lib, int type, Py_ssize_t n);

// Returns the size of the memory for `n` structs, at least `least` bytes, plus slack: structs of
// another library release may be larger. Returns 0 with MemoryError set if the size is too large.
std::size_t memory_of(const numpy_record& record, Py_ssize_t n, std::size_t least = 0);

// Parameters of a view.
struct numpy_struct_view {
  char* data;
  extent e;
  PyObject* owner;
  bool is_read_only = false;
  bool is_column = false;
};
PyObject* new_numpy_struct_view(const library& lib, int type, const numpy_struct_view& view);

// Checks that `object` is an instance of the class; false with TypeError set.
bool check_numpy_struct(PyObject* object, const library& lib, int type);

// Copies the structs of `source`, and the references that their fields depend on, to `data` with
// shape `e`, which is memory of `target`.
int copy_numpy_structs(PyObject* target, char* data, const extent& e, PyObject* source);

// Returns a contiguous copy that owns its memory.
PyObject* packed_copy(PyObject* source);

// Checks that an object is writable; false with ValueError set.
bool check_writable(PyObject* self);

// NumPy types (numpy_types.cpp); the first use imports NumPy.
// Returns the type of a class, created once; a new reference, nullptr with an error set.
PyObject* numpy_type(const library& lib, int type);

// Returns a type by its name in the module; nullptr without an error if there is none.
PyObject* numpy_type_named(const library& lib, PyObject* name);

// Whether the library has NumPy types.
bool has_numpy_types(const library& lib);

// Creates all types if NumPy is loaded. Returns whether they exist.
bool make_numpy_types(const library& lib);

// Adds the names of the types that are not created yet to a list. Returns 0, or -1 with an error
// set.
int list_numpy_types(const library& lib, PyObject* names);

// Checks that `data` is a one-dimensional array of a class's type; false with an error set.
bool check_numpy_array(const library& lib, int type, PyObject* data);

}  // namespace halfwarp::bindings
