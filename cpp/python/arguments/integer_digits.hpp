// SPDX-License-Identifier: Apache-2.0
// Reads the value of a Python int from its digits, as a launch does for each address argument.
#pragma once

#include <Python.h>

#include <cstdint>

namespace halfwarp::python {

// Borrows an int or an instance of a derived class. CPython stores the absolute value in digits of
// 30 bits, lowest first; the fields differ before and since 3.12.
class integer_digits {
 public:
  explicit integer_digits(PyObject* integer) noexcept
#if PY_VERSION_HEX >= 0x030C0000
      : digits_{reinterpret_cast<PyLongObject*>(integer)->long_value.ob_digit},
        tag_{reinterpret_cast<PyLongObject*>(integer)->long_value.lv_tag} {
  }
  [[nodiscard]] std::size_t count() const noexcept { return tag_ >> 3; }
  [[nodiscard]] bool is_negative() const noexcept { return (tag_ & 3) == 2; }
  // True from 2^30 to 2^60 - 1, the range of addresses.
  [[nodiscard]] bool is_two_digits() const noexcept { return tag_ == 2 << 3; }
#else
      : digits_{reinterpret_cast<PyLongObject*>(integer)->ob_digit}, size_{Py_SIZE(integer)} {
  }
  [[nodiscard]] std::size_t count() const noexcept {
    return static_cast<std::size_t>(size_ < 0 ? -size_ : size_);
  }
  [[nodiscard]] bool is_negative() const noexcept { return size_ < 0; }
  // True from 2^30 to 2^60 - 1, the range of addresses.
  [[nodiscard]] bool is_two_digits() const noexcept { return size_ == 2; }
#endif

  // Requires an integer of at most one digit.
  [[nodiscard]] std::int64_t short_value() const noexcept {
#if PY_VERSION_HEX >= 0x030C0000
    return (std::int64_t{1} - static_cast<std::int64_t>(tag_ & 3)) *
           static_cast<std::int64_t>(digits_[0]);
#else
    return size_ * static_cast<std::int64_t>(digits_[0]);
#endif
  }

  [[nodiscard]] std::uint64_t two_digit_value() const noexcept {
    return digits_[0] | std::uint64_t{digits_[1]} << PyLong_SHIFT;
  }

  // Reads an integer from -2^63 to 2^64 - 1 as two's complement; returns false outside this range.
  [[nodiscard]] bool read(std::uint64_t& bits) const noexcept {
    static_assert(PyLong_SHIFT == 30);
    const std::size_t digits = count();
    std::uint64_t magnitude = digits != 0 ? digits_[0] : 0;
    if (digits > 1) magnitude |= std::uint64_t{digits_[1]} << 30;
    if (digits > 2) {
      if (digits > 3 || digits_[2] >> 4 != 0) return false;
      magnitude |= std::uint64_t{digits_[2]} << 60;
    }
    if (is_negative()) {
      if (magnitude > std::uint64_t{1} << 63) return false;
      magnitude = -magnitude;
    }
    bits = magnitude;
    return true;
  }

  // Reads an integer from 0 to 2^64 - 1; returns false outside this range.
  [[nodiscard]] bool read_size(std::uint64_t& size) const noexcept {
    return !is_negative() && read(size);
  }

 private:
  const digit* digits_;
#if PY_VERSION_HEX >= 0x030C0000
  std::uintptr_t tag_;
#else
  Py_ssize_t size_;
#endif
};

}  // namespace halfwarp::python
