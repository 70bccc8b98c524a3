// SPDX-License-Identifier: Apache-2.0
// Descriptors and swizzles. The unit of a swizzle is 16 bytes, or 32.
#include "emulator/exec/matrix/shared_operand.hpp"

#include <cstring>

namespace halfwarp::emulator::exec {
namespace {

constexpr int unit_bytes = 16;

std::uint64_t field(std::uint64_t descriptor, int first) {
  return (descriptor >> first & 0x3fff) << 4;
}

std::uint64_t at(int n) { return static_cast<std::uint64_t>(n); }

}  // namespace

operand_layout warpgroup_layout(std::uint64_t descriptor, int bits, bool is_transposed) noexcept {
  constexpr int row_bytes[] = {0, 128, 64, 32};
  operand_layout layout;
  layout.bits = bits;
  layout.row_bytes = row_bytes[descriptor >> 62];
  layout.is_transposed = is_transposed;
  layout.start = field(descriptor, 0);
  layout.leading = field(descriptor, 16);
  layout.stride = field(descriptor, 32);
  layout.base_offset = descriptor >> 49 & 7;
  return layout;
}

std::uint64_t shared_operand::offset_of(int line, int k) const noexcept {
  const operand_layout& l = layout_;
  const int per_unit = 8 * unit_bytes / l.bits;
  if (!l.is_transposed) {
    const std::uint64_t group = at(line / 8) * l.stride;
    if (l.row_bytes) return group + at(line % 8 * l.row_bytes) + at(k * l.bits / 8);
    return group + at(line % 8 * unit_bytes) + at(k / per_unit) * l.leading;
  }
  if (!l.row_bytes) {
    return at(line / per_unit) * l.stride + at(k / 8) * l.leading + at(k % 8 * unit_bytes) +
           at(line % per_unit * l.bits / 8);
  }
  const int per_row = 8 * l.row_bytes / l.bits, rows = l.has_wide_atoms ? 4 : 8;
  return at(line / per_row) * l.leading + at(k / rows) * l.stride + at(k % rows * l.row_bytes) +
         at(line % per_row * l.bits / 8);
}

// Finds an element, whose whole unit must be inside.
bool shared_operand::locate(const shared_view& memory, int line, int k) noexcept {
  const operand_layout& l = layout_;
  address_ = l.start + offset_of(line, k);
  if (l.has_wide_atoms) {
    address_ ^= (((address_ >> 7) - l.base_offset) & 3) << 5;
  } else if (l.row_bytes) {
    const auto units = static_cast<std::uint64_t>(l.row_bytes / unit_bytes);
    address_ ^= (((address_ >> 7) - l.base_offset) & (units - 1)) << 4;
  }
  return (address_ | (unit_bytes - 1)) < memory.bytes;
}

// Reads a transposed matrix, whose units have elements of several lines.
bool shared_operand::read_elements(const shared_view& memory, int first, int k,
                                   std::uint32_t* words) noexcept {
  const int bytes = layout_.bits / 8;
  auto* to = reinterpret_cast<std::byte*>(words);
  for (int line = 0; line < 8; ++line) {
    for (int n = 0; n < unit_bytes / bytes; ++n, to += bytes) {
      if (!locate(memory, first + line, k + n)) return false;
      std::memcpy(to, memory.data + address_, at(bytes));
    }
  }
  return true;
}

bool shared_operand::read(const shared_view& memory, int first, int k,
                          std::uint32_t* words) noexcept {
  if (!layout_.is_transposed) {
    for (int row = 0; row < 8; ++row) {
      if (!locate(memory, first + row, k)) return false;
      std::memcpy(words + 4 * row, memory.data + address_, unit_bytes);
    }
    return true;
  }
  if (layout_.bits != 16) return read_elements(memory, first, k, words);
  auto* halves = reinterpret_cast<std::uint16_t*>(words);
  for (int column = 0; column < 8; ++column) {
    if (!locate(memory, first, k + column)) return false;
    std::uint16_t unit[8];
    std::memcpy(unit, memory.data + address_, sizeof unit);
    for (int row = 0; row < 8; ++row) halves[8 * row + column] = unit[row];
  }
  return true;
}

void shared_operand::add_units(const shared_view& memory, int first, int k,
                               std::vector<std::uint64_t>& units) {
  for (int n = 0; n < 8; ++n) {
    const bool fits =
        layout_.is_transposed ? locate(memory, first, k + n) : locate(memory, first + n, k);
    if (fits) units.push_back(address_);
  }
}

}  // namespace halfwarp::emulator::exec
