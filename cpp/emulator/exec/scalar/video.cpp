// SPDX-License-Identifier: Apache-2.0
// Computes video instructions exactly in wide integers, then clamps, accumulates or merges.
#include "emulator/exec/scalar/video.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "emulator/exec/each_lane.hpp"

namespace halfwarp::emulator::exec {
namespace {

using wide = __int128;
typedef std::int32_t lanes_of_four __attribute__((vector_size(16)));
typedef std::uint32_t unsigned_four __attribute__((vector_size(16)));

struct range {
  wide low, high;
};

range range_of(int bits, bool is_signed) {
  const wide one = 1;
  if (is_signed) return {-(one << (bits - 1)), (one << (bits - 1)) - 1};
  return {0, (one << bits) - 1};
}

wide extended(std::uint32_t value, int bits, bool is_signed) {
  const std::uint32_t low = bits == 32 ? value : value & ((1u << bits) - 1);
  const bool is_negative = is_signed && (low >> (bits - 1) & 1);
  return is_negative ? wide{low} - (wide{1} << bits) : wide{low};
}

int bits_of_part(std::uint16_t part) {
  return part == video_part::whole ? 32 : part < video_part::first_half ? 8 : 16;
}
int shift_of_part(std::uint16_t part) {
  if (part == video_part::whole) return 0;
  return part < video_part::first_half ? 8 * (part - video_part::first_byte)
                                       : 16 * (part - video_part::first_half);
}

// The result of a comparison, which is -1 in the lanes of a vector.
template <class T>
T truth(T condition) {
  if constexpr (std::is_same_v<T, lanes_of_four>) return -condition;
  return condition;
}

template <class T>
T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T larger(T a, T b) {
  return a > b ? a : b;
}

// Computes all operations but shifts and products.
template <class T>
T compute(video_operation operation, T a, T b) {
  switch (operation) {
    case video_operation::add:
      return a + b;
    case video_operation::sub:
      return a - b;
    case video_operation::absdiff:
      return a > b ? a - b : b - a;
    case video_operation::min:
      return smaller(a, b);
    case video_operation::max:
      return larger(a, b);
    case video_operation::average:
      return (a + b + truth<T>(a + b >= 0)) >> 1;
    case video_operation::eq:
      return truth<T>(a == b);
    case video_operation::ne:
      return truth<T>(a != b);
    case video_operation::lt:
      return truth<T>(a < b);
    case video_operation::le:
      return truth<T>(a <= b);
    case video_operation::gt:
      return truth<T>(a > b);
    case video_operation::ge:
      return truth<T>(a >= b);
    default:
      return T{};
  }
}

wide computed(const video_form& form, wide a, wide b) {
  const auto amount =
      static_cast<int>(form.flags & video_flag::wraps ? b & 31 : std::min<wide>(b, 32));
  switch (form.operation) {
    case video_operation::shift_left:
      return a << amount;
    case video_operation::shift_right:
      return a >> amount;
    case video_operation::multiply_add:
      return a * b;
    default:
      return compute(form.operation, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
  }
}

wide clamped(wide value, int bits, bool is_signed) {
  const range limits = range_of(bits, is_signed);
  return std::clamp(value, limits.low, limits.high);
}

// An intermediate result has 33 bits.
wide truncated(wide value) {
  const wide low = value & ((wide{1} << 33) - 1);
  return low >> 32 & 1 ? low - (wide{1} << 33) : low;
}

std::uint32_t multiplied(const video_form& form, std::uint16_t shift, wide product,
                         std::uint32_t c_bits) {
  const bool is_negated = form.flags & video_flag::negated_product;
  const bool negates_c = form.flags & video_flag::negated_c;
  const bool is_signed =
      (form.flags & (video_flag::signed_a | video_flag::signed_b)) || is_negated || negates_c;
  wide c = extended(c_bits, 32, is_signed);
  if (is_negated) product = -product;
  if (negates_c) c = -extended(c_bits, 32, true);
  wide result = product + c + ((form.flags & video_flag::plus_one) != 0);
  result >>= shift;
  if (form.flags & video_flag::saturates) result = clamped(result, 32, is_signed);
  return static_cast<std::uint32_t>(result);
}

std::uint32_t second(const video_form& form, std::uint32_t part, wide value, std::uint32_t c_bits) {
  const wide c = extended(c_bits, 32, form.flags & video_flag::signed_result);
  switch (form.second) {
    case video_second::add:
      return static_cast<std::uint32_t>(value + c);
    case video_second::min:
      return static_cast<std::uint32_t>(std::min(value, c));
    case video_second::max:
      return static_cast<std::uint32_t>(std::max(value, c));
    case video_second::merge: {
      const auto shift = shift_of_part(static_cast<std::uint16_t>(part));
      const std::uint32_t mask = ((1u << bits_of_part(static_cast<std::uint16_t>(part))) - 1)
                                 << shift;
      return (static_cast<std::uint32_t>(value) << shift & mask) | (c_bits & ~mask);
    }
    case video_second::none:
      break;
  }
  return static_cast<std::uint32_t>(value);
}

std::uint32_t scalar(const instruction& instr, const video_form& form, std::uint32_t a,
                     std::uint32_t b, std::uint32_t c) {
  const wide x =
      extended(a >> shift_of_part(form.a), bits_of_part(form.a), form.flags & video_flag::signed_a);
  const wide y =
      extended(b >> shift_of_part(form.b), bits_of_part(form.b), form.flags & video_flag::signed_b);
  wide value = computed(form, x, y);
  if (form.operation == video_operation::multiply_add) {
    return multiplied(form, instr.flags, value, c);
  }
  if (form.flags & video_flag::saturates) {
    value = clamped(value, bits_of_part(static_cast<std::uint16_t>(instr.target)),
                    form.flags & video_flag::signed_result);
  }
  return second(form, instr.target, truncated(value), c);
}

lanes_of_four loaded(const std::uint32_t* from) {
  lanes_of_four result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

// Computes elements of 8 or 16 bits, whose results are far from the limits of 32 bits.
lanes_of_four vector(const instruction& instr, const video_form& form, lanes_of_four a,
                     lanes_of_four b, lanes_of_four c) {
  const int bits = 32 / form.lanes, unused = 32 - bits;
  const auto element = [&](int number, bool is_signed) {
    const lanes_of_four high = (number < form.lanes ? a : b)
                               << (unused - number % form.lanes * bits);
    const auto raw = reinterpret_cast<unsigned_four>(high) >> unused;
    return is_signed ? high >> unused : reinterpret_cast<lanes_of_four>(raw);
  };
  const bool is_signed = form.flags & video_flag::signed_result;
  const auto limits = range_of(bits, is_signed);
  const auto low = lanes_of_four{} + static_cast<std::int32_t>(limits.low);
  const auto high = lanes_of_four{} + static_cast<std::int32_t>(limits.high);
  lanes_of_four result = c;
  for (int i = 0; i < form.lanes; ++i) {
    if (!(instr.target >> i & 1)) continue;
    lanes_of_four value =
        compute(form.operation, element(form.a >> 4 * i & 15, form.flags & video_flag::signed_a),
                element(form.b >> 4 * i & 15, form.flags & video_flag::signed_b));
    if (form.flags & video_flag::saturates) value = smaller(larger(value, low), high);
    if (form.second == video_second::add) {
      result += value;
      continue;
    }
    const auto mask = static_cast<std::int32_t>((1u << bits) - 1) << i * bits;
    result = (result & ~mask) | (value << i * bits & mask);
  }
  return result;
}

}  // namespace

void run_video(warp& w, const instruction& instr) {
  const auto form = std::bit_cast<video_form>(instr.immediate);
  const auto *a = w.at<std::uint32_t>(instr.operand[1]), *b = w.at<std::uint32_t>(instr.operand[2]),
             *c = w.at<std::uint32_t>(instr.operand[3]);
  auto* d = w.at<std::uint32_t>(instr.operand[0]);
  if (form.lanes == 1) {
    for_each_lane(w.active, [&](int l) { d[l] = scalar(instr, form, a[l], b[l], c[l]); });
    return;
  }
  std::uint32_t results[warp_size];
  for (int l = 0; l < warp_size; l += 4) {
    const lanes_of_four four = vector(instr, form, loaded(a + l), loaded(b + l), loaded(c + l));
    std::memcpy(results + l, &four, sizeof four);
  }
  store_lanes(w.active, d, results);
}

}  // namespace halfwarp::emulator::exec
