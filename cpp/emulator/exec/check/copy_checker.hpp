// SPDX-License-Identifier: Apache-2.0
// Finds accesses to the target of an asynchronous copy before its thread has waited for it.
#pragma once

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
  void begin(const block_state& block) { blocks_[&block].clear(); }
  // Call before lanes execute an instruction. Its frame must be active.
  void record(const warp_access& access);

  std::vector<report::fault> findings() const;

 private:
  struct copy {
    std::uint64_t first = 0, end = 0;  // in shared memory
    std::uint32_t thread = 0, group = 0;
    const instruction* by = nullptr;
  };
  struct block_copies {
    std::vector<copy> pending;
    std::unordered_map<std::uint32_t, std::uint32_t> groups;  // by thread: the open group
    void clear() { pending.clear(), groups.clear(); }
  };
  using finding_key = std::pair<const instruction*, const instruction*>;

  void start(block_copies& copies, warp& w, const instruction& instr, lane_mask lanes);
  template <class Condition>
  void complete(block_copies& copies, warp& w, lane_mask lanes, Condition is_complete) const;
  void compare(const block_copies& copies, const warp_access& access);
  void add_finding(const warp& w, const instruction& instr, int lane, const copy& early,
                   std::uint64_t offset);

  const launch_state& launch_;
  bool is_tracked_ = false;  // the launch has copies
  std::unordered_map<const block_state*, block_copies> blocks_;
  std::map<finding_key, report::fault> findings_;
};

}  // namespace halfwarp::emulator::exec
