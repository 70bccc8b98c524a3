// SPDX-License-Identifier: Apache-2.0
// Python numbers to C words. The inline part takes small ints; all else is out of line.
#pragma once

#include "bindings/arguments/errors.hpp"
#include "bindings/records.hpp"

namespace halfwarp::bindings {

// Whether it has `__index__`, or `__int__` and is no float or its like, which would lose digits
// silently.
bool stands_for_integer(PyObject* object);

// Converters raise a bare message ("expected an integer, got str"); the engine adds the function
// and the argument.
bool integer_slow(PyObject* object, kind k, word& out);
bool float_argument(PyObject* object, kind k, word& out);

// An int of one digit, which needs no allocation and no call to read.
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

// A positive int of two digits (up to 60 bits): what addresses of this process are.
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

// The largest compact value that fits every integer kind of 32 bits and more, and the small ones.
template <kind K>
inline constexpr Py_ssize_t compact_limit = K == kind::i8    ? 0x7f
                                            : K == kind::u8  ? 0xff
                                            : K == kind::i16 ? 0x7fff
                                            : K == kind::u16 ? 0xffff
                                                             : 0x3fffffff;

template <kind K>
inline bool integer_argument(PyObject* object, word& out) {
  Py_ssize_t value;
  if (PyLong_Check(object) && compact_value(object, value) && value >= 0 &&
      value <= compact_limit<K>) [[likely]] {
    out = word(value);
    return true;
  }
  if constexpr (K == kind::u64 || K == kind::i64) {
    if (PyLong_Check(object) && two_digit_value(object, out)) return true;
  }
  return integer_slow(object, K, out);
}

// An enumerator by value: a member or any int.
inline bool enum_argument(PyObject* object, word& out) {
  Py_ssize_t value;
  if (PyLong_Check(object) && compact_value(object, value)) [[likely]] {
    out = word(value);
    return true;
  }
  return integer_slow(object, kind::enumeration, out);
}

// Stores the low `size` bytes of a word (floats are in their own width already).
inline void store(void* where, word value, int size) {
  if (size == 4) {
    __builtin_memcpy(where, &value, 4);
  } else if (size == 8) {
    __builtin_memcpy(where, &value, 8);
  } else {
    __builtin_memcpy(where, &value, std::size_t(size));
  }
}

}  // namespace halfwarp::bindings
