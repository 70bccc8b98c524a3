// SPDX-License-Identifier: Apache-2.0
// The free blocks of one stream, by size.
#pragma once

#include "core/memory/pool/block.hpp"

namespace halfwarp::core {

class free_blocks {
 public:
  void insert(block& given) noexcept;
  void remove(block& taken) noexcept;

  // The smallest that is large enough; null: none.
  [[nodiscard]] block* best_fit(const wanted_block& wanted) const noexcept;
  [[nodiscard]] bool is_empty() const noexcept;

 private:
  static constexpr unsigned bin_count = 320;
  static constexpr unsigned word_bits = 64;
  // The first bin with a block, from `bin` on; bin_count: none.
  [[nodiscard]] unsigned next_bin(unsigned bin) const noexcept;

  block* first_[bin_count]{};
  std::uint64_t has_blocks_[bin_count / word_bits]{};
};

}  // namespace halfwarp::core
