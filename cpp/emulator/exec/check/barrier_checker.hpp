// SPDX-License-Identifier: Apache-2.0
// Finds barriers and masks of lanes that a launch uses wrongly without a deadlock.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/exec/check/warp_access.hpp"
#include "emulator/exec/warp.hpp"
#include "emulator/ptx/analysis.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator::exec {

struct launch_state;
struct block_state;
struct barrier_state;
struct cluster_state;
struct warp_split;

// Used by one host thread.
class barrier_checker {
 public:
  explicit barrier_checker(const launch_state& launch);
  barrier_checker(const barrier_checker&) = delete;  // the launch owns one

  // Returns whether the accesses of an instruction need `record`.
  static bool is_recorded(const race_site& site);
  void begin(const block_state& block);
  // Call before lanes execute an instruction. Its frame must be active.
  void record(const warp_access& access);
  // Call when lanes arrive at a barrier. `before` is its state without them.
  void arrive(const warp& w, const instruction& instr, lane_mask lanes, std::uint32_t count,
              const barrier_state& before);
  // Returns whether a thread of the block has exited. Another barrier needs no call of `open`.
  bool may_skip(const block_state& block) const;
  // Call when a barrier of the whole block opens, for threads that wait there.
  void open(const block_state& block, const warp_split& waiting);
  // These judge the barrier of a cluster. `leave` needs lanes that exit and have not arrived.
  void arrive_at_cluster(const warp& w, const instruction& instr, lane_mask lanes);
  void leave(const warp& w, lane_mask lanes);
  void open(const cluster_state& cluster);
  // Call when lanes execute an instruction with member masks.
  void meet(const warp& w, const instruction& instr, lane_mask lanes, const lane_mask* members);

  // Call when lanes have executed an instruction with one member mask.
  void pass(const warp& w, const instruction& instr, lane_mask lanes, lane_mask members);

  std::vector<report::fault> findings() const;

 private:
  // By lane: places in the kernel's function that its thread executed; 0: none.
  struct marks {
    using places = std::array<std::uint32_t, warp_size>;
    places barrier{}, store{};           // the last barrier, and the last store behind it
    places last{}, newest{}, members{};  // the same for barriers and masks; the mask
    // All lanes arrived together at `place`, or have not begun if that is 0. Since then some have
    // stored at one other place. The arrays are older then.
    bool is_common = true;
    std::uint32_t place = 0, storing = 0;
    lane_mask stored = 0;

    void begin(std::uint32_t at) {
      is_common = true;
      place = at;
      stored = 0;
    }
  };
  using block_index = std::array<std::uint32_t, 3>;
  // Threads of a warp that exited behind the same barrier and the same store. Another block may use
  // the state of theirs when the barrier opens.
  struct departure {
    warp view;
    block_index block{};
    int lane = 0;
    std::uint32_t barrier = 0, store = 0;
  };
  struct cluster_marks {
    std::uint32_t place = 0;  // of the newest arrival
    std::vector<departure> departures;
  };
  using finding_key = std::pair<const instruction*, std::string>;

  bool is_skipped(const function_code& function, std::uint32_t from, std::uint32_t place,
                  std::uint32_t store);
  void add_skip(const warp& w, const block_index& block, const instruction& instr, int lane,
                std::uint32_t store, const char* detail, const char* hint);
  void add_finding(const finding_key& key, report::fault finding);
  marks& marks_of(const warp& w);
  marks& common_marks_of(const warp& w);

  const launch_state& launch_;
  std::unordered_map<const block_state*, std::vector<marks>> blocks_;
  const block_state* last_block_ = nullptr;
  std::vector<marks>* last_marks_ = nullptr;  // of this block
  ptx::control_flow flow_;  // of the kernel's function, found when a thread may have skipped
  bool has_cluster_barriers_ = false;
  std::unordered_map<const cluster_state*, cluster_marks> clusters_;
  std::map<finding_key, report::fault> findings_;
};

}  // namespace halfwarp::emulator::exec
