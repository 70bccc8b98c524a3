// SPDX-License-Identifier: Apache-2.0
// Passes the instructions of a launch to its checks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/exec/check/access_recorder.hpp"
#include "emulator/exec/check/barrier_checker.hpp"
#include "emulator/exec/check/copy_checker.hpp"
#include "emulator/exec/check/executed_forms.hpp"
#include "emulator/exec/check/init/init_checker.hpp"
#include "emulator/exec/check/neighbor_checker.hpp"
#include "emulator/exec/check/race_checker.hpp"
#include "emulator/exec/check/race_site.hpp"
#include "emulator/exec/check/runs/load_run.hpp"

namespace halfwarp::emulator::exec {

struct launch_state;

// Used by one host thread.
class launch_checks {
 public:
  // Returns null if the options select no check.
  static std::unique_ptr<launch_checks> create(const launch_state& launch);
  explicit launch_checks(const launch_state& launch);
  launch_checks(const launch_checks&) = delete;  // the checks refer to the sites

  // Returns whether `record` is needed for an instruction, even if all values are defined.
  [[gnu::always_inline]] bool concern(const warp& w, const instruction& instr) {
    if (w.function != function_) [[unlikely]]
      select(*w.function);
    const std::uint8_t concern = concerns_[&instr - code_];
    if (concern & is_new) [[unlikely]]
      return record_form(w, instr);
    return concern != 0;
  }
  // Returns the code that runs: the handlers may be tuned, and `width` skips fixed values.
  const instruction* followed_code(const function_code& function) {
    if (&function != function_) [[unlikely]]
      select(function);
    return followed_;
  }
  void begin(block_state& block);
  // Returns the index up to which the tuned code may run from an instruction without a guard, since
  // no check needs its instructions, or the checks have seen its accesses. Returns 0 if `record` is
  // needed. Call `followed_code` for the function before.
  [[gnu::always_inline]] std::uint32_t seen_until(warp& w, const instruction& instr) {
    const std::uint32_t end = seen_[&instr - code_];
    if (end == 0 || w.current->undefined) return 0;
    return end & is_run ? pass(w, runs_[end & ~is_run]) : end;
  }
  // Call before lanes execute an instruction. Its frame must be active.
  void record(warp& w, const instruction& instr, lane_mask lanes);

  // Returns what the checks have found, in the order of the code.
  std::vector<report::fault> findings() const;

  // If the check is selected.
  std::unique_ptr<race_checker> races;  // for the check of definedness alone it records writers
  std::unique_ptr<init_checker> definedness;
  std::unique_ptr<access_recorder> accesses;
  std::unique_ptr<barrier_checker> barriers;
  std::unique_ptr<neighbor_checker> neighbors;
  std::unique_ptr<copy_checker> copies;  // also for races; its findings belong to barriers
  std::unique_ptr<executed_forms> forms;

 private:
  // The bits of a concern: checks that need the instruction, whether its addresses have a pattern,
  // and whether its form is not recorded yet.
  static constexpr std::uint8_t of_races = 1, of_definedness = 2, of_accesses = 4, of_copies = 8,
                                of_barriers = 16, of_neighbors = 32, has_pattern = 64, is_new = 128;

  std::uint8_t concern_of(std::size_t site) const;
  void record(const warp_access& access, std::uint32_t bits);
  void select(const function_code& function);
  bool record_form(const warp& w, const instruction& instr);
  bool is_in_run(const function_code& function, std::size_t first, std::size_t n) const;
  void find_runs(const function_code& function, std::size_t first);
  void add_load(std::size_t site, load_run& run) const;
  std::uint32_t pass(warp& w, load_run& run);
  bool pass(warp_access range) const;
  void record(load_group& group, warp& w);
  warp_access nearest(const load_group& group, warp& w) const;
  load_group::memo memo_of(const load_group& group, const warp& w) const;
  static constexpr std::uint32_t is_run = 1u << 31;
  void find_addresses(warp_access& access);

  const launch_state& launch_;
  launch_sites sites_;
  std::vector<std::uint8_t> all_concerns_;  // by site
  std::vector<instruction> all_followed_;   // by site
  std::vector<bool> uses_shape_;            // by site: of an earlier access of the basic block
  std::vector<std::uint32_t> all_seen_;     // by site: an index of the code or of `runs_`, or 0
  std::vector<load_run> runs_;
  std::uint64_t stores_ = 0;  // and other instructions that are no loads
  // They refer to the function of the last instruction.
  const function_code* function_ = nullptr;
  const instruction* code_ = nullptr;
  std::uint8_t* concerns_ = nullptr;
  const std::uint32_t* seen_ = nullptr;
  const instruction* followed_ = nullptr;
};

}  // namespace halfwarp::emulator::exec
