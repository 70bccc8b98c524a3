// SPDX-License-Identifier: Apache-2.0
// Reads numbers of any number of bits from the streams of a zstd block.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image::zstd {

// Thrown for data that violates the format.
struct damaged {};

inline void require(bool condition) {
  if (!condition) throw damaged{};
}

// Removes the first bytes of the data and returns them.
inline bytes take(bytes& data, std::uint64_t count) {
  require(count <= data.size());
  const bytes first = data.first(count);
  data = data.subspan(count);
  return first;
}

inline unsigned take_byte(bytes& data) { return std::to_integer<unsigned>(take(data, 1)[0]); }

inline unsigned highest_bit(std::uint64_t value) noexcept {
  return static_cast<unsigned>(std::bit_width(value)) - 1;
}

// Returns `count` bits at a position, the lowest bit first; bits outside of the data are 0.
inline std::uint64_t bits_at(bytes data, std::int64_t position, unsigned count) noexcept {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::int64_t at = position + i;
    const auto index = static_cast<std::uint64_t>(at) / 8;
    if (at < 0 || index >= data.size()) continue;
    const auto bit = std::to_integer<std::uint64_t>(data[index]) >> (at % 8) & 1;
    value |= bit << i;
  }
  return value;
}

// Reads from the first bit to the last.
class forward_bits {
 public:
  explicit forward_bits(bytes data) noexcept : data_{data} {}

  std::uint64_t read(unsigned count) {
    const std::uint64_t value = bits_at(data_, position_, count);
    position_ += count;
    require(bytes_read() <= data_.size());
    return value;
  }
  void rewind(unsigned count) noexcept { position_ -= count; }
  std::uint64_t bytes_read() const noexcept {
    return static_cast<std::uint64_t>(position_ + 7) / 8;
  }

 private:
  bytes data_;
  std::int64_t position_ = 0;
};

// Reads from the last bit to the first. The highest 1 of the last byte marks the end of the stream.
class backward_bits {
 public:
  explicit backward_bits(bytes data) : data_{data} {
    require(!data.empty() && data.back() != std::byte{0});
    const unsigned marker = highest_bit(std::to_integer<unsigned>(data.back()));
    left_ = static_cast<std::int64_t>(data.size() - 1) * 8 + marker;
  }

  // Reads zeros before the first bit; `left` is negative then.
  std::uint64_t read(unsigned count) noexcept {
    left_ -= count;
    return left_ >= 0 ? window(count) : bits_at(data_, left_, count);
  }
  std::int64_t left() const noexcept { return left_; }

 private:
  std::uint64_t window(unsigned count) const noexcept {
    const auto first = static_cast<std::uint64_t>(left_) / 8;
    const unsigned shift = left_ % 8;
    if (count + shift > 64) return bits_at(data_, left_, count);
    const std::uint64_t last = std::min<std::uint64_t>(first + 8, data_.size());
    std::uint64_t value = 0;
    for (std::uint64_t i = last; i-- > first;) {
      value = value << 8 | std::to_integer<std::uint64_t>(data_[i]);
    }
    return value >> shift & ((std::uint64_t{1} << count) - 1);
  }

  bytes data_;
  std::int64_t left_;
};

}  // namespace halfwarp::emulator::image::zstd
