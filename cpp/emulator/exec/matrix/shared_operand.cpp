// SPDX-License-Identifier: Apache-2.0
// Descriptors and swizzles. The unit of a swizzle is 16 bytes.
#include "emulator/exec/matrix/shared_operand.hpp"

#include <cstring>

namespace halfwarp::emulator::exec {
namespace {

constexpr int unit_bytes = 16;

std::uint64_t field(std::uint64_t descriptor, int first) {
  return (descriptor >> first & 0x3fff) << 4;
}

int row_bytes_of(std::uint64_t descriptor) {
  constexpr int bytes[] = {0, 128, 64, 32};
  return bytes[descriptor >> 62];
}

}  // namespace

shared_operand::shared_operand(std::uint64_t descriptor, int bits, bool is_transposed) noexcept
    : bits_{bits},
      row_bytes_{row_bytes_of(descriptor)},
      is_transposed_{is_transposed},
      start_{field(descriptor, 0)},
      leading_{field(descriptor, 16)},
      stride_{field(descriptor, 32)},
      base_offset_{descriptor >> 49 & 7} {}

std::uint64_t shared_operand::offset_of(int line, int k) const noexcept {
  const auto at = [](int n) { return static_cast<std::uint64_t>(n); };
  const int per_unit = 8 * unit_bytes / bits_;
  if (!is_transposed_) {
    const std::uint64_t group = at(line / 8) * stride_;
    if (row_bytes_) return group + at(line % 8 * row_bytes_) + at(k * bits_ / 8);
    return group + at(line % 8 * unit_bytes) + at(k / per_unit) * leading_;
  }
  if (!row_bytes_) {
    return at(line / per_unit) * stride_ + at(k / 8) * leading_ + at(k % 8 * unit_bytes);
  }
  const int per_row = 8 * row_bytes_ / bits_;
  return at(line / per_row) * leading_ + at(k / 8) * stride_ + at(k % 8 * row_bytes_) +
         at(line % per_row * bits_ / 8);
}

bool shared_operand::locate(const warp& w, int line, int k) noexcept {
  address_ = start_ + offset_of(line, k);
  if (row_bytes_) {
    const auto units = static_cast<std::uint64_t>(row_bytes_ / unit_bytes);
    address_ ^= (((address_ >> 7) - base_offset_) & (units - 1)) << 4;
  }
  return address_ <= w.shared_bytes && w.shared_bytes - address_ >= unit_bytes;
}

bool shared_operand::read(const warp& w, int first, int k, std::uint32_t* words) noexcept {
  if (!is_transposed_) {
    for (int row = 0; row < 8; ++row) {
      if (!locate(w, first + row, k)) return false;
      std::memcpy(words + 4 * row, w.shared + address_, unit_bytes);
    }
    return true;
  }
  auto* halves = reinterpret_cast<std::uint16_t*>(words);
  for (int column = 0; column < 8; ++column) {
    if (!locate(w, first, k + column)) return false;
    std::uint16_t unit[8];
    std::memcpy(unit, w.shared + address_, sizeof unit);
    for (int row = 0; row < 8; ++row) halves[8 * row + column] = unit[row];
  }
  return true;
}

void shared_operand::add_units(const warp& w, int first, int k, std::vector<std::uint64_t>& units) {
  for (int n = 0; n < 8; ++n) {
    const bool fits = is_transposed_ ? locate(w, first, k + n) : locate(w, first + n, k);
    if (fits) units.push_back(address_);
  }
}

}  // namespace halfwarp::emulator::exec
