// SPDX-License-Identifier: Apache-2.0
// An axis of an image turns coordinates into elements and weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "emulator/texture/binding.hpp"

namespace halfwarp::emulator::texture {

// Filter weights are fixed-point numbers with 8 fractional bits; `whole` is 1.0.
inline constexpr std::int64_t whole = 256;
// Coordinates are clamped to this magnitude, an even number outside of every image.
inline constexpr double far_away = 1073741824.0;
// The precision of a normalized coordinate on a device: values just below 0.2 stay below it.
inline constexpr double coordinate_steps = 8388608.0;
inline constexpr std::int64_t outside = -1;

// Rounds down a number of less than 63 bits. std::floor is a call unless the target has an
// instruction for it, and a branch on the fraction would be mispredicted.
[[gnu::always_inline]] inline std::int64_t floor_of(double value) noexcept {
  const auto truncated = static_cast<std::int64_t>(value);
  return truncated - (static_cast<double>(truncated) > value);
}

inline double bounded(double value) noexcept {
  return std::isnan(value) ? 0.0 : std::clamp(value, -far_away, far_away);
}

inline std::int64_t fixed_point(double value) noexcept { return floor_of(value * whole + 0.5); }

// Multiplies two weights and rounds the product to a weight.
constexpr std::int64_t share_of(std::int64_t weight, std::int64_t part) noexcept {
  return (weight * part + whole / 2) / whole;
}

// Two adjacent elements along one axis, and the weight of the second.
struct taps {
  std::int64_t first, second;
  std::int64_t weight;  // in units of 1/256
};

class axis {
 public:
  axis(const binding& source, int number, std::int64_t extent) noexcept
      : extent_{extent},
        requested_{source.descriptor.addressMode[number]},
        is_normalized_{source.is_normalized()} {}

  // The extent of a face of a cube, beyond which a filter clamps.
  explicit axis(std::int64_t extent) noexcept : extent_{extent} {}

  // Returns a coordinate in elements.
  double place(float coordinate) const noexcept {
    const double at = bounded(static_cast<double>(coordinate));
    return is_normalized_ ? bounded(normalized(at) * static_cast<double>(extent_)) : at;
  }

  // Returns the element at a place, or `outside`.
  std::int64_t element_at(double place) const noexcept { return addressed(floor_of(place)); }

  // Returns what a linear filter mixes at a place.
  taps taps_at(double place) const noexcept {
    const std::int64_t fixed = fixed_point(place - 0.5);
    const std::int64_t index = fixed >> 8;
    return {addressed(index), addressed(index + 1), fixed & (whole - 1)};
  }

 private:
  bool is_periodic() const noexcept {
    return requested_ == CU_TR_ADDRESS_MODE_WRAP || requested_ == CU_TR_ADDRESS_MODE_MIRROR;
  }

  // Reduces a normalized coordinate to the first period of a periodic address mode.
  double normalized(double coordinate) const noexcept {
    const double at =
        static_cast<double>(floor_of(coordinate * coordinate_steps)) / coordinate_steps;
    if (!is_periodic()) return at;
    if (requested_ == CU_TR_ADDRESS_MODE_WRAP) return at - static_cast<double>(floor_of(at));
    const double place = at - static_cast<double>(2 * floor_of(at / 2));
    return std::min(place, 2 - place);
  }

  // Returns the element for an index, or `outside`. Wrap and mirror need normalized coordinates;
  // otherwise a device clamps.
  std::int64_t addressed(std::int64_t index) const noexcept {
    if (index >= 0 && index < extent_) return index;
    if (requested_ == CU_TR_ADDRESS_MODE_BORDER) return outside;
    if (!is_periodic() || !is_normalized_) return std::clamp<std::int64_t>(index, 0, extent_ - 1);
    if (requested_ == CU_TR_ADDRESS_MODE_WRAP) return (index % extent_ + extent_) % extent_;
    const std::int64_t place = (index % (2 * extent_) + 2 * extent_) % (2 * extent_);
    return std::min(place, 2 * extent_ - 1 - place);
  }

  std::int64_t extent_;
  CUaddress_mode requested_ = CU_TR_ADDRESS_MODE_CLAMP;
  bool is_normalized_ = false;
};

}  // namespace halfwarp::emulator::texture
