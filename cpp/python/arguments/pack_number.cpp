// SPDX-License-Identifier: Apache-2.0
// Packs Python numbers in the width and kind of a parameter.
#include "python/arguments/pack_number.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#include "python/arguments/integer_digits.hpp"
#include "python/reference.hpp"

namespace halfwarp::python {
namespace {

using core::parameter_kind;

bool is_floating(parameter_kind kind) noexcept {
  return kind == parameter_kind::half || kind == parameter_kind::bfloat16 ||
         kind == parameter_kind::float32 || kind == parameter_kind::float64;
}

bool is_integer_width(std::size_t size) noexcept {
  return size == 1 || size == 2 || size == 4 || size == 8;
}

// Any 64-bit integer: its bits, and whether they represent a negative value.
struct wide_integer {
  std::uint64_t bits;
  bool is_negative;

  // Returns whether `size` bytes can hold the value, as a signed or unsigned integer.
  [[nodiscard]] bool fits(std::size_t size) const noexcept {
    if (size == 8) return true;
    const unsigned width = static_cast<unsigned>(8 * size);
    return is_negative ? static_cast<std::int64_t>(bits) >= -(std::int64_t{1} << (width - 1))
                       : bits >> width == 0;
  }
};

// Reads an int or an instance of a derived class. Returns false with OverflowError set if it needs
// more than 64 bits; `size` is for the message.
bool read_integer(PyObject* value, const target& to, std::size_t size,
                  wide_integer& number) noexcept {
  const integer_digits digits{value};
  number.is_negative = digits.is_negative();
  if (digits.read(number.bits)) return true;
  to.out_of_range(value, size);
  return false;
}

// Rounds a double to a float that can be rounded again to a shorter format: the last bit records a
// remainder, because otherwise a value next to a tie would become the tie.
std::uint32_t single_rounded_to_odd(double number) noexcept {
  const auto nearest = static_cast<float>(number);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (static_cast<double>(nearest) == number || std::isnan(number)) return bits;
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(number)) --bits;  // towards zero
  return bits | 1;
}

// Encodes a double in the format of a floating parameter. Returns the size, or 0 if out of range.
std::size_t encode_floating(double number, parameter_kind kind, char* bytes) noexcept {
  constexpr int little_endian = 1;
  switch (kind) {
    case parameter_kind::half:
      return PyFloat_Pack2(number, bytes, little_endian) == 0 ? 2 : 0;
    case parameter_kind::bfloat16: {
      if (PyFloat_Pack4(number, bytes, little_endian) != 0) return 0;  // out of range for float
      std::uint32_t bits = single_rounded_to_odd(number);
      // Rounds to nearest, ties to even; NaN remains NaN.
      bits = std::isnan(number) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
      const auto upper = static_cast<std::uint16_t>(bits >> 16);
      std::memcpy(bytes, &upper, sizeof(upper));
      return std::isinf(number) || (upper & 0x7fff) != 0x7f80 ? 2 : 0;
    }
    case parameter_kind::float32:
      return PyFloat_Pack4(number, bytes, little_endian) == 0 ? 4 : 0;
    default:
      std::memcpy(bytes, &number, sizeof(number));
      return sizeof(number);
  }
}

double decode_floating(const char* bytes, parameter_kind kind) noexcept {
  constexpr int little_endian = 1;
  switch (kind) {
    case parameter_kind::half:
      return PyFloat_Unpack2(bytes, little_endian);
    case parameter_kind::bfloat16: {
      std::uint16_t upper;
      std::memcpy(&upper, bytes, sizeof(upper));
      return std::bit_cast<float>(static_cast<std::uint32_t>(upper) << 16);
    }
    case parameter_kind::float32:
      return PyFloat_Unpack4(bytes, little_endian);
    default:
      return PyFloat_Unpack8(bytes, little_endian);
  }
}

int floating_overflow(const target& to, PyObject* value) noexcept {
  PyErr_Clear();
  return to.fail(PyExc_OverflowError, "the value is beyond the range of the parameter", value);
}

// Packs an integer for a floating parameter, if it is exactly representable.
int pack_integer_as_floating(PyObject* value, const target& to) noexcept {
  const parameter_kind kind = to.parameter.kind;
  const double number = PyLong_AsDouble(value);
  if (number == -1.0 && PyErr_Occurred()) return floating_overflow(to, value);
  char bytes[8];
  const std::size_t size = encode_floating(number, kind, bytes);
  if (size == 0) return floating_overflow(to, value);
  const reference decoded{PyFloat_FromDouble(decode_floating(bytes, kind))};
  const int is_exact = decoded ? PyObject_RichCompareBool(decoded.get(), value, Py_EQ) : -1;
  if (is_exact < 0) return -1;
  if (is_exact == 0) {
    return to.fail(PyExc_TypeError,
                   "the integer has no exact value in the parameter's type; pass a float", value);
  }
  return to.copy(value, bytes, size);
}

// Determines the format in which a float is packed for a parameter; returns false if there is none.
bool floating_format(const core::parameter& parameter, parameter_kind& format) noexcept {
  if (is_floating(parameter.kind)) {
    format = parameter.kind;
    return true;
  }
  const bool may_be_floating =
      parameter.kind == parameter_kind::unknown || parameter.kind == parameter_kind::aggregate;
  format = parameter.size == 4 ? parameter_kind::float32 : parameter_kind::float64;
  return may_be_floating && (parameter.size == 0 || parameter.size == 4 || parameter.size == 8);
}

}  // namespace

int pack_integer(PyObject* value, const target& to) noexcept {
  if (is_floating(to.parameter.kind)) return pack_integer_as_floating(value, to);
  const std::size_t size = to.parameter.size != 0 ? to.parameter.size : 8;
  if (!is_integer_width(size)) return to.wrong_size(value, 8);
  wide_integer number;
  if (!read_integer(value, to, size, number)) return -1;
  if (!number.fits(size)) return to.out_of_range(value, size);
  return to.copy(value, &number.bits, size);
}

int pack_boolean(PyObject* value, const target& to) noexcept {
  if (to.parameter.size > 1) return pack_integer(value, to);
  const bool truth = value == Py_True;
  return to.copy(value, &truth, sizeof(truth));
}

int pack_real(PyObject* value, const target& to) noexcept {
  parameter_kind format;
  if (!floating_format(to.parameter, format)) {
    if (is_integer_width(to.parameter.size) && to.parameter.kind != parameter_kind::unknown) {
      return to.fail(PyExc_TypeError, "the parameter is an integer or a pointer", value);
    }
    return to.wrong_size(value, sizeof(double));
  }
  char bytes[8];
  const std::size_t size = encode_floating(PyFloat_AS_DOUBLE(value), format, bytes);
  if (size == 0) return floating_overflow(to, value);
  return to.copy(value, bytes, size);
}

int pack_complex(PyObject* value, const target& to) noexcept {
  const double parts[] = {PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value)};
  if (to.parameter.size != 8 || is_floating(to.parameter.kind)) {
    return to.copy(value, parts, sizeof(parts));
  }
  char bytes[8];
  for (int i = 0; i < 2; ++i) {
    if (encode_floating(parts[i], parameter_kind::float32, bytes + 4 * i) == 0) {
      return floating_overflow(to, value);
    }
  }
  return to.copy(value, bytes, sizeof(bytes));
}

int pack_fixed_integer(PyObject* value, const void* bytes, std::size_t size, integer_kind kind,
                       const target& to) noexcept {
  const std::size_t expected = to.parameter.size;
  const bool narrows = expected != 0 && expected < size && is_integer_width(expected) &&
                       !is_floating(to.parameter.kind);
  if (!narrows) return to.copy(value, bytes, size);
  wide_integer number{0, false};
  std::memcpy(&number.bits, bytes, size);
  if (kind == integer_kind::signed_integer) {
    const unsigned unused = static_cast<unsigned>(64 - 8 * size);
    const auto extended = static_cast<std::int64_t>(number.bits << unused) >> unused;
    number = {static_cast<std::uint64_t>(extended), extended < 0};
  }
  if (!number.fits(expected)) return to.out_of_range(value, expected);
  return to.copy(value, &number.bits, expected);
}

}  // namespace halfwarp::python
