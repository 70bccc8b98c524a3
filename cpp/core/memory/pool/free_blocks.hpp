// SPDX-License-Identifier: Apache-2.0
// The free blocks of one stream, in bins by size.
#pragma once

#include "core/memory/pool/block.hpp"

namespace halfwarp::core {

class free_blocks {
 public:
  void insert(block& target) noexcept;
  void remove(block& target) noexcept;

  // Returns the smallest block that satisfies the request, or null.
  [[nodiscard]] block* best_fit(const block_request& request) const noexcept;
  [[nodiscard]] bool is_empty() const noexcept;

 private:
  static constexpr unsigned bin_count = 320;
  static constexpr unsigned word_bits = 64;
  // Returns the first non-empty bin from `bin` on, or bin_count.
  [[nodiscard]] unsigned next_bin(unsigned bin) const noexcept;

  block* first_[bin_count]{};
  std::uint64_t has_blocks_[bin_count / word_bits]{};
};

}  // namespace halfwarp::core
