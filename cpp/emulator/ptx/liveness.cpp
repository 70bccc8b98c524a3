// SPDX-License-Identifier: Apache-2.0
// Computes register demand: the maximum number of values that are live at once.
#include <algorithm>
#include <bit>
#include <functional>
#include <span>

#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::ptx {
namespace {

constexpr std::uint32_t min_registers = 16, max_registers = 255, granularity = 8;
// Limit of the bits of live sets over all blocks, 4 MiB. Larger functions use `max_registers`.
constexpr std::uint64_t max_bits = std::uint64_t{1} << 25;
// The sets converge in (loop depth + 2) passes. The limit protects against hostile text.
constexpr int max_passes = 32;

using word = std::uint64_t;
constexpr std::size_t word_bits = 64;

// Returns the 32-bit registers of a value. Predicates have a separate register file.
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

  bool is_too_large() const noexcept { return words_ * word_bits * flow_.blocks.size() > max_bits; }

  std::uint32_t highest_demand() {
    live_in_.assign(flow_.blocks.size() * words_, 0);
    live_.resize(words_);
    bool changed = true;
    for (int pass = 0; changed && pass < max_passes; ++pass) {
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
    word* const saved = live_in_.data() + block * words_;
    if (std::equal(live_.begin(), live_.end(), saved)) return false;
    std::ranges::copy(live_, saved);
    return true;
  }

  // Sets live_ to the registers that are live at the start of the block. Returns the highest demand
  // in the block, which is valid only if `counts` is true.
  std::uint32_t walk(std::size_t block, bool counts) {
    std::ranges::fill(live_, 0);
    for (const std::uint32_t next : flow_.blocks[block].successors) {
      const word* const added = live_in_.data() + next * words_;
      std::ranges::transform(live_, std::span{added, words_}, live_.begin(), std::bit_or{});
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
    const bool is_unconditional = i.guard == no_index;
    for (const std::uint32_t r : access_.writes) {
      if (is_unconditional && f_.registers[r].vector_width == 1) remove(r);
    }
    for (const std::uint32_t r : access_.reads) add(r);
  }

  std::uint32_t live_weight() const noexcept {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < words_; ++i) {
      for (word remaining = live_[i]; remaining != 0; remaining &= remaining - 1) {
        sum += weight(
            f_.registers[i * word_bits + static_cast<unsigned>(std::countr_zero(remaining))]);
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
  std::vector<word> live_in_;  // words_ per block
  std::vector<word> live_;
  std::uint32_t demand_ = 0;
  register_access access_;
};

std::uint32_t own_demand(const module& owner, const function& f) {
  live_sets sets{owner, f};
  return sets.is_too_large() ? max_registers : sets.highest_demand();
}

// Raises the demand of each function to the highest demand of its callees.
void include_calls(const module& m, std::vector<std::uint32_t>& demand) {
  std::vector<std::vector<std::uint32_t>> calls;
  calls.reserve(m.functions.size());
  for (const function& f : m.functions) calls.push_back(called_functions(f));
  bool changed = true;
  for (int pass = 0; changed && pass < max_passes; ++pass) {
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
  const std::uint32_t limit = f.directives.maxnreg != 0 ? f.directives.maxnreg : max_registers;
  const std::uint32_t value =
      (std::max(demand, min_registers) + granularity - 1) / granularity * granularity;
  return std::min({value, limit, max_registers});
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
