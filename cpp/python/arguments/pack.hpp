// SPDX-License-Identifier: Apache-2.0
// Packs Python objects as the bytes of kernel parameters.
#pragma once

#include <Python.h>

#include <array>
#include <atomic>
#include <cmath>

#include "python/arguments/conversion.hpp"
#include "python/arguments/integer_digits.hpp"
#include "python/arguments/target.hpp"
#include "python/objects.hpp"

namespace halfwarp::python {

// NumPy scalar types that need no lookup, registered when an instance was first packed.
enum common_scalar { common_float32, common_int32, common_int64, common_uint64, common_float64 };
inline std::array<std::atomic<PyTypeObject*>, 5> common_scalars{};

[[nodiscard]] inline bool is_common(PyTypeObject* type, common_scalar scalar) noexcept {
  return type == common_scalars[scalar].load(std::memory_order_relaxed);
}

// Packs an object of any accepted type. Returns 0, or -1 with an exception set and nothing stored.
int pack_general(PyObject* value, const target& to) noexcept;
int pack_as(PyObject* value, const conversion& method, const target& to) noexcept;

// Reads a scalar's value, which NumPy stores directly after the object header (checked once).
template <class Value>
[[nodiscard]] inline Value scalar_value(PyObject* scalar) noexcept {
  Value value;
  std::memcpy(&value, reinterpret_cast<const char*>(scalar) + sizeof(PyObject), sizeof(Value));
  return value;
}

// Packs an int that is not one of the most common kinds, see pack_common().
[[nodiscard]] inline bool pack_other_integer(const integer_digits& number, unsigned accepts,
                                             argument_cell& to) noexcept {
  const bool is_negative = number.is_negative();
  if (number.count() <= 1 && !is_negative && accepts & core::accepts_natural) {
    to.store(number.short_value());
    return true;
  }
  std::uint64_t bits;
  if (!(accepts & core::accepts_wide) || !number.read(bits)) return false;
  if (is_negative ? !(accepts & core::accepts_integer)
                  : bits >> 63 != 0 && !(accepts & core::accepts_high)) {
    return false;
  }
  to.store(bits);
  return true;
}

// Packs the common types, each with one pointer compare. Returns false, with nothing stored, for
// other types and values. The driver reads only the parameter's size, so a small integer stored as
// eight bytes also serves a parameter of four (all supported machines are little-endian).
[[nodiscard]] inline bool pack_common(PyObject* value, const core::parameter& parameter,
                                      argument_cell& to) noexcept {
  PyTypeObject* const type = Py_TYPE(value);
  const unsigned accepts = parameter.accepts;
  if (type == &PyLong_Type) {
    const integer_digits number{value};
    if (number.is_two_digits() && accepts & core::accepts_wide) {
      to.store(number.two_digit_value());
      return true;
    }
    if (number.count() <= 1 && accepts & core::accepts_integer) {
      to.store(number.short_value());
      return true;
    }
    return pack_other_integer(number, accepts, to);
  }
  if (type == object_class<buffer_fields>::type) {
    const buffer_fields& buffer = fields_of<buffer_fields>(value);
    if (!(accepts & core::accepts_address) || !buffer.is_open) return false;
    to.store(buffer.pointer);
    return true;
  }
  if (type == &PyFloat_Type) {
    const double number = PyFloat_AS_DOUBLE(value);
    if (accepts & core::accepts_double) {
      to.store(number);
      return true;
    }
    const auto narrow = static_cast<float>(number);
    if (!(accepts & core::accepts_single) || !std::isfinite(narrow)) return false;
    to.store(narrow);
    return true;
  }
  if (is_common(type, common_float32) || is_common(type, common_int32)) {
    if (!(accepts & core::accepts_4_bytes)) return false;
    to.store(scalar_value<std::uint32_t>(value));
    return true;
  }
  if (is_common(type, common_int64) || is_common(type, common_uint64) ||
      is_common(type, common_float64)) {
    if (!(accepts & core::accepts_8_bytes)) return false;
    to.store(scalar_value<std::uint64_t>(value));
    return true;
  }
  return false;
}

// Packs `values` for the kernel of `plan` (null: unknown) into a prepared block with the same
// number of arguments. Returns 0, or -1 with an exception set.
[[nodiscard]] inline int pack_all(PyObject* const* values, const core::launch_plan* plan,
                                  const core::parameter* parameters, std::size_t step,
                                  argument_block& block) noexcept {
  const std::size_t count = block.count();
  void** const pointers = block.pointers();
  argument_cell* const cells = block.cells();
  for (std::size_t i = 0; i < count; ++i, parameters += step) {
    pointers[i] = &cells[i];
    if (pack_common(values[i], *parameters, cells[i])) [[likely]]
      continue;
    if (pack_general(values[i], target{*parameters, block, i, plan}) < 0) return failed;
    if (!PyLong_CheckExact(values[i])) block.set_ran_python();
  }
  return 0;
}

// Packs a tuple of values for an unknown kernel. Returns 0, or -1 with an exception set.
int pack_unchecked(PyObject* values, owned_arguments& block) noexcept;

}  // namespace halfwarp::python
