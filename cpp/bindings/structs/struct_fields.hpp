// SPDX-License-Identifier: Apache-2.0
// The fields of struct objects: one getter and one setter that follow the field's record.
#pragma once

#include <cstring>
#include <type_traits>

#include "bindings/arguments/numbers.hpp"
#include "bindings/types/class_type.hpp"

namespace halfwarp::bindings {

// Calls `visit` for all fields, those of bases first, until it answers false.
template <class V>
bool for_each_field(const library& lib, const class_record& record, V visit) {
  if (record.base >= 0 && !for_each_field(lib, lib.classes[std::size_t(record.base)], visit))
    return false;
  for (const field& f : lib.fields_of(record))
    if (!visit(f)) return false;
  return true;
}

// A new reference; nullptr with an error set.
PyObject* read_field(const library& lib, const field& f, PyObject* self);
// 0, or -1 with an error set.
int write_field(const library& lib, const field& f, PyObject* self, PyObject* value);

template <class T>
T load(const void* where) {
  T value;
  std::memcpy(&value, where, sizeof value);
  return value;
}

// A C number as a Python object.
template <class T>
PyObject* number_at(const void* where) {
  auto value = load<T>(where);
  if constexpr (std::is_floating_point_v<T>) {
    return PyFloat_FromDouble(value);
  } else if constexpr (sizeof(T) < sizeof(long)) {
    return PyLong_FromLong(long(value));
  } else if constexpr (std::is_signed_v<T>) {
    return PyLong_FromLongLong(value);
  } else {
    return PyLong_FromUnsignedLongLong(value);
  }
}

// One element of an array, or a field of a plain kind, at `where`.
PyObject* read_number(kind k, const void* where);
int write_number_slow(kind k, void* where, PyObject* value);
inline int write_number(kind k, void* where, PyObject* value) {
  word small;
  bool is_wide = k >= kind::i32 && k <= kind::u64;
  if (!is_wide || !PyLong_Check(value) || !digit_value(value, small)) [[unlikely]]
    return write_number_slow(k, where, value);
  store(where, small, k >= kind::i64 ? 8 : 4);
  return 0;
}

}  // namespace halfwarp::bindings
