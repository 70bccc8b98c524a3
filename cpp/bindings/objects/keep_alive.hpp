// SPDX-License-Identifier: Apache-2.0
// Functions shared by both kinds of struct classes: the owner of the memory keeps the referents of
// address fields alive. Also listed names and pickling.
#pragma once

#include "bindings/objects/class_type.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {

// Returns the end of the chain of owners: the object that owns the memory of `self`.
storage* root_of(storage* self);

// Retains `object` as the referent of the field at `data`; nullptr removes the referent. Returns 0,
// or -1 with an error set.
int retain_for_field(storage* self, const void* data, PyObject* object);
// Returns the referent of the field at `data`: a new reference, nullptr if there is none.
PyObject* retained_for_field(storage* self, const void* data);

// Prevents other threads from changing the address fields in the memory of `self`, so that an
// address and its referent match.
#ifdef Py_GIL_DISABLED
class address_lock : critical_section {
 public:
  explicit address_lock(storage* self)
      : critical_section{reinterpret_cast<PyObject*>(root_of(self))} {}
};
#else
class address_lock {
 public:
  explicit address_lock(storage*) {}
};
#endif

// Sets the address field at `data`, and its referent to `owner` (nullptr: none); steals that
// reference. Returns 0, or -1 with an error set and the field unchanged.
int point_field(PyObject* self, void* data, std::uint64_t address, PyObject* owner);

// Copies `size` bytes from one struct to another, and the referents of their fields. Returns 0, or
// -1 with an error set and the target unchanged.
int copy_struct(storage* target, void* target_data, storage* source, const void* source_data,
                std::size_t size);

// Copies the referents of the fields in `size` bytes of another struct.
int copy_references(storage* target, const void* target_data, storage* source,
                    const void* source_data, std::size_t size);

// Call before freeing a view of foreign memory. Nulls the fields that point at arrays owned by the
// view.
void clear_owned_arrays(storage* root);

// Memory that structs view, an object without a class: zeroed, or memory that `owner` keeps alive.
struct memory_block : storage {
  std::size_t size;
};
PyObject* new_memory_block(std::size_t bytes);
PyObject* new_foreign_block(char* data, PyObject* owner);
bool is_memory_block(PyObject* object);
inline memory_block* as_block(PyObject* object) { return reinterpret_cast<memory_block*>(object); }

// Implements `__dir__` of structs. Omits padding and the methods that the reference lacks: programs
// treat the listed names as fields.
PyObject* list_attributes(PyObject* self, PyObject*);

// Documentation that marks the property of padding.
extern const char padding_doc[];

// Implements `__reduce__` of a struct with these contents, which are stolen.
PyObject* pickled_struct(PyObject* self, PyObject* contents);

// Creates a struct of a class from its bytes; pickle calls it.
PyObject* struct_from_bytes(PyObject* type, PyObject* contents);

// Joins the texts of a list with a separator; steals the list, which may be null.
PyObject* joined(const char* separator, PyObject* texts);

// Appends `item`, which it steals, to a list; false with an error set, or if it is null.
bool append(PyObject* list, PyObject* item);

}  // namespace halfwarp::bindings
