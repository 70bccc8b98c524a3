// SPDX-License-Identifier: Apache-2.0
// Computes digests of blocks.
//
// Digests exclude state that a single instruction uses (active lanes, caches, exchanged values),
// which is meaningless between rounds. They also exclude the order of splits: threads that change
// no memory behave alike in any order, and the order alone recurs only after many rounds.
#include "emulator/exec/watch/fingerprint.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace halfwarp::emulator::exec {
namespace {

// Numbers frames in the order of their first visit, since their addresses are arbitrary.
class frame_order {
 public:
  // On the first visit, adds the frame and all its parents.
  void add(digest& to, const frame* f) {
    auto match = std::find(visited_.begin(), visited_.end(), f);
    to.add(static_cast<std::uint64_t>(match - visited_.begin()));
    if (match != visited_.end() || !f) return;
    visited_.push_back(f);
    to.add(reinterpret_cast<std::uint64_t>(f->function));
    to.add(std::uint64_t{f->return_index} << 32 | f->users);
    to.add(std::uint64_t{f->base} << 32 | f->depth);
    to.add(f->values);
    add(to, f->parent);
  }

 private:
  std::vector<const frame*> visited_;
};

void add_barriers(digest& to, const block_state& block) noexcept {
  for (const barrier_state& b : block.barriers) {
    to.add(std::uint64_t{b.arrived} << 32 | b.expected);
    to.add(std::uint64_t{b.any} << 32 | b.all);
    to.add(std::uint64_t{b.count} << 1 | b.is_reduction);
  }
}

std::uint64_t position_of(const warp_split& f) noexcept {
  digest result;
  result.add(std::uint64_t{f.next} << 32 | f.lanes);
  result.add(std::uint64_t{f.members} << 32 | f.barrier << 8 | static_cast<unsigned>(f.state));
  return result.value();
}

// Returns the splits of a warp, ordered by lowest lane.
std::vector<const warp_split*> in_order_of_lanes(const warp_state& w) {
  std::vector<const warp_split*> ordered;
  for (const warp_split& f : w.splits) ordered.push_back(&f);
  std::sort(ordered.begin(), ordered.end(), [](const warp_split* a, const warp_split* b) {
    return __builtin_ctz(a->lanes) < __builtin_ctz(b->lanes);
  });
  return ordered;
}

}  // namespace

// Computes four independent sums, so that their multiplications overlap.
void digest::add(const lane_storage& bytes) noexcept {
  std::uint64_t sum[4] = {1, 2, 3, 4};
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(sum)) {
    std::uint64_t word[4];
    std::memcpy(word, bytes.data() + at, sizeof(word));
    for (int i = 0; i < 4; ++i) {
      sum[i] = (sum[i] ^ word[i]) * 0x9e37'79b9'7f4a'7c15u;
      sum[i] ^= sum[i] >> 32;
    }
  }
  for (std::uint64_t s : sum) add(s);
}

void add_positions(digest& to, const block_state& block) noexcept {
  to.add(block.number << 32 | block.live_threads);
  for (const warp_state& w : block.warps) {
    std::uint64_t sum = w.view.live;
    for (const warp_split& f : w.splits) sum += position_of(f);
    to.add(sum);
  }
}

void add_contents(digest& to, const block_state& block) {
  add_barriers(to, block);
  for (const warp_state& w : block.warps) {
    frame_order frames;
    for (const warp_split* f : in_order_of_lanes(w)) frames.add(to, f->top_frame);
  }
  to.add(block.shared);
  to.add(block.local);
}

std::uint64_t content_bytes(const block_state& block) noexcept {
  std::uint64_t bytes = block.shared.size() + block.local.size();
  for (const warp_state& w : block.warps) {
    for (const auto& f : w.frames) bytes += f->values.size();
  }
  return bytes;
}

}  // namespace halfwarp::emulator::exec
