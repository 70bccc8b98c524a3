// SPDX-License-Identifier: Apache-2.0
// Counts the instructions that one host thread executes for a launch.
//
// A segment of straight-line code adds to its first instruction and subtracts after its last, so
// that the loop of the interpreter does nothing for each instruction. Sums restore the counts.
// A kernel with marks needs no counts of instructions, unless a profile counts accesses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/exec/code.hpp"
#include "emulator/exec/marks.hpp"
#include "emulator/exec/profile/access_site.hpp"
#include "emulator/exec/profile/profile.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

struct launch_state;

class launch_counts {
 public:
  explicit launch_counts(const launch_state& launch);
  // Returns null if nothing of the launch counts.
  static std::shared_ptr<launch_counts> create(const launch_state& launch);

  mark_counts& marks() noexcept { return marks_; }
  const mark_counts& marks() const noexcept { return marks_; }
  // Returns whether instructions count, and not only marks.
  bool has_instructions() const noexcept { return !executions_.empty(); }
  // Returns the counts of the instructions of a function; null if instructions do not count.
  execution_counts* executions_of(const function_code& function);
  // Returns 1 + the index of the site of each instruction, or 0; null if accesses do not count.
  const std::uint32_t* sites_of(const function_code& function) const;
  // Call before lanes execute the access of a site. Its frame must be active.
  void record(warp& w, const instruction& instr, lane_mask lanes, std::uint32_t site);

  // Adds the counts of another thread of the same launch.
  void add(const launch_counts& other);
  launch_profile profile() const;

 private:
  std::size_t index_of(const function_code& function) const;
  function_profile profile_of(const function_code& function) const;

  const launch_state& launch_;
  std::vector<std::size_t> first_;  // by function
  std::vector<execution_counts> executions_;
  std::vector<std::uint32_t> site_numbers_;
  std::vector<access_site> sites_;
  std::vector<access_counts> accesses_;  // by site
  mark_counts marks_;
};

// Counts the instructions of one split.
class segment_counter {
 public:
  segment_counter(launch_counts* counts, const function_code& function)
      : counts_{counts}, code_{function.code.data()} {
    if (!counts || !counts->has_instructions()) return;
    executions_ = counts->executions_of(function);
    sites_ = counts->sites_of(function);
  }

  void on_segment(const instruction* first, const instruction* end, std::uint64_t lanes) {
    if (!executions_) return;
    execution_counts& from = executions_[first - code_];
    execution_counts& to = executions_[end - code_];
    ++from.executions;
    from.lanes += lanes;
    --to.executions;
    to.lanes -= lanes;
  }
  void on_guard(const instruction& instr, lane_mask active) {
    if (!executions_) return;
    execution_counts& counts = executions_[&instr - code_];
    counts.guarded_executions += active != 0;
    counts.guarded_lanes += static_cast<std::uint64_t>(__builtin_popcount(active));
  }
  void on_branch(const instruction& instr, lane_mask taken, lane_mask lanes) {
    if (!executions_) return;
    execution_counts& counts = executions_[&instr - code_];
    counts.taken += taken != 0;
    counts.not_taken += taken != lanes;
    counts.divergent += taken != 0 && taken != lanes;
  }
  void on_access(warp& w, const instruction& instr, lane_mask lanes) {
    if (!sites_) return;
    if (const std::uint32_t site = sites_[&instr - code_]) {
      counts_->record(w, instr, lanes, site - 1);
    }
  }

 private:
  launch_counts* counts_;
  const instruction* code_;
  execution_counts* executions_ = nullptr;
  const std::uint32_t* sites_ = nullptr;
};

// Counts nothing, in runs of launches that no profile follows.
struct no_counter {
  no_counter(launch_counts*, const function_code&) {}
  void on_segment(const instruction*, const instruction*, std::uint64_t) {}
  void on_guard(const instruction&, lane_mask) {}
  void on_branch(const instruction&, lane_mask, lane_mask) {}
  void on_access(warp&, const instruction&, lane_mask) {}
};

}  // namespace halfwarp::emulator::exec
