// SPDX-License-Identifier: Apache-2.0
// The order of a launch's threads: segments, clocks of warps, and what releases and acquires add.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/exec/check/cell.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec::race {

// A release by one lane. It covers the accesses of all warps of the block before segment `full`,
// the accesses of the warp before `self`, and its own accesses up to `now` (strong ones:
// `strong_now`).
struct known_lane {
  std::uint32_t warp = 0, lane = 0;
  std::uint32_t full = 0, self = 0, now = 0, strong_now = 0;
  scope reach = scope::weak;  // of the release
};

// Knowledge about the lanes of one warp, from their releases.
struct known_warp {
  std::uint32_t full = 0, self = 0;
  scope reach = scope::weak;
  std::array<std::uint32_t, warp_size> now{}, strong_now{};  // by lane

  void join(const known_warp& other);
};

// Knowledge of a thread about other threads, from releases that it acquired.
class clock {
 public:
  void add(std::uint32_t block, const known_lane& entry);
  void join(const clock& other);
  bool is_ordered(std::uint32_t block, std::uint32_t warp, cell access) const;
  bool is_empty() const { return warps_.empty() && !knows_all_; }
  // Adds what may be acquired with a scope by a thread of a block.
  void join_within(const clock& other, scope reach, std::uint32_t block);

 private:
  void forget_if_large();

  // A larger clock is ordered after everything: races are missed, but none is invented.
  static constexpr std::size_t max_warps = 4096;
  std::map<std::pair<std::uint32_t, std::uint32_t>, known_warp> warps_;  // by block and warp
  bool knows_all_ = false;
};

// Lists of readers, each created once.
class reader_sets {
 public:
  // Returns a cell for the readers of both cells.
  cell with(cell readers, cell added);
  template <class Visitor>
  void each(cell readers, Visitor&& visit) const {
    if (readers.kind() != cell_kind::set) return visit(readers);
    for (std::uint32_t i = readers.node(); i != 0; i = nodes_[i].parent) visit(nodes_[i].entry);
  }

 private:
  struct node {
    cell entry;
    std::uint32_t parent = 0, depth = 0;
  };
  static constexpr std::uint32_t max_depth = 32, max_nodes = 1u << 26;
  std::vector<node> nodes_{{}};
  std::map<std::pair<std::uint64_t, std::uint64_t>, cell> created_;
};

// Numbers the segments of a launch. A phase is one number for each warp of a block.
class phases {
 public:
  explicit phases(std::uint32_t warps_per_block);
  // Returns the first number of a new phase of a block.
  std::uint32_t next(std::uint32_t block);
  std::uint32_t block_of(std::uint32_t segment) const { return blocks_[(segment >> shift_) - 1]; }
  std::uint32_t warp_of(std::uint32_t segment) const { return segment & mask_; }
  std::uint32_t first() const { return mask_ + 1; }
  bool is_exhausted() const { return next_ > ~0u - 2 * (mask_ + 1); }

 private:
  std::uint32_t shift_ = 0, mask_ = 0, next_ = 0;
  std::vector<std::uint32_t> blocks_;  // by phase
};

// Defines the accesses that are ordered before a warp.
struct warp_order {
  std::uint32_t segment = 0;
  std::uint32_t full = 0;  // segments of the block before this one are ordered before the warp
  std::uint32_t self = 0;  // ... and those of the warp itself before this one
  std::vector<std::uint32_t> warps;  // after barriers of some warps: by warp
  std::vector<std::uint32_t> lanes;  // after __syncwarp of some lanes: [lane][other lane]
  std::shared_ptr<const clock> acquired;
  clock pending;  // read by strong loads, acquired by the next fence
  // The state at the last fence: what a later strong write releases.
  std::uint32_t fenced = 0, fence_full = 0, fence_self = 0;
  scope fence_scope = scope::weak;
  // The state at the last fence between proxies: segments of the warp before `proxied`, and what
  // the warp knew of others, are before it.
  std::uint32_t proxied = 0;
  std::vector<std::uint32_t> proxied_warps;
  std::shared_ptr<const clock> proxied_clock;
  // The writer that a strong load of a word has observed last.
  std::unordered_map<std::uint64_t, cell> observed;
};

struct block_order {
  std::uint32_t number = 0;         // of the block in the launch
  std::uint32_t first = 0;          // its first segment
  std::uint32_t cluster_first = 0;  // the first segment of its cluster; 0: the block is alone
  // Segments before this one precede a fence between proxies in any warp.
  std::uint32_t proxied = 0;
  std::vector<warp_order> warps;
  struct arrivals {
    std::vector<lane_mask> waiting, passing;  // by warp: lanes at bar.sync, and at bar.arrive
    std::vector<std::uint32_t> released;      // by warp: its segment after bar.arrive
    bool is_used = true;                      // there may be lanes
    void reset(std::uint32_t warps);
  };
  std::array<arrivals, 16> barriers;
};

// The order of one launch.
class launch_order {
 public:
  launch_order(std::uint32_t warps_per_block, bool is_exact)
      : segments{warps_per_block}, is_exact{is_exact} {}

  void begin(block_order& block, std::uint32_t number, std::uint32_t warps);
  // Orders all warps of a block.
  void synchronize(block_order& block);
  // Ends the segment that a warp releases by bar.arrive.
  void pass(block_order& block, block_order::arrivals& by, std::uint32_t warp);
  // Orders the warps that arrived at a barrier before those that waited at it.
  void synchronize(block_order& block, const block_order::arrivals& by);
  // Orders the lanes of a mask.
  void synchronize(block_order& block, std::uint32_t warp, lane_mask lanes, lane_mask live);
  void fence(block_order& block, std::uint32_t warp, scope reach);
  // Records a strong write of a lane: it releases what precedes the last fence.
  void release(block_order& block, std::uint32_t warp, std::uint32_t lane, std::uint64_t address,
               scope reach, bool is_update);
  // Records a strong read of a lane: the next fence acquires what the observed writes released.
  void acquire(block_order& block, std::uint32_t warp, std::uint64_t address, scope reach);

  phases segments;
  reader_sets readers;
  // Readers of several warps are kept one by one: order comes not only from whole-block barriers.
  const bool is_exact;

 private:
  void start_segment(const block_order& block, warp_order& w, std::uint32_t warp);

  std::unordered_map<std::uint64_t, clock> released_;  // by address
};

}  // namespace halfwarp::emulator::exec::race
