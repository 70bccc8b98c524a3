// SPDX-License-Identifier: Apache-2.0
// The free blocks of one stream, in bins by size.
#include "core/memory/pool/free_blocks.hpp"

#include <algorithm>

namespace halfwarp::core {

void free_blocks::insert(block& target) noexcept {
  const unsigned bin = std::min(bin_of(target.size), bin_count - 1);
  block*& first = first_[bin];
  target.next = first;
  if (first != nullptr) first->place = &target.next;
  target.place = &first;
  first = &target;
  target.is_free = true;
  has_blocks_[bin / word_bits] |= std::uint64_t{1} << bin % word_bits;
}

void free_blocks::remove(block& target) noexcept {
  *target.place = target.next;
  if (target.next != nullptr) target.next->place = target.place;
  target.is_free = false;
  const unsigned bin = std::min(bin_of(target.size), bin_count - 1);
  if (first_[bin] == nullptr) {
    has_blocks_[bin / word_bits] &= ~(std::uint64_t{1} << bin % word_bits);
  }
}

unsigned free_blocks::next_bin(unsigned bin) const noexcept {
  while (bin < bin_count) {
    const std::uint64_t candidates = has_blocks_[bin / word_bits] >> bin % word_bits;
    if (candidates != 0) return bin + static_cast<unsigned>(__builtin_ctzll(candidates));
    bin = (bin / word_bits + 1) * word_bits;
  }
  return bin_count;
}

block* free_blocks::best_fit(const block_request& request) const noexcept {
  for (unsigned bin = next_bin(std::min(bin_of(request.size), bin_count - 1)); bin < bin_count;
       bin = next_bin(bin + 1)) {
    block* best = nullptr;
    for (block* each = first_[bin]; each != nullptr; each = each->next) {
      if (each->size < request.size || each->freed > request.latest) continue;
      if (!is_for(each->parent->use, request.use)) continue;
      if (best == nullptr || each->size < best->size) best = each;
      if (best->size == request.size) break;
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

bool free_blocks::is_empty() const noexcept { return next_bin(0) == bin_count; }

}  // namespace halfwarp::core
