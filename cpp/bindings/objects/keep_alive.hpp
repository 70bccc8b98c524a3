// SPDX-License-Identifier: Apache-2.0
// What the address fields of a struct depend on is kept alive by whoever owns the struct's memory.
#pragma once

#include "bindings/objects/class_type.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {

// The object whose storage holds the memory that `self` shows: the end of the chain of owners.
struct_object* root_of(struct_object* self);

// Keeps `object` (nullptr: nothing any more) for the field at `where`; 0, or -1 with an error set.
int keep_for_field(struct_object* self, const void* where, PyObject* object);
// What is kept for the field at `where`: a new reference, nullptr when nothing is.
PyObject* kept_for_field(struct_object* self, const void* where);

// While it lives, no other thread changes the address fields of the memory that `self` shows: an
// address goes with what is kept for it.
#ifdef Py_GIL_DISABLED
class address_lock : critical_section {
 public:
  explicit address_lock(struct_object* self)
      : critical_section{reinterpret_cast<PyObject*>(root_of(self))} {}
};
#else
class address_lock {
 public:
  explicit address_lock(struct_object*) {}
};
#endif

// Makes the address field at `where` point at what `keeper` keeps alive (nullptr: nothing has to);
// steals the keeper. 0, or -1 with an error set and the field as it was.
int point_field(PyObject* self, void* where, std::uint64_t address, PyObject* keeper);

// Copies `size` bytes from one struct to another, with what they depend on; 0, or -1 with an error
// set and the target as it was.
int copy_struct(struct_object* target, void* target_where, struct_object* source,
                const void* source_where, std::size_t size);

// After `size` bytes were copied from one struct to another: what they depend on is kept there too.
int copy_kept(struct_object* target, const void* target_where, struct_object* source,
              const void* source_where, std::size_t size);

// Before a view of foreign memory goes that keeps something: the arrays that it made go with it, so
// fields that still point there become null.
void clear_kept_arrays(struct_object* root);

// A struct object of no class: plain memory that others view. Zeroed.
PyObject* new_memory_block(std::size_t bytes);

// The same for memory that `owner` keeps alive.
PyObject* new_foreign_block(void* where, PyObject* owner);
bool is_memory_block(PyObject* object);
inline void* block_memory(PyObject* block) { return as_struct(block)->where; }
std::size_t block_size(PyObject* block);

}  // namespace halfwarp::bindings
