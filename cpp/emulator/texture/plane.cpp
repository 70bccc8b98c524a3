// SPDX-License-Identifier: Apache-2.0
#include "emulator/texture/plane.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/texture/axis.hpp"

namespace halfwarp::emulator::texture {
namespace {

// Each lane of a vector computes what `axis` computes. Functions with vectors are inlined into one
// function, which has the instruction set.
typedef float floats __attribute__((vector_size(16)));
typedef std::int32_t integers __attribute__((vector_size(16)));
typedef double doubles __attribute__((vector_size(32)));
#pragma GCC diagnostic ignored "-Wpsabi"  // no call passes a vector
constexpr int per_vector = 4, warp_lanes = 32;
#define HALFWARP_INLINE [[gnu::always_inline]] inline

// The largest extent with exact positions.
constexpr std::uint32_t most_elements = 1 << 17;

bool is_filtered(const binding& source) noexcept {
  return source.descriptor.filterMode == CU_TR_FILTER_MODE_LINEAR;
}

// Rounds down numbers whose magnitude is less than 2^51.
HALFWARP_INLINE doubles rounded_down(doubles value) noexcept {
  constexpr double no_fraction = 6755399441055744.0;
  const doubles nearest = (value + no_fraction) - no_fraction;
  return nearest > value ? nearest - 1.0 : nearest;
}

template <class T>
struct alignas(64) lanes_of {
  T lane[warp_lanes];
};

// Coordinates from here on are even integers.
constexpr float even = 16777216.0f;

// The elements that a filter selects along an axis, negative where they are outside.
struct axis_taps {
  lanes_of<std::int32_t> first, second;
  lanes_of<float> weight;  // of the second, times `whole`
};

class vector_axis {
 public:
  vector_axis(const binding& source, int number, std::uint32_t extent) noexcept
      : extent_{static_cast<double>(extent)},
        mode_{source.descriptor.addressMode[number]},
        is_normalized_{source.is_normalized()} {}

  HALFWARP_INLINE void find(const float* coordinates, bool mixes, axis_taps& taps) const noexcept {
    for (int l = 0; l < warp_lanes; l += per_vector) {
      const doubles at = place(coordinates + l);
      if (!mixes) {
        store(addressed(rounded_down(at)), taps.first, l);
        continue;
      }
      const doubles fixed = rounded_down((at - 0.5) * static_cast<double>(whole) + 0.5);
      const doubles index = rounded_down(fixed / static_cast<double>(whole));
      store(addressed(index), taps.first, l);
      store(addressed(index + 1.0), taps.second, l);
      const floats weight =
          __builtin_convertvector(fixed - index * static_cast<double>(whole), floats);
      std::memcpy(taps.weight.lane + l, &weight, sizeof weight);
    }
  }

 private:
  HALFWARP_INLINE static void store(doubles from, lanes_of<std::int32_t>& to, int lane) noexcept {
    const integers values = __builtin_convertvector(from, integers);
    std::memcpy(to.lane + lane, &values, sizeof values);
  }

  // From `even` on, places are integers outside of an image, or the start of a period.
  HALFWARP_INLINE doubles place(const float* coordinates) const noexcept {
    floats value;
    std::memcpy(&value, coordinates, sizeof value);
    value = value == value ? value : floats{};
    value = value < -even ? floats{} - even : value;
    value = value > even ? floats{} + even : value;
    const doubles at = __builtin_convertvector(value, doubles);
    return is_normalized_ ? bounded(normalized(at) * extent_) : at;
  }

  HALFWARP_INLINE static doubles bounded(doubles value) noexcept {
    value = value < -far_away ? doubles{} - far_away : value;
    return value > far_away ? doubles{} + far_away : value;
  }

  HALFWARP_INLINE doubles normalized(doubles coordinate) const noexcept {
    const doubles at = rounded_down(coordinate * coordinate_steps) / coordinate_steps;
    if (mode_ == CU_TR_ADDRESS_MODE_WRAP) return at - rounded_down(at);
    if (mode_ != CU_TR_ADDRESS_MODE_MIRROR) return at;
    const doubles in_period = at - rounded_down(at / 2.0) * 2.0;
    return in_period < 1.0 ? in_period : 2.0 - in_period;
  }

  // A place in a period is at most one element outside. A mirror has the last element there.
  HALFWARP_INLINE doubles addressed(doubles index) const noexcept {
    const doubles last = doubles{} + (extent_ - 1.0);
    if (mode_ == CU_TR_ADDRESS_MODE_BORDER) {
      return (index < 0.0) | (index > last) ? doubles{} - 1.0 : index;
    }
    if (mode_ == CU_TR_ADDRESS_MODE_WRAP && is_normalized_) {
      index = index < 0.0 ? index + extent_ : index;
      return index > last ? index - extent_ : index;
    }
    index = index < 0.0 ? doubles{} : index;
    return index > last ? last : index;
  }

  double extent_;
  CUaddress_mode mode_;
  bool is_normalized_;
};

class plane {
 public:
  plane(const binding& source, const std::byte* bytes) noexcept
      : origin_{bytes + source.image.levels[0].offset},
        row_pitch_{static_cast<std::int64_t>(source.image.levels[0].row_pitch)},
        border_{std::bit_cast<std::uint32_t>(source.descriptor.borderColor[0])} {}

  HALFWARP_INLINE void load(const lanes_of<std::int32_t>& columns,
                            const lanes_of<std::int32_t>& rows, std::uint32_t* to) const noexcept {
#pragma GCC unroll 1
    for (int l = 0; l < warp_lanes; ++l) {
      const std::int64_t column = columns.lane[l], row = rows.lane[l];
      std::uint32_t value = border_;
      if ((column | row) >= 0) std::memcpy(&value, origin_ + row * row_pitch_ + 4 * column, 4);
      to[l] = value;
    }
  }

  HALFWARP_INLINE void mix(const axis_taps& x, const axis_taps& y,
                           std::uint32_t* to) const noexcept {
    lanes_of<float> sum, shares;
    for (int l = 0; l < warp_lanes; l += per_vector) put(floats{}, sum, l);
#pragma GCC unroll 1
    for (int tap = 0; tap < 4; ++tap) {
      integers used{};
      for (int l = 0; l < warp_lanes; l += per_vector) {
        const floats share = share_of_tap(tap, vector_at(x.weight, l), vector_at(y.weight, l));
        put(share, shares, l);
        used |= share != 0.0f;
      }
      if ((used[0] | used[1] | used[2] | used[3]) == 0) continue;
      add(tap & 1 ? x.second : x.first, tap & 2 ? y.second : y.first, shares, sum);
    }
    std::memcpy(to, sum.lane, sizeof sum);
  }

 private:
  HALFWARP_INLINE static floats vector_at(const lanes_of<float>& from, int lane) noexcept {
    floats result;
    std::memcpy(&result, from.lane + lane, sizeof result);
    return result;
  }
  HALFWARP_INLINE static void put(floats from, lanes_of<float>& to, int lane) noexcept {
    std::memcpy(to.lane + lane, &from, sizeof from);
  }

  // Weights are integers here, so that these sums are exact.
  HALFWARP_INLINE static floats share_of_tap(int tap, floats right, floats lower) noexcept {
    constexpr float unit = whole;
    const floats product = (right * lower + unit / 2) / unit;
    const floats both = __builtin_convertvector(__builtin_convertvector(product, integers), floats);
    switch (tap) {
      case 0:
        return unit - right - lower + both;
      case 1:
        return right - both;
      case 2:
        return lower - both;
      default:
        return both;
    }
  }

  HALFWARP_INLINE void add(const lanes_of<std::int32_t>& columns,
                           const lanes_of<std::int32_t>& rows, const lanes_of<float>& shares,
                           lanes_of<float>& sum) const noexcept {
    lanes_of<std::uint32_t> bits;
    load(columns, rows, bits.lane);
    for (int l = 0; l < warp_lanes; l += per_vector) {
      floats value;
      std::memcpy(&value, bits.lane + l, sizeof value);
      const floats share = vector_at(shares, l), old = vector_at(sum, l);
      const floats with = old + share / static_cast<float>(whole) * value;
      put(share == 0.0f ? old : with, sum, l);  // an unused element may be infinite
    }
  }

  const std::byte* origin_;
  std::int64_t row_pitch_;
  std::uint32_t border_;
};

// Without AVX2, each lane fetches for itself.
#ifdef __x86_64__
#define HALFWARP_WIDE [[gnu::target("avx2")]]
bool has_vectors() noexcept { return __builtin_cpu_supports("avx2"); }
#else
#define HALFWARP_WIDE
constexpr bool has_vectors() noexcept { return true; }
#endif

}  // namespace

bool is_plain(const binding& source) noexcept {
  const image& image = source.image;
  const texel_format& format = image.format;
  return has_vectors() && image.kind != image_kind::linear && image.levels.size() == 1 &&
         format.channels == 1 && format.component_bytes() == 4 &&
         std::max(image.levels[0].width, image.levels[0].height) <= most_elements &&
         (format.type == CU_AD_FORMAT_FLOAT || !is_filtered(source));
}

bool are_equal(std::uint32_t lanes, const std::uint64_t* values) noexcept {
  const std::uint64_t first = values[std::countr_zero(lanes)];
  std::uint64_t differences = 0;
  for (int l = 0; l < warp_lanes; ++l) {
    differences |= (values[l] ^ first) & -std::uint64_t{lanes >> l & 1};
  }
  return differences == 0;
}

HALFWARP_WIDE void fetch_plane(const binding& source, const std::byte* bytes, const float* x,
                               const float* y, std::uint32_t* to) noexcept {
  const plane from{source, bytes};
  const image_level& level = source.image.levels[0];
  const bool mixes = is_filtered(source);
  axis_taps columns, rows;
  vector_axis{source, 0, level.width}.find(x, mixes, columns);
  vector_axis{source, 1, level.height}.find(y, mixes, rows);
  mixes ? from.mix(columns, rows, to) : from.load(columns.first, rows.first, to);
}

}  // namespace halfwarp::emulator::texture
