// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/schedule/transcript.hpp"

#include <algorithm>

#include "emulator/exec/decode/block_roles.hpp"
#include "emulator/exec/decode/tuning.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/warp/passage.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint64_t fewest_blocks = 16;  // recording one takes as long as some blocks
constexpr std::size_t most_steps = 1 << 16;  // so that the calls stay in a cache
constexpr std::uint32_t most_attempts = 4;
constexpr std::uint64_t tolerated_failures = 8;
constexpr std::uint32_t half_warp = warp_size / 2;

const ptx::module& module_of(const launch_state& launch) {
  return *launch.request.entry->owner().source;
}

// Checks for lanes of each half whose addresses are `distance` bytes apart.
bool is_spaced(const std::uint32_t* address, std::uint32_t distance) {
  for (std::uint32_t l = 0; l < half_warp; ++l) {
    const bool low = address[l] == address[0] + l * distance;
    const bool high = address[half_warp + l] == address[half_warp] + l * distance;
    if (!low || !high) return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<transcript> transcript::create(launch_state& launch) {
  const function_code& function = launch.code.functions.front();
  const launch_request& request = launch.request;
  const bool is_alike = !request.is_cooperative && request.cluster.count() == 1 &&
                        request.grid.count() >= fewest_blocks;
  const bool has_one_order = launch.options.seed == 0 || !launch.options.is_shuffled;
  const bool is_plain = !launch.is_followed && function.calls.empty() && !launch.repeats_no_block;
  if (function.roles.empty() || !is_alike || !has_one_order || !is_plain) return nullptr;
  return std::make_shared<transcript>(launch, function);
}

transcript::transcript(launch_state& launch, const function_code& function)
    : launch_{launch}, function_{function}, effects_{*function.effects} {}

void transcript::start(block_state& block) {
  // A fault may have ended the block that was recorded.
  if (stage_ != stage::unused && stage_ != stage::recording) return;
  stage_ = stage::recording;
  ++attempts_;
  steps_.clear();
  block.recorder = this;
}

void transcript::record(warp& w, const instruction& instr, lane_mask active) {
  const auto index = static_cast<std::uint32_t>(&instr - function_.code.data());
  if (instr.kind == flow::barrier) {
    if (!is_common_barrier(instr)) stage_ = stage::useless;
    return;
  }
  if (function_.tuned[index].shape == fixed_shape) return;
  if (instr.kind == flow::collective) {
    const bool is_constant = instr.operand[4] < 0 && w.live == w.existing;
    const lane_mask members = *w.at<lane_mask>(instr.operand[4]) & w.existing;
    if (!is_constant || members != active) stage_ = stage::useless;
  }
  if (steps_.size() == most_steps) stage_ = stage::useless;
  if (stage_ == stage::useless) return;
  step& s = steps_.emplace_back(step{index, static_cast<std::uint16_t>(w.index), place::unknown,
                                     false, active, active, 0, 0});
  find_place(w, instr, s);
}

void transcript::record_guard(const warp& w, const instruction& instr, lane_mask lanes,
                              lane_mask active) {
  const auto index = static_cast<std::uint32_t>(&instr - function_.code.data());
  const bool is_checked = function_.roles[index] & block_role::is_checked;
  if (!is_checked || stage_ == stage::useless) return;
  steps_.push_back(
      {index, static_cast<std::uint16_t>(w.index), place::unknown, true, active, lanes, 0, 0});
}

// Finds words of all lanes that are inside shared memory.
void transcript::find_place(const warp& w, const instruction& instr, step& s) const {
  const bool is_word =
      (instr.flags & access_flag::count) == 1 && s.active == all_lanes &&
      (instr.run == effects_.handlers.load || instr.run == effects_.handlers.store);
  if (!is_word || !(function_.roles[s.index] & block_role::is_steady)) return;
  std::array<std::uint32_t, warp_size> at;
  std::copy_n(const_cast<warp&>(w).at<std::uint32_t>(instr.operand[4]), warp_size, at.begin());
  for (std::uint32_t& each : at) {
    each += static_cast<std::uint32_t>(instr.immediate);
    if (each % 4 || w.shared_bytes < 4 || each > w.shared_bytes - 4) return;
  }
  s.low = at[0];
  s.high = at[half_warp];
  if (is_spaced(at.data(), 4)) {
    s.location = place::consecutive;
  } else if (instr.run == effects_.handlers.load && is_spaced(at.data(), 0)) {
    s.location = place::equal;
  }
}

void transcript::finish(block_state& block, bool has_ended) {
  block.recorder = nullptr;
  if (!has_ended || stage_ == stage::useless) {
    stage_ = stage::useless;
    launch_.repeats_no_block = true;  // other resident blocks would only lose time
    steps_ = {};
    return;
  }
  effects_.find(module_of(launch_), function_);
  executed_ = 0;
  for (const warp_state& w : block.warps) executed_ += w.view.executed;
  checks_.clear();
  calls_.clear();
  placed_.clear();
  placed_.reserve(steps_.size());  // calls have the addresses
  if (std::ranges::any_of(steps_, &step::is_check)) {
    write_calls(block, needed(block, true), checks_);
    std::erase_if(steps_, [](const step& s) { return s.is_check; });
  }
  write_calls(block, needed(block, false), calls_);
  steps_ = {};
  repeated_ = failed_ = 0;
  stage_ = stage::ready;
}

// Several steps may belong to one PTX instruction.
bool transcript::is_one(const step& a, const step& b) const {
  return a.warp == b.warp && a.index < b.index && !a.is_check && !b.is_check &&
         function_.code[a.index].source == function_.code[b.index].source;
}

// Marks the registers that a step reads as live. A known place needs no address.
void transcript::add_reads(const step& s, flags& live, std::size_t first) const {
  const ptx::function& source = *function_.source;
  const instruction& instr = function_.code[s.index];
  const ptx::instruction& i = source.instructions[instr.source];
  if (s.is_check) {
    live[first + i.guard] = 1;
  } else if (s.location == place::unknown) {
    for (const std::uint32_t r : effects_.of(instr).registers.reads) live[first + r] = 1;
  } else if (i.opcode == ptx::opcode::st) {
    const ptx::operand& value = source.operands_of(i).back();
    if (value.kind == ptx::operand_kind::register_) live[first + value.index] = 1;
  }
}

// Selects the steps for the checks alone, or those that have an effect or that others need.
transcript::flags transcript::needed(const block_state& block, bool for_checks) const {
  const std::size_t registers = function_.source->registers.size();
  flags live(registers * block.warps.size()), selected(steps_.size());
  for (std::size_t end = steps_.size(), begin; end > 0; end = begin) {
    begin = end - 1;
    while (begin > 0 && is_one(steps_[begin - 1], steps_[begin])) --begin;
    const step& s = steps_[begin];
    const code_effects::effect& of = effects_.of(function_.code[s.index]);
    const std::size_t first = registers * s.warp;
    const bool computes = function_.roles[s.index] & block_role::computes;
    const auto is_live = [&](std::uint32_t r) { return live[first + r]; };
    const bool must_run = s.is_check || (!for_checks && !computes);
    if (!must_run && !std::ranges::any_of(of.registers.writes, is_live)) continue;
    if (!s.is_check && of.writes_all && s.active == block.warps[s.warp].view.existing) {
      for (const std::uint32_t r : of.registers.writes) live[first + r] = 0;
    }
    const bool is_last = std::ranges::none_of(of.registers.reads, is_live);
    std::fill_n(&selected[begin], end - begin, is_last ? last_reader : is_selected);
    add_reads(s, live, first);
  }
  return selected;
}

// Returns an instruction whose `target` and `cache` are offsets in shared memory.
instruction& transcript::place_at(std::uint32_t index, handler run, const step& s) {
  instruction& placed = placed_.emplace_back(function_.code[index]);
  placed.run = run;
  placed.target = s.low;
  placed.cache = s.high;
  return placed;
}

const instruction& transcript::instruction_of(const step& s) {
  const instruction& plain = function_.code[s.index];
  const instruction& shaped = effects_.shaped(s.index);
  if (s.location != place::unknown) {
    const bool is_load = plain.run == effects_.handlers.load;
    const handler load =
        s.location == place::equal ? effects_.handlers.load_equal : effects_.handlers.load_known;
    return place_at(s.index, is_load ? load : effects_.handlers.store_known, s);
  }
  // The first access of a group in shared memory may be at a known place, and finds no shape then.
  const bool is_shared = effects_.of(plain).is_shared;
  return shaped.run == plain.run || is_shared ? plain : shaped;
}

std::size_t next_selected(const std::vector<std::uint8_t>& selected, std::size_t at) {
  do ++at;
  while (at < selected.size() && !selected[at]);
  return at;
}

// Adds one call for two loads at known places and the sum or fma that alone reads them. Returns the
// last of the three steps, or `at` if the step there needs a call of its own.
std::size_t transcript::fuse(block_state& block, std::size_t at, const flags& selected,
                             std::vector<call>& calls) {
  const std::size_t next = next_selected(selected, at), last = next_selected(selected, next);
  if (last >= steps_.size() || selected[last] != last_reader) return at;
  const step &a = steps_[at], &b = steps_[next], &use = steps_[last];
  const instruction &load_a = function_.code[a.index], &load_b = function_.code[b.index];
  const auto& read = function_.code[use.index].operand;
  const operand_slot x = load_a.operand[0], y = load_b.operand[0];
  const auto loads = [&](const step& s, const instruction& instr) {
    return s.location != place::unknown && instr.run == effects_.handlers.load;
  };
  const bool is_row = a.warp == b.warp && a.warp == use.warp && use.active == all_lanes;
  const bool reads_both =
      x != y && ((read[1] == x && read[2] == y) || (read[1] == y && read[2] == x));
  if (!is_row || !reads_both || !loads(a, load_a) || !loads(b, load_b)) return at;
  const bool is_equal = a.location == place::equal;
  const step &words = is_equal ? b : a, &other = is_equal ? a : b;
  if (words.location != place::consecutive) return at;
  const handler run = function_.code[use.index].run;
  const bool is_sum = run == effects_.handlers.add && other.location == place::consecutive;
  const bool is_product = run == effects_.handlers.fma && other.location == place::equal &&
                          read[3] != x && read[3] != y;
  if (!is_sum && !is_product) return at;
  const handler fused = is_sum ? effects_.handlers.add_known : effects_.handlers.fma_known;
  instruction& placed = place_at(use.index, fused, other);
  placed.immediate = static_cast<std::int64_t>(std::uint64_t{words.high} << 32 | words.low);
  calls.push_back({placed.run, &block.warps[a.warp].view, &placed, use.active, use.lanes});
  return last;
}

void transcript::write_calls(block_state& block, const flags& selected, std::vector<call>& calls) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (!selected[i]) continue;
    const step& s = steps_[i];
    warp* const w = &block.warps[s.warp].view;
    if (s.is_check) {
      calls.push_back({nullptr, w, &function_.code[s.index], s.active, s.lanes});
    } else if (const std::size_t last = fuse(block, i, selected, calls); last != i) {
      i = last;
    } else {
      const instruction& instr = instruction_of(s);
      calls.push_back({instr.run, w, &instr, s.active, s.lanes});
    }
  }
}

bool transcript::takes_this_way() const {
  for (const call& c : checks_) {
    if (c.run) {
      c.w->active = c.active;
      c.run(*c.w, *c.instr);
    } else if (((c.w->predicates[c.instr->guard] ^ c.instr->guard_flip) & c.lanes) != c.active) {
      return false;
    }
  }
  return true;
}

bool transcript::run(block_state& block) {
  if (!takes_this_way()) {
    const bool is_rare = ++failed_ > tolerated_failures + repeated_;
    if (is_rare) stage_ = attempts_ < most_attempts ? stage::unused : stage::useless;
    return false;
  }
  ++repeated_;
  for (warp_state& w : block.warps) {
    ++w.view.round;
    w.view.live = w.view.existing;
  }
  for (const call& c : calls_) {
    c.w->active = c.w->participants = c.active;
    c.run(*c.w, *c.instr);
  }
  block.warps.front().view.executed += executed_;
  block.live_threads = 0;
  return true;
}

}  // namespace halfwarp::emulator::exec
