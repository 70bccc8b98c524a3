// SPDX-License-Identifier: Apache-2.0
// Conversions and arithmetic; integers of one family share their loops.
#include "emulated_nccl/collective/values.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "emulated_nccl/call/kinds.hpp"

namespace halfwarp::emulated_nccl {
namespace {

// A float of 8 or 16 bits. `highest` is the code of the largest finite number, `beyond` of what
// larger numbers become.
struct small_format {
  int fraction_bits, bias;
  std::uint32_t sign, highest, infinity, beyond, nan;
};
constexpr std::uint32_t no_infinity = 0xffff;
constexpr small_format half{10, 15, 0x8000, 0x7bff, 0x7c00, 0x7c00, 0x7fff};
constexpr small_format bfloat{7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7f80, 0x7fff};
constexpr small_format e4m3{3, 7, 0x80, 0x7e, no_infinity, 0x7e, 0x7f};
constexpr small_format e5m2{2, 15, 0x80, 0x7b, 0x7c, 0x7b, 0x7f};

const small_format* small_format_of(data_type type) noexcept {
  switch (type) {
    case data_type::float16:
      return &half;
    case data_type::bfloat16:
      return &bfloat;
    case data_type::float8e4m3:
      return &e4m3;
    case data_type::float8e5m2:
      return &e5m2;
    default:
      return nullptr;
  }
}

float decoded(const small_format& f, std::uint32_t code) noexcept {
  const std::uint32_t magnitude = code & (f.sign - 1);
  float value;
  if (magnitude > f.highest) {
    value = magnitude == f.infinity ? INFINITY : NAN;
  } else {
    value = std::bit_cast<float>(magnitude << (23 - f.fraction_bits));
    value *= std::ldexp(1.0f, 127 - f.bias);  // exact, also for subnormal numbers
  }
  return code & f.sign ? -value : value;
}

std::uint32_t encoded(const small_format& f, float value) noexcept {
  if (std::isnan(value)) return f.nan;
  const std::uint32_t sign = std::signbit(value) ? f.sign : 0;
  const double magnitude = std::fabs(double{value});
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | f.beyond;
  const int exponent = std::max(std::ilogb(magnitude), 1 - f.bias);
  // The host rounds to nearest even. The hidden bit adds one to the exponent below.
  const double scaled = std::nearbyint(std::ldexp(magnitude, f.fraction_bits - exponent));
  const double code = std::ldexp(exponent + f.bias - 1, f.fraction_bits) + scaled;
  return sign | (code > f.highest ? f.beyond : static_cast<std::uint32_t>(code));
}

template <class Element, class Value>
void widen(const unsigned char* from, std::size_t count, Value* to) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    Element element;
    std::memcpy(&element, from + i * sizeof element, sizeof element);
    to[i] = static_cast<Value>(element);
  }
}

template <class Element, class Value>
void narrow(const Value* from, std::size_t count, unsigned char* to) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const auto element = static_cast<Element>(from[i]);
    std::memcpy(to + i * sizeof element, &element, sizeof element);
  }
}

bool is_unsigned_64(data_type type) noexcept { return type == data_type::uint64; }

// Calls `body` with the array of `values` that the type uses.
template <class Body>
void with_family(data_type type, value_block& values, const value_block& operands, Body&& body) {
  if (type == data_type::float64) return body(values.doubles, operands.doubles);
  if (type == data_type::float32 || small_format_of(type))
    return body(values.floats, operands.floats);
  if (is_unsigned_64(type)) {
    return body(reinterpret_cast<std::uint64_t*>(values.integers),
                reinterpret_cast<const std::uint64_t*>(operands.integers));
  }
  body(values.integers, operands.integers);
}

// Integers wrap around.
template <class Value>
auto wrapping(Value value) noexcept {
  if constexpr (std::is_integral_v<Value>) {
    return static_cast<std::uint64_t>(value);
  } else {
    return value;
  }
}

// A NaN yields to a number, as in fmin and fmax.
template <class Value>
Value combined(reduction operation, Value a, Value b) noexcept {
  switch (operation) {
    case reduction::prod:
      return static_cast<Value>(wrapping(a) * wrapping(b));
    case reduction::max:
      return a != a || b > a ? b : a;
    case reduction::min:
      return a != a || b < a ? b : a;
    default:
      return static_cast<Value>(wrapping(a) + wrapping(b));
  }
}

// Returns the value that the type's own width holds.
void truncate(data_type type, std::size_t count, value_block& values) noexcept {
  if (type >= data_type::float16) return;
  unsigned char bytes[sizeof(value_block)];
  store_values(type, values, count, bytes);
  load_values(type, bytes, count, values);
}

}  // namespace

void load_values(data_type type, const unsigned char* from, std::size_t count, value_block& to) {
  switch (type) {
    case data_type::int8:
      return widen<std::int8_t>(from, count, to.integers);
    case data_type::uint8:
      return widen<std::uint8_t>(from, count, to.integers);
    case data_type::int32:
      return widen<std::int32_t>(from, count, to.integers);
    case data_type::uint32:
      return widen<std::uint32_t>(from, count, to.integers);
    case data_type::int64:
    case data_type::uint64:
    case data_type::float64:
    case data_type::float32:
      std::memcpy(&to, from, count * size_of(type));
      return;
    default:
      break;
  }
  const auto& f = *small_format_of(type);
  const bool is_byte = size_of(type) == 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t code = from[i];
    if (!is_byte) std::memcpy(&code, from + 2 * i, 2);
    to.floats[i] = decoded(f, code);
  }
}

void store_values(data_type type, const value_block& from, std::size_t count, unsigned char* to) {
  if (const auto* f = small_format_of(type)) {
    const auto bytes = size_of(type);
    for (std::size_t i = 0; i < count; ++i) {
      const auto code = static_cast<std::uint16_t>(encoded(*f, from.floats[i]));
      std::memcpy(to + bytes * i, &code, bytes);  // little-endian
    }
    return;
  }
  switch (size_of(type)) {
    case 1:
      return narrow<std::uint8_t>(from.integers, count, to);
    case 4:
      if (type == data_type::float32) break;
      return narrow<std::uint32_t>(from.integers, count, to);
    default:
      break;
  }
  std::memcpy(to, &from, count * size_of(type));
}

void combine_values(data_type type, reduction operation, const value_block& other,
                    std::size_t count, value_block& sum) {
  with_family(type, sum, other, [&](auto* values, const auto* operands) {
    for (std::size_t i = 0; i < count; ++i) values[i] = combined(operation, values[i], operands[i]);
  });
}

void divide_values(data_type type, int divisor, std::size_t count, value_block& values) {
  truncate(type, count, values);
  with_family(type, values, values, [&](auto* each, const auto*) {
    using value = std::remove_reference_t<decltype(*each)>;
    for (std::size_t i = 0; i < count; ++i) each[i] /= static_cast<value>(divisor);
  });
}

void scale_values(data_type type, const value_block& scalar, std::size_t count,
                  value_block& values) {
  with_family(type, values, scalar, [&](auto* each, const auto* factor) {
    const auto first = *factor;
    for (std::size_t i = 0; i < count; ++i) each[i] = combined(reduction::prod, each[i], first);
  });
}

}  // namespace halfwarp::emulated_nccl
