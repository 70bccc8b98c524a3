// SPDX-License-Identifier: Apache-2.0
// Finds accesses to the target of an asynchronous copy, and stores to its source, before its thread
// has waited for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/exec/check/warp_access.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator::exec {

struct launch_state;
struct block_state;

// Used by one host thread.
class copy_checker {
 public:
  explicit copy_checker(const launch_state& launch);
  copy_checker(const copy_checker&) = delete;  // the launch owns one

  // Returns whether the launch needs `record`.
  bool is_tracked() const { return is_tracked_; }
  void begin(const block_state& block);
  // Call before lanes execute an instruction. Its frame must be active.
  void record(const warp_access& access);
  // Call when a lane starts a copy of a group that reads bytes.
  void add_source(const warp& w, const instruction& instr, int lane, const std::byte* from,
                  std::uint32_t bytes);

  std::vector<report::fault> findings() const;

 private:
  struct copy {
    const std::byte* first = nullptr;
    std::uint32_t bytes = 0, thread = 0, group = 0;
    const instruction* by = nullptr;
    bool is_bulk = false;
  };
  struct block_copies {
    std::vector<copy> targets, sources;  // of pending copies
    // By thread: the open groups of cp.async and of bulk copies.
    std::array<std::vector<std::uint32_t>, 2> groups;
  };
  using finding_key = std::pair<const instruction*, const instruction*>;

  void start(block_copies& copies, warp& w, const instruction& instr, lane_mask lanes);
  // Ends copies whose group is as far before the open one.
  void complete(block_copies& copies, warp& w, lane_mask lanes, bool are_bulk,
                std::uint64_t distance) const;
  void compare(const std::vector<copy>& copies, const warp_access& access, bool are_sources);
  void add_finding(const warp& w, const instruction& instr, int lane, const copy& early,
                   const shared_word& word, bool is_source);

  const launch_state& launch_;
  bool is_tracked_ = false;  // the launch has copies
  std::unordered_map<const block_state*, block_copies> blocks_;
  std::map<finding_key, report::fault> findings_;
};

}  // namespace halfwarp::emulator::exec
