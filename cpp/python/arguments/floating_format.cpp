// SPDX-License-Identifier: Apache-2.0
// Encodes a double in the floating-point formats of kernel parameters.
#include "python/arguments/floating_format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace halfwarp::python {
namespace {

using core::parameter_kind;

constexpr int no_code = -1;  // of a value that a format does not have

// A format with sign, exponent and fraction.
struct floating_format {
  parameter_kind kind;
  std::size_t size;
  int exponent_bits;
  int fraction_bits;
  int bias;
  int largest;  // code of the largest finite value
  int infinity;
  int nan;
};

constexpr std::array formats{
    floating_format{parameter_kind::float4_e2m1, 1, 2, 1, 1, 0x7, no_code, no_code},
    floating_format{parameter_kind::float6_e2m3, 1, 2, 3, 1, 0x1f, no_code, no_code},
    floating_format{parameter_kind::float6_e3m2, 1, 3, 2, 3, 0x1f, no_code, no_code},
    floating_format{parameter_kind::float8_e4m3, 1, 4, 3, 7, 0x7e, no_code, 0x7f},
    floating_format{parameter_kind::float8_e5m2, 1, 5, 2, 15, 0x7b, 0x7c, 0x7f},
    floating_format{parameter_kind::half, 2, 5, 10, 15, 0x7bff, 0x7c00, 0x7e00},
    floating_format{parameter_kind::bfloat16, 2, 8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0},
};

const floating_format* find_format(parameter_kind kind) noexcept {
  const auto match = std::ranges::find(formats, kind, &floating_format::kind);
  return match == formats.end() ? nullptr : &*match;
}

// Returns the code of a finite value that is not negative. It may exceed the largest code.
int code_of(double value, const floating_format& format) noexcept {
  if (value == 0) return 0;
  int exponent{};
  std::frexp(value, &exponent);
  // The exponent of the leading bit; subnormal values have the smallest normal exponent.
  const int leading = std::max(exponent - 1, 1 - format.bias);
  const double steps = std::nearbyint(std::ldexp(value, format.fraction_bits - leading));
  // A carry of the rounding increments the exponent field.
  return ((leading + format.bias - 1) << format.fraction_bits) + static_cast<int>(steps);
}

// Returns the code of a number, or `no_code` if the format has no such value.
int encode(double number, const floating_format& format) noexcept {
  int code = 0;
  if (std::isnan(number)) {
    code = format.nan;
  } else if (std::isinf(number)) {
    code = format.infinity;
  } else {
    code = code_of(std::fabs(number), format);
    if (code > format.largest) return no_code;
  }
  const int sign = 1 << (format.exponent_bits + format.fraction_bits);
  return code < 0 || !std::signbit(number) ? code : code | sign;
}

double decode(int code, const floating_format& format) noexcept {
  const int sign = 1 << (format.exponent_bits + format.fraction_bits);
  const int magnitude = code & (sign - 1);
  const int exponent = magnitude >> format.fraction_bits;
  const int hidden = exponent != 0 ? 1 << format.fraction_bits : 0;
  const int fraction = (magnitude & ((1 << format.fraction_bits) - 1)) | hidden;
  const double value =
      std::ldexp(fraction, std::max(exponent, 1) - format.bias - format.fraction_bits);
  return code & sign ? -value : value;
}

// The format e8m0 has an exponent only: it holds the powers of two from 2^-127 to 2^127, and NaN.
constexpr int power_bias = 127;
constexpr int power_nan = 0xff;

int encode_power(double number) noexcept {
  if (std::isnan(number)) return power_nan;
  int exponent{};
  if (std::frexp(number, &exponent) != 0.5) return no_code;
  const int code = exponent - 1 + power_bias;
  return code >= 0 && code < power_nan ? code : no_code;
}

std::size_t store_code(int code, std::size_t size, char* bytes) noexcept {
  if (code < 0) return 0;
  const auto stored = static_cast<std::uint16_t>(code);
  std::memcpy(bytes, &stored, size);  // little-endian
  return size;
}

std::size_t encode_single(double number, char* bytes) noexcept {
  const auto narrow = static_cast<float>(number);
  if (std::isinf(narrow) && !std::isinf(number)) return 0;
  std::memcpy(bytes, &narrow, sizeof(narrow));
  return sizeof(narrow);
}

template <class Value>
Value value_at(const char* bytes) noexcept {
  Value value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

}  // namespace

std::size_t encode_floating(double number, parameter_kind kind, char* bytes) noexcept {
  if (kind == parameter_kind::float32) return encode_single(number, bytes);
  if (kind == parameter_kind::float8_e8m0) return store_code(encode_power(number), 1, bytes);
  if (const floating_format* format = find_format(kind)) {
    return store_code(encode(number, *format), format->size, bytes);
  }
  std::memcpy(bytes, &number, sizeof(number));
  return sizeof(number);
}

double decode_floating(const char* bytes, parameter_kind kind) noexcept {
  if (kind == parameter_kind::float32) return value_at<float>(bytes);
  if (kind == parameter_kind::float8_e8m0) {
    return std::ldexp(1.0, value_at<std::uint8_t>(bytes) - power_bias);
  }
  if (const floating_format* format = find_format(kind)) {
    return decode(
        format->size == 1 ? value_at<std::uint8_t>(bytes) : value_at<std::uint16_t>(bytes),
        *format);
  }
  return value_at<double>(bytes);
}

}  // namespace halfwarp::python
