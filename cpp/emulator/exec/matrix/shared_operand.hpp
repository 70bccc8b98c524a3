// SPDX-License-Identifier: Apache-2.0
// A matrix in shared memory that a descriptor describes.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

class shared_operand {
 public:
  // `bits` is the size of an element. A transposed matrix is contiguous in rows of A, or in
  // columns of B.
  shared_operand(std::uint64_t descriptor, int bits, bool is_transposed) noexcept;

  // Fills a register of each lane: lane l has line `first` + l / 4 and four elements in turn from
  // k on, which are 16 bytes. Returns false at bytes outside of the shared memory.
  bool read(const warp& w, int first, int k, std::uint32_t* words) noexcept;
  std::uint64_t last_address() const noexcept { return address_; }
  // Adds the offsets of the units that such a read accesses, without wrong addresses.
  void add_units(const warp& w, int first, int k, std::vector<std::uint64_t>& units);

 private:
  std::uint64_t offset_of(int line, int k) const noexcept;
  bool locate(const warp& w, int line, int k) noexcept;

  int bits_, row_bytes_;  // row of a swizzled pattern; 0: no swizzle
  bool is_transposed_;
  std::uint64_t start_, leading_, stride_, base_offset_;
  std::uint64_t address_ = 0;
};

}  // namespace halfwarp::emulator::exec
