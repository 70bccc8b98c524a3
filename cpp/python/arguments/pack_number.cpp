// SPDX-License-Identifier: Apache-2.0
// Packs Python numbers in the width and kind of a parameter.
#include "python/arguments/pack_number.hpp"

#include <cstdint>

#include "python/arguments/floating_format.hpp"
#include "python/arguments/integer_digits.hpp"
#include "python/reference.hpp"

namespace halfwarp::python {
namespace {

using core::is_floating;
using core::parameter_kind;

bool is_integer_width(std::size_t size) noexcept {
  return size == 1 || size == 2 || size == 4 || size == 8;
}

// Any 64-bit integer: its bits, and whether they represent a negative value.
struct wide_integer {
  std::uint64_t bits;
  bool is_negative;
};

// The values that an integer parameter holds: from -2^negative_bits to 2^positive_bits - 1.
struct integer_range {
  unsigned negative_bits = 0;  // 0: no negative value
  unsigned positive_bits = 0;

  [[nodiscard]] bool contains(const wide_integer& number) const noexcept {
    if (!number.is_negative) return positive_bits == 64 || number.bits >> positive_bits == 0;
    return negative_bits != 0 && -number.bits <= std::uint64_t{1} << negative_bits;
  }
};

// A kind of unknown sign holds the values of both.
integer_range range_of(parameter_kind kind, std::size_t size) noexcept {
  const auto width = static_cast<unsigned>(8 * size);
  switch (kind) {
    case parameter_kind::boolean:
      return {0, 1};
    case parameter_kind::signed_integer:
      return {width - 1, width - 1};
    case parameter_kind::unsigned_integer:
    case parameter_kind::pointer:
      return {0, width};
    default:
      return {width - 1, width};
  }
}

// Raises OverflowError with the range of the parameter.
int out_of_range(PyObject* value, const target& to, const integer_range& range,
                 std::size_t size) noexcept {
  const std::uint64_t lowest = std::uint64_t{0} - (std::uint64_t{1} << range.negative_bits);
  const std::uint64_t highest =
      range.positive_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << range.positive_bits) - 1;
  return to.out_of_range(value, size, range.negative_bits != 0 ? static_cast<long long>(lowest) : 0,
                         highest);
}

// Packs an integer that the parameter's type can hold; a null number needs more than 64 bits.
int pack_in_range(PyObject* value, const wide_integer* number, std::size_t size,
                  const target& to) noexcept {
  const integer_range range = range_of(to.parameter.kind, size);
  if (number == nullptr || !range.contains(*number)) return out_of_range(value, to, range, size);
  return to.copy(value, &number->bits, size);
}

int floating_overflow(const target& to, PyObject* value) noexcept {
  return to.fail(PyExc_OverflowError,
                 to.parameter.kind == parameter_kind::float8_e8m0
                     ? "the parameter holds only the powers of two from 2**-127 to 2**127"
                     : "the value is beyond the range of the parameter",
                 value);
}

// A number for a structure would be its bits. In C++, the short floating-point types are
// structures, and an extern "C" kernel does not record which one.
int refuse_number(const target& to, PyObject* value) noexcept {
  if (to.parameter.size > 2) {
    return to.fail(
        PyExc_TypeError,
        "the parameter is a structure: pass a ctypes structure, a NumPy scalar such as a "
        "record, or an object with __cuda_kernel_arg__() that returns bytes",
        value);
  }
  return to.fail(
      PyExc_TypeError,
      "the parameter is a structure, for instance a __half, which an extern \"C\" kernel "
      "does not record: pass numpy.float16(x), a scalar of ml_dtypes, or a structure",
      value);
}

// Packs an integer for a floating parameter, if it is exactly representable.
int pack_integer_as_floating(PyObject* value, const target& to) noexcept {
  const parameter_kind kind = to.parameter.kind;
  const double number = PyLong_AsDouble(value);
  if (number == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    return floating_overflow(to, value);
  }
  char bytes[8];
  const std::size_t size = encode_floating(number, kind, bytes);
  if (size == 0) return floating_overflow(to, value);
  const reference decoded{PyFloat_FromDouble(decode_floating(bytes, kind))};
  const int is_exact = decoded ? PyObject_RichCompareBool(decoded.get(), value, Py_EQ) : failed;
  if (is_exact < 0) return failed;
  if (is_exact == 0) {
    return to.fail(PyExc_TypeError,
                   "the integer has no exact value in the parameter's type; pass a float", value);
  }
  return to.copy(value, bytes, size);
}

// Determines the format in which a float is packed for a parameter; returns false if there is none.
bool floating_format_of(const core::parameter& parameter, parameter_kind& format) noexcept {
  if (is_floating(parameter.kind)) {
    format = parameter.kind;
    return true;
  }
  format = parameter.size == 4 ? parameter_kind::float32 : parameter_kind::float64;
  return parameter.kind == parameter_kind::unknown &&
         (parameter.size == 0 || parameter.size == 4 || parameter.size == 8);
}

}  // namespace

int pack_integer(PyObject* value, const target& to) noexcept {
  if (is_floating(to.parameter.kind)) return pack_integer_as_floating(value, to);
  if (to.parameter.kind == parameter_kind::aggregate) return refuse_number(to, value);
  const std::size_t size = to.parameter.size != 0 ? to.parameter.size : 8;
  if (!is_integer_width(size)) return to.wrong_size(value, 8);
  const integer_digits digits{value};
  wide_integer number{0, digits.is_negative()};
  return pack_in_range(value, digits.read(number.bits) ? &number : nullptr, size, to);
}

int pack_boolean(PyObject* value, const target& to) noexcept {
  if (to.parameter.size != 0) return pack_integer(value, to);
  const bool truth = value == Py_True;
  return to.copy(value, &truth, sizeof(truth));
}

int pack_real(PyObject* value, const target& to) noexcept {
  parameter_kind format;
  if (to.parameter.kind == parameter_kind::aggregate) return refuse_number(to, value);
  if (!floating_format_of(to.parameter, format)) {
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
  if (to.parameter.kind != parameter_kind::unknown &&
      to.parameter.kind != parameter_kind::aggregate) {
    return to.fail(PyExc_TypeError, "the parameter is no complex number", value);
  }
  if (to.parameter.size != 8) return to.copy(value, parts, sizeof(parts));
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
  const core::parameter& parameter = to.parameter;
  const bool is_narrower = parameter.size != 0 && parameter.size < size;
  const bool holds_integers = is_integer_width(parameter.size) && !is_floating(parameter.kind) &&
                              parameter.kind != parameter_kind::aggregate;
  // A bool of another value than 0 and 1 is undefined in C++.
  const bool is_checked = is_narrower || parameter.kind == parameter_kind::boolean;
  if (!is_checked || !holds_integers || parameter.size > size) return to.copy(value, bytes, size);
  wide_integer number{0, false};
  std::memcpy(&number.bits, bytes, size);
  if (kind == integer_kind::signed_integer) {
    const unsigned unused = static_cast<unsigned>(64 - 8 * size);
    const auto extended = static_cast<std::int64_t>(number.bits << unused) >> unused;
    number = {static_cast<std::uint64_t>(extended), extended < 0};
  }
  return pack_in_range(value, &number, parameter.size, to);
}

}  // namespace halfwarp::python
