// SPDX-License-Identifier: Apache-2.0
// Counts of the marks that halfwarp/coverage adds to kernels.
//
// A mark is a move to a register that is named "halfwarp_mark" and a number, which is unique in
// the process. `mov.b32` counts the lanes that execute it. `setp.ne.b32` with 0 counts the lanes
// whose word is not 0, and with the next number the lanes whose word is 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "emulator/exec/warp.hpp"

namespace halfwarp::emulator::exec {

struct kernel_code;

// Handler of a move; `target` is the number. The handler of a comparison has the name mark_test.
void count_mark(warp& w, const instruction& instr);
inline constexpr std::string_view mark_test = "mark.b32";
// `is_true`: number of active lanes.
void count_outcomes(warp& w, std::uint32_t number, std::uint32_t is_true);

// Returns the number of a mark by its register, or nothing for other registers.
std::optional<std::uint32_t> mark_number(std::string_view register_name) noexcept;

// Returns whether a kernel with marks was decoded. Until then, no launch counts marks.
bool are_marks_known() noexcept;

// Counts of the marks of one kernel.
class mark_counts {
 public:
  mark_counts() = default;
  explicit mark_counts(const kernel_code& code);

  bool has_marks() const noexcept { return !lanes_.empty(); }
  // Returns the count of a number that is in the code.
  std::uint64_t& at(std::uint32_t number) noexcept { return lanes_[number - first_]; }
  void add(const mark_counts& other);
  // Adds the counts to the totals of the process. Thread-safe.
  void add_to_totals() const;

 private:
  std::uint32_t first_ = 0;  // number of the first count
  std::vector<std::uint64_t> lanes_;
};

// Returns the counts of all marks that kernels have executed, by number. Thread-safe.
std::vector<std::uint64_t> mark_totals();

}  // namespace halfwarp::emulator::exec
