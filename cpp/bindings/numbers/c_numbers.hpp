// SPDX-License-Identifier: Apache-2.0
// C numbers in memory, to Python numbers and back.
#pragma once

#include <cstring>
#include <type_traits>

#include "bindings/numbers/numbers.hpp"

namespace halfwarp::bindings {

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

// A number of a kind.
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
