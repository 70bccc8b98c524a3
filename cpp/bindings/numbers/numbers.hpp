// SPDX-License-Identifier: Apache-2.0
// Converts Python numbers to C words, and reads and writes C numbers in memory. The inline
// functions handle small ints; the rest is out of line.
#pragma once

#include <cstdio>
#include <cstring>
#include <type_traits>

#include "bindings/errors/errors.hpp"
#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Whether an object has `__index__`, or `__int__` and is no float, which would lose digits
// silently.
bool converts_to_integer(PyObject* object);

// Converts an integer. Converters raise a bare message ("expected an integer, got str"); the engine
// adds the function and the argument.
bool integer_slow(PyObject* object, kind k, word& out);
// Converts a count or size, which programs compute with floats (`n * 0.5`). Accepts a float of
// integral value with a DeprecationWarning. Handles, addresses and enumerators must be integers.
bool number_slow(PyObject* object, kind k, word& out);
// Converts an enumerator. The message names the class of enumeration `type` unless it is -1.
bool enumerator_slow(PyObject* object, const library& lib, int type, word& out);
bool float_argument(PyObject* object, kind k, word& out);

// Reads an int of one digit without allocation or a call.
inline bool compact_value(PyObject* object, Py_ssize_t& value) {
#if PY_VERSION_HEX >= 0x030C0000
  auto* number = reinterpret_cast<PyLongObject*>(object);
  if (!PyUnstable_Long_IsCompact(number)) return false;
  value = PyUnstable_Long_CompactValue(number);
#else
  Py_ssize_t size = Py_SIZE(object);
  if (size < -1 || size > 1) return false;
  value = size * Py_ssize_t(reinterpret_cast<PyLongObject*>(object)->ob_digit[0]);
#endif
  return true;
}

// Reads a non-negative int of one digit, with one comparison.
inline bool digit_value(PyObject* object, word& value) {
  auto* number = reinterpret_cast<PyLongObject*>(object);
#if PY_VERSION_HEX >= 0x030C0000
  // the digit count is 0 or 1; zero has its own sign bits, and small ints have a flag
  constexpr std::uintptr_t one_digit = 1 << _PyLong_NON_SIZE_BITS, zero = 1, small = 4;
  if (number->long_value.lv_tag & ~(one_digit | zero | small)) return false;
  value = number->long_value.ob_digit[0];
#else
  if (Py_SIZE(object) & ~Py_ssize_t{1}) return false;
  value = Py_SIZE(object) ? number->ob_digit[0] : 0;
#endif
  return true;
}

// Reads a positive int of two digits (up to 60 bits), such as a user-space address.
inline bool two_digit_value(PyObject* object, word& value) {
  auto* number = reinterpret_cast<PyLongObject*>(object);
#if PY_VERSION_HEX >= 0x030C0000
  constexpr std::uintptr_t tag = 2 << _PyLong_NON_SIZE_BITS;  // two digits, positive
  if (number->long_value.lv_tag != tag) return false;
  const digit* digits = number->long_value.ob_digit;
#else
  if (Py_SIZE(object) != 2) return false;
  const digit* digits = number->ob_digit;
#endif
  value = word(digits[0]) | word(digits[1]) << PyLong_SHIFT;
  return true;
}

// Exclusive bound of a one-digit value of an integer kind; 0 if any digit fits.
template <kind K>
inline constexpr word digit_limit = K == kind::i8    ? 0x80
                                    : K == kind::u8  ? 0x100
                                    : K == kind::i16 ? 0x8000
                                    : K == kind::u16 ? 0x10000
                                                     : 0;

template <kind K>
inline bool short_integer(PyObject* object, word& out) {
  if (!PyLong_Check(object)) [[unlikely]]
    return false;
  if (digit_value(object, out) && (!digit_limit<K> || out < digit_limit<K>)) [[likely]]
    return true;
  if constexpr (K == kind::u64 || K == kind::i64) return two_digit_value(object, out);
  return false;
}

template <kind K>
inline bool integer_argument(PyObject* object, word& out) {
  return short_integer<K>(object, out) || integer_slow(object, K, out);
}

template <kind K>
inline bool number_argument(PyObject* object, word& out) {
  return short_integer<K>(object, out) || number_slow(object, K, out);
}

// Converts an enumerator: a member or any int.
inline bool enum_argument(PyObject* object, const library& lib, int type, word& out) {
  if (PyLong_Check(object) && digit_value(object, out)) [[likely]]
    return true;
  return enumerator_slow(object, lib, type, out);
}

// Stores the low `size` bytes of a word; a float has its own width already.
inline void store(void* data, word value, int size) {
  if (size == 4) {
    __builtin_memcpy(data, &value, 4);
  } else if (size == 8) {
    __builtin_memcpy(data, &value, 8);
  } else {
    __builtin_memcpy(data, &value, std::size_t(size));
  }
}

template <class T>
T load(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

// Reads a C number as a Python object.
template <class T>
PyObject* number_at(const void* data) {
  auto value = load<T>(data);
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

// Returns a function or class of NumPy if NumPy is loaded: a new reference. Returns nullptr without
// an error otherwise.
PyObject* loaded_numpy_attribute(const char* name);

// Reads a number of a kind.
PyObject* read_number(kind k, const void* data);
int write_number_slow(kind k, void* data, PyObject* value);
inline int write_number(kind k, void* data, PyObject* value) {
  word small;
  bool is_wide = k >= kind::i32 && k <= kind::u64;
  if (!is_wide || !PyLong_Check(value) || !digit_value(value, small)) [[unlikely]]
    return write_number_slow(k, data, value);
  store(data, small, k >= kind::i64 ? 8 : 4);
  return 0;
}

struct hexadecimal {
  explicit hexadecimal(unsigned long long value) {
    std::snprintf(text, sizeof text, "0x%llx", value);
  }
  char text[20];
};

}  // namespace halfwarp::bindings
