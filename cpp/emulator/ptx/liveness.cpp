// SPDX-License-Identifier: Apache-2.0
// Register demand: how many values are live at the same time.
#include <algorithm>
#include <bit>

#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::ptx {
namespace {

constexpr std::uint32_t least = 16, most = 255, step = 8;
// Sets of live registers, in bits over all blocks: 4 MiB. A larger function counts as `most`.
constexpr std::uint64_t largest_problem = std::uint64_t{1} << 25;
// Sets settle in (loop depth + 2) passes; hostile text must not make it more.
constexpr int most_passes = 32;

using word = std::uint64_t;
constexpr std::size_t word_bits = 64;

// 32-bit registers that a value takes. Predicates have a register file of their own.
std::uint32_t weight(const register_info& r) noexcept {
  if (r.type == scalar_type::pred) return 0;
  return std::max((size_in_bytes(r.type) + 3) / 4, 1u) * r.vector_width;
}

class live_sets {
 public:
  live_sets(const module& owner, const function& f)
      : owner_{owner},
        f_{f},
        flow_{find_blocks(f)},
        words_{(f.registers.size() + word_bits - 1) / word_bits} {}

  bool is_too_large() const noexcept {
    return words_ * word_bits * flow_.blocks.size() > largest_problem;
  }

  std::uint32_t highest_demand() {
    live_in_.assign(flow_.blocks.size() * words_, 0);
    live_.resize(words_);
    bool changed = true;
    for (int pass = 0; changed && pass < most_passes; ++pass) {
      changed = false;
      for (std::size_t b = flow_.blocks.size(); b-- > 0;) changed = update(b) || changed;
    }
    std::uint32_t highest = 0;
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      highest = std::max(highest, walk(b, true));
    }
    return highest;
  }

 private:
  bool update(std::size_t block) {
    walk(block, false);
    word* const kept = live_in_.data() + block * words_;
    if (std::equal(live_.begin(), live_.end(), kept)) return false;
    std::ranges::copy(live_, kept);
    return true;
  }

  // Leaves in live_ what is live at the start of the block; returns the highest demand in it,
  // which makes sense only when it counts what is live at the end first.
  std::uint32_t walk(std::size_t block, bool counts) {
    std::ranges::fill(live_, 0);
    for (const std::uint32_t next : flow_.blocks[block].successors) {
      const word* const added = live_in_.data() + next * words_;
      for (std::size_t i = 0; i < words_; ++i) live_[i] |= added[i];
    }
    demand_ = counts ? live_weight() : 0;
    std::uint32_t highest = demand_;
    for (std::uint32_t i = flow_.blocks[block].end; i-- > flow_.blocks[block].first;) {
      step_over(f_.instructions[i]);
      highest = std::max(highest, demand_);
    }
    return highest;
  }

  void step_over(const instruction& i) {
    find_register_access(owner_, f_, i, access_);
    const bool is_certain = i.guard == no_index;
    for (const std::uint32_t r : access_.writes) {
      if (is_certain && f_.registers[r].vector_width == 1) remove(r);
    }
    for (const std::uint32_t r : access_.reads) add(r);
  }

  std::uint32_t live_weight() const noexcept {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < words_; ++i) {
      for (word rest = live_[i]; rest != 0; rest &= rest - 1) {
        sum += weight(f_.registers[i * word_bits + static_cast<unsigned>(std::countr_zero(rest))]);
      }
    }
    return sum;
  }

  bool is_live(std::uint32_t r) const noexcept {
    return (live_[r / word_bits] >> (r % word_bits) & 1) != 0;
  }
  void add(std::uint32_t r) {
    if (is_live(r)) return;
    live_[r / word_bits] |= word{1} << (r % word_bits);
    demand_ += weight(f_.registers[r]);
  }
  void remove(std::uint32_t r) {
    if (!is_live(r)) return;
    live_[r / word_bits] &= ~(word{1} << (r % word_bits));
    demand_ -= weight(f_.registers[r]);
  }

  const module& owner_;
  const function& f_;
  control_flow flow_;
  std::size_t words_;
  std::vector<word> live_in_;  // of each block, words_ each
  std::vector<word> live_;
  std::uint32_t demand_ = 0;
  register_access access_;
};

std::uint32_t own_demand(const module& owner, const function& f) {
  live_sets sets{owner, f};
  return sets.is_too_large() ? most : sets.highest_demand();
}

// Raises each number to the highest of the functions that it calls.
void include_calls(const module& m, std::vector<std::uint32_t>& demand) {
  std::vector<std::vector<std::uint32_t>> calls;
  calls.reserve(m.functions.size());
  for (const function& f : m.functions) calls.push_back(called_functions(f));
  bool changed = true;
  for (int pass = 0; changed && pass < most_passes; ++pass) {
    changed = false;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      for (const std::uint32_t callee : calls[i]) {
        if (demand[callee] <= demand[i]) continue;
        demand[i] = demand[callee];
        changed = true;
      }
    }
  }
}

std::uint32_t rounded(std::uint32_t demand, const function& f) noexcept {
  const std::uint32_t limit = f.directives.maxnreg != 0 ? f.directives.maxnreg : most;
  const std::uint32_t value = (std::max(demand, least) + step - 1) / step * step;
  return std::min({value, limit, most});
}

}  // namespace

std::vector<std::uint32_t> estimate_registers(const module& m) {
  std::vector<std::uint32_t> demand;
  demand.reserve(m.functions.size());
  for (const function& f : m.functions) demand.push_back(own_demand(m, f));
  include_calls(m, demand);
  for (std::size_t i = 0; i < demand.size(); ++i) demand[i] = rounded(demand[i], m.functions[i]);
  return demand;
}

}  // namespace halfwarp::emulator::ptx
