// SPDX-License-Identifier: Apache-2.0
// Converts handle and struct objects to C words: one type comparison, then a load.
#pragma once

#include "bindings/numbers/numbers.hpp"
#include "bindings/objects/class_type.hpp"

namespace halfwarp::bindings {

bool handle_slow(PyObject* object, const library& lib, int type, word& out,
                 bool none_is_null = true);
bool structure_slow(PyObject* object, const library& lib, int type, bool none_is_null, word& out);
// Converts a handle to the address of its value: an instance, an int (an address) or None.
bool handle_pointer_argument(PyObject* object, const library& lib, int type, word& out);

// Returns the integer kind that is accepted for a handle.
inline kind integer_kind_of(const class_record& record) {
  return record.size == 8 ? kind::u64 : record.is_signed ? kind::i32 : kind::u32;
}

// Loads the value of a handle of `bytes` bytes.
inline word load_handle(PyObject* object, int bytes) {
  void* data = as_handle(object)->data;
  return bytes == 4 ? word(*static_cast<std::uint32_t*>(data)) : *static_cast<word*>(data);
}

inline bool handle64_argument(PyObject* object, const library& lib, int type, word& out) {
  if (is_exactly(object, lib, type)) [[likely]] {
    out = *static_cast<word*>(as_handle(object)->data);
    return true;
  }
  return handle_slow(object, lib, type, out);
}

inline bool handle32_argument(PyObject* object, const library& lib, int type, word& out) {
  if (PyLong_Check(object) && digit_value(object, out)) [[likely]]
    return true;
  if (is_exactly(object, lib, type)) {
    out = *static_cast<std::uint32_t*>(as_handle(object)->data);
    return true;
  }
  return handle_slow(object, lib, type, out);
}

inline bool structure_argument(PyObject* object, const library& lib, int type, bool none_is_null,
                               word& out) {
  if (is_exactly(object, lib, type)) [[likely]] {
    out = reinterpret_cast<word>(as_storage(object)->data);
    return true;
  }
  return structure_slow(object, lib, type, none_is_null, out);
}

}  // namespace halfwarp::bindings
