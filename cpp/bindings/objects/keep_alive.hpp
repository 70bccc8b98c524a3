// SPDX-License-Identifier: Apache-2.0
// What both kinds of struct classes share: what address fields depend on is kept alive by whoever
// owns the memory; what they list, and how they are pickled.
#pragma once

#include "bindings/objects/class_type.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {

// The object whose storage holds the memory that `self` shows: the end of the chain of owners.
storage* root_of(storage* self);

// Keeps `object` (nullptr: nothing any more) for the field at `where`; 0, or -1 with an error set.
int retain_for_field(storage* self, const void* data, PyObject* object);
// What is kept for the field at `where`: a new reference, nullptr when nothing is.
PyObject* retained_for_field(storage* self, const void* data);

// While it lives, no other thread changes the address fields of the memory that `self` shows: an
// address goes with what is kept for it.
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

// Makes the address field at `where` point at what `owner` keeps alive (nullptr: nothing has to);
// steals that reference. 0, or -1 with an error set and the field as it was.
int point_field(PyObject* self, void* data, std::uint64_t address, PyObject* owner);

// Copies `size` bytes from one struct to another, with what they depend on; 0, or -1 with an error
// set and the target as it was.
int copy_struct(storage* target, void* target_data, storage* source, const void* source_data,
                std::size_t size);

// After `size` bytes were copied from one struct to another: what they depend on is kept there too.
int copy_references(storage* target, const void* target_data, storage* source,
                    const void* source_data, std::size_t size);

// Before a view of foreign memory goes that keeps something: the arrays that it made go with it, so
// fields that still point there become null.
void clear_owned_arrays(storage* root);

// Plain memory that structs view, an object of no class: zeroed, or memory that `owner` keeps
// alive.
struct memory_block : storage {
  std::size_t size;
};
PyObject* new_memory_block(std::size_t bytes);
PyObject* new_foreign_block(char* data, PyObject* owner);
bool is_memory_block(PyObject* object);
inline memory_block* as_block(PyObject* object) { return reinterpret_cast<memory_block*>(object); }

// `__dir__` of structs: leaves out padding and the methods that the reference does not have, since
// programs take what is listed for the fields.
PyObject* list_attributes(PyObject* self, PyObject*);

// The documentation that marks the property of padding.
extern const char padding_doc[];

// `__reduce__` of a struct with these contents, which are stolen.
PyObject* pickled_struct(PyObject* self, PyObject* contents);

// What `pickle` calls: a struct of that class with those bytes.
PyObject* struct_from_bytes(PyObject* type, PyObject* contents);

// The texts of a list with a separator between them; steals the list, which may be null.
PyObject* joined(const char* separator, PyObject* texts);

// Adds what it steals to a list; false with an error set, or when it is null.
bool append(PyObject* list, PyObject* item);

}  // namespace halfwarp::bindings
