// SPDX-License-Identifier: Apache-2.0
// Conversions between floats and the formats tf32, fp8, fp6, fp4, ue8m0 and s2f6.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "emulator/exec/each_lane.hpp"
#include "emulator/exec/lanes/half.hpp"
#include "emulator/exec/scalar/scalar.hpp"

namespace halfwarp::emulator::exec {
namespace {

// `highest` is the code of the largest finite number. Only e5m2 has an infinity.
struct format {
  int fraction_bits, bias, bits;
  std::uint32_t highest, nan;
};
constexpr format formats[] = {
    {3, 7, 8, 0x7e, 0x7f},        {2, 15, 8, 0x7b, 0x7f},       {3, 1, 6, 0x1f, 0x1f},
    {2, 3, 6, 0x1f, 0x1f},        {1, 1, 4, 0x07, 0x07},        {0, 127, 8, 0xfe, 0xff},
    {10, 15, 16, 0x7bff, 0x7fff}, {7, 127, 16, 0x7f7f, 0x7fff}, {6, 0, 8, 0x7f, 0x7f},
};

// Random bits for the rounding of one number: they are added below the last bit, which truncates.
struct random_bits {
  std::uint32_t value;
  int count;
  std::uint32_t overflow;  // the code of a number beyond the largest finite one
};

const format& format_of(small_format name) { return formats[static_cast<std::int64_t>(name)]; }

// Returns the exponent of the magnitude, rounded up or toward zero.
std::uint32_t exponent_code(float value, bool is_up, bool is_finite) {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7fff'ffff;
  if (magnitude > 0x7f80'0000) return 0xff;
  const std::uint32_t field = magnitude >> 23, fraction = magnitude & 0x7f'ffff;
  constexpr std::uint32_t lowest = 0x40'0000;  // 2^-127, a subnormal float
  const bool rounds_up = is_up && (field ? fraction != 0 : fraction > lowest);
  return std::min(field + rounds_up, is_finite ? 0xfeu : 0xffu);
}

double stochastic(double value, random_bits random) {
  const double whole = std::floor(value), unit = std::ldexp(1.0, random.count);
  return whole + (std::floor((value - whole) * unit) + random.value >= unit);
}

// Rounds with random bits.
std::uint32_t small_of(const format& f, float value, bool is_relu, random_bits random) {
  if (std::isnan(value)) return f.nan;
  const bool is_negative = std::signbit(value);
  if (is_negative && is_relu) return 0;
  const std::uint32_t sign = is_negative ? 1u << (f.bits - 1) : 0;
  const double magnitude = std::fabs(double{value});
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | random.overflow;
  const int exponent = std::max(std::ilogb(magnitude), 1 - f.bias);
  // The hidden bit adds one to the exponent below.
  const double scaled = stochastic(std::ldexp(magnitude, f.fraction_bits - exponent), random);
  const double code = std::ldexp(exponent + f.bias - 1, f.fraction_bits) + scaled;
  return sign | (code > f.highest ? random.overflow : static_cast<std::uint32_t>(code));
}

// Four lanes: the loops over them stay vectors where files are compiled for size.
typedef std::uint32_t words __attribute__((vector_size(16)));
typedef std::int32_t signed_words __attribute__((vector_size(16)));
typedef float floats __attribute__((vector_size(16)));
constexpr int in_vector = 4;

// Rounds to nearest even. A number beyond the largest finite one becomes the largest.
words small_of(const format& f, words raw, bool is_relu) {
  constexpr int float_bits = 23, float_bias = 127;
  const auto magnitude = reinterpret_cast<signed_words>(raw & 0x7fff'ffff);
  // An addition of this power of two rounds a subnormal number, whose unit becomes the last bit.
  const int power = float_bits + float_bias + 1 - f.bias - f.fraction_bits;
  const signed_words unit = signed_words{} + (power << float_bits);
  const auto sum = reinterpret_cast<floats>(magnitude) + reinterpret_cast<floats>(unit);
  const int dropped = float_bits - f.fraction_bits;
  const signed_words half = (magnitude >> dropped & 1) + ((1 << (dropped - 1)) - 1);
  const signed_words normal =
      ((magnitude + half) >> dropped) - ((float_bias - f.bias) << f.fraction_bits);
  const signed_words least = signed_words{} + ((float_bias + 1 - f.bias) << float_bits);
  signed_words code = magnitude < least ? reinterpret_cast<signed_words>(sum) - unit : normal;
  const signed_words highest = signed_words{} + static_cast<std::int32_t>(f.highest);
  code = code > highest ? highest : code;
  const words sign = raw >> 31;
  const words finite = is_relu ? reinterpret_cast<words>(code) & (sign - 1)
                               : reinterpret_cast<words>(code) | sign << (f.bits - 1);
  return magnitude > 0x7f80'0000 ? words{} + f.nan : finite;
}

// Returns a power of two.
double scale_of(std::uint32_t code) {
  return code == 0xff ? std::nan("") : std::ldexp(1.0, static_cast<int>(code) - 127);
}

// A fixed-point number in two's complement. NaN becomes the largest.
std::uint32_t fixed_of(double value, bool is_relu) {
  constexpr double unit = 64;
  if (std::isnan(value)) return 0x7f;
  const double lowest = is_relu ? 0 : -128;
  const double units = std::min(std::max(std::nearbyint(value * unit), lowest), 127.0);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(units)) & 0xff;
}

double number_of(small_format name, std::uint32_t code) {
  if (name == small_format::ue8m0) return scale_of(code);
  if (name == small_format::s2f6) return static_cast<std::int8_t>(code) / 64.0;
  const format& f = format_of(name);
  const std::uint32_t magnitude = code & ((1u << (f.bits - 1)) - 1);
  const double sign = code >> (f.bits - 1) & 1 ? -1 : 1;
  if (f.bits == 8 && magnitude > f.highest) {
    return f.bias == 7 || magnitude > 0x7c ? std::nan("") : sign * INFINITY;
  }
  const int field = static_cast<int>(magnitude >> f.fraction_bits);
  const std::uint32_t fraction = magnitude & ((1u << f.fraction_bits) - 1);
  const std::uint32_t significand = field ? fraction | 1u << f.fraction_bits : fraction;
  return sign * std::ldexp(significand, (field ? field : 1) - f.bias - f.fraction_bits);
}

std::uint32_t scale_byte(warp& w, const instruction& instr, int operand, int lane, int shift) {
  return w.at<std::uint16_t>(instr.operand[static_cast<std::size_t>(operand)])[lane] >> shift &
         0xff;
}

// Returns the high or low float of a source.
float source_of(warp& w, const instruction& instr, int lane, bool is_high) {
  const std::uint32_t bits = w.at<std::uint32_t>(instr.operand[is_high ? 1 : 2])[lane];
  const std::uint32_t shift = is_high ? 16 : 0;
  switch (static_cast<pair_type>(instr.target)) {
    case pair_type::f16:
      return baseline::half::to_float(static_cast<std::uint16_t>(bits >> shift));
    case pair_type::bf16:
      return std::bit_cast<float>(bits >> shift << 16);
    default:
      return std::bit_cast<float>(bits);
  }
}

// Returns the high or low floats of a source, of lanes from `lane` on.
words sources_of(warp& w, const instruction& instr, int lane, bool is_high) {
  words bits;
  std::memcpy(&bits, w.at<std::uint32_t>(instr.operand[is_high ? 1 : 2]) + lane, sizeof bits);
  const auto type = static_cast<pair_type>(instr.target);
  if (type == pair_type::f32) return bits;
  const words upper = is_high ? bits & 0xffff'0000 : bits << 16;
  if (type == pair_type::bf16) return upper;
  const words magnitude = (upper & 0x7fff'0000) >> 3;
  const auto finite = reinterpret_cast<words>(reinterpret_cast<floats>(magnitude) * 0x1p112f);
  const auto special = reinterpret_cast<signed_words>(magnitude) >= 0x7c00 << 13;
  return (upper & 0x8000'0000) | (special ? magnitude | 0x7f80'0000 : finite);
}

// Stores pairs of numbers: each number in a byte, or both in one byte if they have 4 bits.
void store_pairs(warp& w, const instruction& instr, const format& f, const std::uint32_t* pairs) {
  if (f.bits == 4) {
    store_lanes(w.active, w.at<std::uint8_t>(instr.operand[0]), pairs);
  } else {
    store_lanes(w.active, w.at<std::uint16_t>(instr.operand[0]), pairs);
  }
}

}  // namespace

void run_small_from_pair(warp& w, const instruction& instr) {
  const small_format name{instr.immediate};
  const format& f = format_of(name);
  const bool is_relu = instr.flags & float_flag::relu;
  const bool is_up = (instr.flags & float_flag::rounding) == 3;
  const auto convert = [&](int l, bool is_high) {
    const float value = source_of(w, instr, l, is_high);
    if (name == small_format::ue8m0) {
      return exponent_code(value, is_up, instr.flags & float_flag::satfinite);
    }
    return fixed_of(value / scale_of(scale_byte(w, instr, 3, l, is_high ? 8 : 0)), is_relu);
  };
  std::uint32_t pairs[warp_size];
  if (name == small_format::ue8m0 || name == small_format::s2f6) {
    for_each_lane(w.active, [&](int l) { pairs[l] = convert(l, true) << 8 | convert(l, false); });
  } else {
    for (int l = 0; l < warp_size; l += in_vector) {
      const words high = small_of(f, sources_of(w, instr, l, true), is_relu);
      const words low = small_of(f, sources_of(w, instr, l, false), is_relu);
      const words both = high << (f.bits == 4 ? 4 : 8) | low;
      std::memcpy(pairs + l, &both, sizeof both);
    }
  }
  store_pairs(w, instr, f, pairs);
}

namespace {

std::uint32_t reversed(std::uint32_t half) {
  std::uint32_t result = 0;
  for (int n = 0; n < 16; ++n) result |= (half >> n & 1) << (15 - n);
  return result;
}

// Two numbers use halves of the random bits. Four use each half twice, first in reverse order.
random_bits bits_for(const format& f, std::uint32_t random, std::uint32_t number,
                     std::uint32_t overflow) {
  const bool is_pair = f.bits == 16;
  const bool is_low = is_pair ? number : number / 2;
  std::uint32_t half = is_low ? random & 0xffff : random >> 16;
  if (f.bits == 4) {  // bytes 3 and 1, then 2 and 0
    const std::uint32_t bytes = is_low ? random : random >> 8;
    half = (bytes >> 8 & 0xff00) | (bytes & 0xff);
  }
  if (!is_pair) return {number % 2 ? half : reversed(half), 16, overflow};
  const int count = std::min(23 - f.fraction_bits, 16);
  return {half & ((1u << count) - 1), count, overflow};
}

}  // namespace

void run_stochastic(warp& w, const instruction& instr) {
  const format& f = format_of(small_format{instr.immediate});
  const bool is_relu = instr.flags & float_flag::relu, is_pair = f.bits == 16;
  const bool has_infinity = is_pair && !(instr.flags & float_flag::satfinite);
  const std::uint32_t overflow = f.highest + has_infinity;
  const operand_slot sources[] = {instr.operand[2], instr.operand[3], instr.operand[4],
                                  static_cast<operand_slot>(instr.target)};
  const int step = f.bits == 4 ? 4 : is_pair ? 16 : 8;
  for_each_lane(w.active, [&](int l) {
    std::uint32_t word = 0;
    for (std::uint32_t n = 0; n < (is_pair ? 2u : 4u); ++n) {
      const float value = w.at<float>(sources[n])[l];
      const random_bits random = bits_for(f, w.at<std::uint32_t>(instr.operand[1])[l], n, overflow);
      word = word << step | small_of(f, value, is_relu, random);
    }
    if (f.bits == 4) {
      w.at<std::uint16_t>(instr.operand[0])[l] = static_cast<std::uint16_t>(word);
    } else {
      w.at<std::uint32_t>(instr.operand[0])[l] = word;
    }
  });
}

void run_clear_outside(warp& w, const instruction& instr) {
  const int elements = instr.immediate == 32 ? 2 : 1;
  const auto is_outside = [&](operand_slot factor, int n) {
    return (w.at<std::uint16_t>(factor)[n] & 0x7fff) == outside_nan;
  };
  for_each_lane(w.active, [&](int l) {
    for (int n = l * elements; n < (l + 1) * elements; ++n) {
      if (!is_outside(instr.operand[1], n) && !is_outside(instr.operand[2], n)) continue;
      w.at<std::uint16_t>(instr.operand[0])[n] = 0;
    }
  });
}

namespace {

std::uint32_t rounded_pair_half(double value, bool is_bfloat) {
  return is_bfloat ? baseline::rounded_to<baseline::bfloat>(value, baseline::to_nearest)
                   : baseline::rounded_to<baseline::half>(value, baseline::to_nearest);
}

// The numbers of all codes of a format as f16 or bf16, in this order.
using expanded_codes = std::array<std::array<std::uint16_t, 256>, 2>;

const expanded_codes& expanded(small_format name) {
  static const auto all = [] {
    std::array<expanded_codes, std::size(formats)> result{};
    for (std::size_t n = 0; n < std::size(formats); ++n) {
      if (formats[n].bits > 8) continue;
      for (std::uint32_t code = 0; code < 1u << formats[n].bits; ++code) {
        const double value = number_of(static_cast<small_format>(n), code);
        for (const bool is_bfloat : {false, true}) {
          const std::uint32_t rounded = rounded_pair_half(value, is_bfloat);
          result[n][is_bfloat][code] = static_cast<std::uint16_t>(rounded);
        }
      }
    }
    return result;
  }();
  return all[static_cast<std::size_t>(name)];
}

}  // namespace

void run_pair_from_small(warp& w, const instruction& instr) {
  constexpr std::uint32_t no_scales = 0x7f7f;
  const small_format name{instr.immediate};
  const format& f = format_of(name);
  const bool is_bfloat = static_cast<pair_type>(instr.target) == pair_type::bf16;
  const bool is_relu = instr.flags & float_flag::relu;
  const std::uint32_t infinity = is_bfloat ? 0x7f80 : 0x7c00;
  const bool is_limited = is_bfloat && instr.flags & float_flag::satfinite;
  const auto& codes = expanded(name)[is_bfloat];
  const auto convert = [&](std::uint32_t code, std::uint32_t scale) -> std::uint32_t {
    const std::uint32_t result =
        scale == (no_scales & 0xff)
            ? codes[code]
            : rounded_pair_half(number_of(name, code) * scale_of(scale), is_bfloat);
    const std::uint32_t magnitude = result & 0x7fff;
    if (is_relu && result >> 15 && magnitude <= infinity) return 0;
    return result - (is_limited && magnitude == infinity);
  };
  auto* to = w.at<std::uint32_t>(instr.operand[0]);
  const auto *from = w.at<std::uint16_t>(instr.operand[1]),
             *scales = w.at<std::uint16_t>(instr.operand[2]);
  const auto* packed = w.at<std::uint8_t>(instr.operand[1]);
  const bool is_packed = f.bits == 4;
  const int step = is_packed ? 4 : 8;
  const std::uint32_t mask = (1u << f.bits) - 1;
  for_each_lane(w.active, [&](int l) {
    const std::uint32_t pair = is_packed ? packed[l] : from[l];
    to[l] =
        convert(pair >> step & mask, scales[l] >> 8) << 16 | convert(pair & mask, scales[l] & 0xff);
  });
}

void run_tf32(warp& w, const instruction& instr) {
  constexpr std::uint32_t dropped = 0x1fff, nan = 0x7fff'e000;
  const bool is_relu = instr.flags & float_flag::relu;
  const auto rounding = tf32_rounding{instr.immediate};
  const auto convert = [&](std::uint32_t bits) -> std::uint32_t {
    const bool is_nan = (bits & 0x7fff'ffff) > 0x7f80'0000;
    if (is_nan) {
      const std::uint32_t truncated = bits & ~dropped;
      const bool keeps_payload =
          rounding == tf32_rounding::to_nearest_away && (truncated & 0x7f'ffff);
      return keeps_payload ? truncated : nan;
    }
    if (is_relu && bits >> 31) return 0;
    if (rounding == tf32_rounding::to_nearest_away && (bits & 0x7fff'ffff) != 0x7f80'0000)
      bits += 0x1000;
    if (rounding == tf32_rounding::to_nearest_even) bits = nearest_tf32(bits);
    const bool is_limited =
        instr.flags & float_flag::satfinite && (bits & 0x7fff'ffff) >= 0x7f80'0000;
    return is_limited ? (bits & 0x8000'0000) | 0x7f7f'e000 : bits & ~dropped;
  };
  auto* to = w.at<std::uint32_t>(instr.operand[0]);
  const auto* from = w.at<std::uint32_t>(instr.operand[1]);
  for_each_lane(w.active, [&](int l) { to[l] = convert(from[l]); });
}

}  // namespace halfwarp::emulator::exec
