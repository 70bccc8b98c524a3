// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/marks.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <limits>
#include <mutex>

#include "emulator/exec/code.hpp"
#include "emulator/exec/profile/launch_counts.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

struct totals {
  std::mutex mutex;
  std::vector<std::uint64_t> lanes;  // by number
};

totals& the_totals() {
  static totals* const all = new totals;  // worker threads may use it until the end
  return *all;
}

std::atomic<bool> have_marks{false};

}  // namespace

void count_mark(warp& w, const instruction& instr) {
  if (launch_counts* const counts = w.block->counts) {
    counts->marks().at(instr.target) += lanes_in(w.active);
  }
}

void count_outcomes(warp& w, std::uint32_t number, std::uint32_t is_true) {
  if (launch_counts* const counts = w.block->counts) {
    std::uint64_t* const lanes = &counts->marks().at(number);
    lanes[0] += is_true;
    lanes[1] += lanes_in(w.active) - is_true;
  }
}

std::optional<std::uint32_t> mark_number(std::string_view register_name) noexcept {
  constexpr std::string_view prefix = "halfwarp_mark";
  constexpr std::uint32_t end = 1 << 24;
  if (!register_name.starts_with(prefix)) return std::nullopt;
  std::uint32_t number = end;
  std::from_chars(register_name.data() + prefix.size(), register_name.data() + register_name.size(),
                  number);
  if (number >= end) return std::nullopt;
  have_marks.store(true, std::memory_order_relaxed);
  return number;
}

bool are_marks_known() noexcept { return have_marks.load(std::memory_order_relaxed); }

mark_counts::mark_counts(const kernel_code& code) {
  if (!are_marks_known()) return;
  std::uint32_t first = std::numeric_limits<std::uint32_t>::max(), end = 0;
  for (const function_code& function : code.functions) {
    for (const instruction& each : function.code) {
      const auto& source = *function.source;
      if (each.source >= source.instructions.size()) continue;
      const auto operands = source.operands_of(source.instructions[each.source]);
      const auto number = operands.empty() ? std::nullopt : mark_number(operands.front().name);
      if (!number) continue;
      first = std::min(first, *number);
      end = std::max(end, *number + 2);  // a test counts two outcomes
    }
  }
  if (first >= end) return;
  first_ = first;
  lanes_.resize(end - first);
}

void mark_counts::add(const mark_counts& other) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i] += other.lanes_[i];
}

void mark_counts::add_to_totals() const {
  totals& all = the_totals();
  const std::lock_guard lock{all.mutex};
  if (all.lanes.size() < first_ + lanes_.size()) all.lanes.resize(first_ + lanes_.size());
  for (std::size_t i = 0; i < lanes_.size(); ++i) all.lanes[first_ + i] += lanes_[i];
}

std::vector<std::uint64_t> mark_totals() {
  totals& all = the_totals();
  const std::lock_guard lock{all.mutex};
  return all.lanes;
}

}  // namespace halfwarp::emulator::exec
