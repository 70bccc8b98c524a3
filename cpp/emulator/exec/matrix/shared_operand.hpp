// SPDX-License-Identifier: Apache-2.0
// A matrix in shared memory that a descriptor describes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halfwarp::emulator::exec {

struct shared_view {
  const std::byte* data = nullptr;
  std::uint64_t bytes = 0;
};

// The place of the elements. A transposed matrix is contiguous in rows of A, or in columns of B.
struct operand_layout {
  int bits = 16;      // of an element
  int row_bytes = 0;  // of a swizzled pattern; 0: no swizzle
  bool is_transposed = false;
  bool has_wide_atoms = false;  // the swizzle moves 32 bytes instead of 16
  std::uint64_t start = 0, leading = 0, stride = 0, base_offset = 0;
};
operand_layout warpgroup_layout(std::uint64_t descriptor, int bits, bool is_transposed) noexcept;

class shared_operand {
 public:
  explicit shared_operand(const operand_layout& layout) noexcept : layout_{layout} {}

  // Fills a register of each lane: lane l has line `first` + l / 4 and 4 bytes in turn from k on,
  // which are 16 bytes. Returns false at bytes outside of the shared memory.
  bool read(const shared_view& memory, int first, int k, std::uint32_t* words) noexcept;
  std::uint64_t last_address() const noexcept { return address_; }
  // Adds the offsets of the units that such a read accesses, without wrong addresses.
  void add_units(const shared_view& memory, int first, int k, std::vector<std::uint64_t>& units);

 private:
  std::uint64_t offset_of(int line, int k) const noexcept;
  bool locate(const shared_view& memory, int line, int k) noexcept;
  bool read_elements(const shared_view& memory, int first, int k, std::uint32_t* words) noexcept;

  operand_layout layout_;
  std::uint64_t address_ = 0;
};

}  // namespace halfwarp::emulator::exec
