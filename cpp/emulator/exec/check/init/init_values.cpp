// SPDX-License-Identifier: Apache-2.0
// Follows undefined bits through computations, and reports their uses.
//
// A handler runs several times with other values for the undefined bits. Bits of a result that
// differ are undefined.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/check/init/init_checker.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/watch/access_shape.hpp"
#include "emulator/memory/written_bytes.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t line = 64;
constexpr std::uint32_t largest_value = 8 * warp_size;  // bytes of a register
constexpr int patterns = 4;
constexpr std::uint32_t search_interval = 256;  // instructions

template <class Visitor>
void each_lane(lane_mask lanes, Visitor&& visit) {
  for (; lanes; lanes &= lanes - 1) visit(std::countr_zero(lanes));
}

bool is_zero(std::byte value) { return value == std::byte{0}; }

template <class Range>
bool has_bits(const Range& bytes) {
  return !std::all_of(bytes.begin(), bytes.end(), is_zero);
}

// Returns what replaces undefined bits: zeros, ones, random bits and their complement.
std::byte replacement(int pattern, std::size_t at) {
  if (pattern < 2) return pattern ? std::byte{0xff} : std::byte{0};
  std::uint32_t mixed = (static_cast<std::uint32_t>(at) + 1) * 0x9e3779b9u;
  mixed = (mixed ^ mixed >> 15) * 0x85ebca6bu;
  const auto bits = static_cast<std::byte>(mixed >> 24);
  return pattern == 2 ? bits : ~bits;
}

// The bytes of an operand's register, and of those behind it.
struct window {
  std::size_t slot = 0, bytes = 0;
  std::array<std::byte, largest_value> value, undefined;
};

// The operands of an instruction, with replaced undefined bits.
class operand_windows {
 public:
  operand_windows(warp& w, const undefined_values& values, const instruction& instr)
      : w_{w}, values_{values} {
    for (const operand_slot slot : instr.operand) {
      const auto at = static_cast<std::size_t>(slot);
      if (slot < 0 || at >= values.registers.size()) continue;
      window& each = windows_[count_++];
      each.slot = at;
      each.bytes = std::min<std::size_t>(largest_value, values.registers.size() - at);
      std::memcpy(each.value.data(), w.registers + at, each.bytes);
      std::memcpy(each.undefined.data(), values.registers.data() + at, each.bytes);
    }
    predicates_.assign(w.predicates, w.predicates + values.predicates.size());
  }
  void replace(int pattern) {
    for (std::size_t n = 0; n < count_; ++n) {
      const window& each = windows_[n];
      for (std::size_t i = 0; i < each.bytes; ++i) {
        const std::byte undefined = each.undefined[i];
        w_.registers[each.slot + i] =
            (each.value[i] & ~undefined) | (replacement(pattern, each.slot + i) & undefined);
      }
    }
    for (std::size_t i = 0; i < predicates_.size(); ++i) {
      const lane_mask undefined = values_.predicates[i];
      const lane_mask value = pattern % 2 ? all_lanes : 0;
      w_.predicates[i] = (predicates_[i] & ~undefined) | (value & undefined);
    }
  }
  void restore() {
    for (std::size_t n = 0; n < count_; ++n) {
      std::memcpy(w_.registers + windows_[n].slot, windows_[n].value.data(), windows_[n].bytes);
    }
    std::copy(predicates_.begin(), predicates_.end(), w_.predicates);
  }

 private:
  warp& w_;
  const undefined_values& values_;
  std::array<window, 5> windows_;
  std::size_t count_ = 0;
  std::vector<lane_mask> predicates_;
};

// The results of an instruction for one replacement.
struct results {
  std::array<std::array<std::byte, largest_value>, 4> values{};
  lane_mask predicate = 0, second = 0, carry = 0;
};

results results_of(warp& w, const init_site& site) {
  results all;
  const instruction& instr = *site.at;
  for (std::uint32_t n = 0; n < site.results; ++n) {
    const operand_slot slot = instr.operand[site.first_result + n];
    std::memcpy(all.values[n].data(), w.registers + slot, site.result_bytes * warp_size);
  }
  if (site.has_predicate) all.predicate = w.predicates[instr.operand[0]];
  if (site.has_second_result && instr.target) all.second = w.predicates[instr.target];
  if (site.has_carry) all.carry = w.predicates[0];
  return all;
}

void add_differences(results& sum, const results& a, const results& b) {
  for (std::size_t n = 0; n < sum.values.size(); ++n) {
    for (std::size_t i = 0; i < largest_value; ++i) {
      sum.values[n][i] |= a.values[n][i] ^ b.values[n][i];
    }
  }
  sum.predicate |= a.predicate ^ b.predicate;
  sum.second |= a.second ^ b.second;
  sum.carry |= a.carry ^ b.carry;
}

// Executes a shuffle. A lane that takes no part has the replacement of an undefined value.
void run_shuffle(warp& w, const instruction& instr, lane_mask lanes, int pattern) {
  w.step = exchange_step::write;
  instr.run(w, instr);
  each_lane(~lanes, [&](int l) { w.exchange[l] = pattern % 2 ? ~std::uint64_t{0} : 0; });
  w.step = exchange_step::read;
  w.participants = all_lanes;
  instr.run(w, instr);
  w.step = exchange_step::write_and_read;
  w.participants = lanes;
}

}  // namespace

undefined_values& init_checker::values_of(frame& f) {
  if (!f.undefined) {
    f.undefined = std::make_shared<undefined_values>();
    const std::size_t bytes = f.function->register_bytes;
    f.undefined->registers.resize(bytes);
    f.undefined->origins.resize(bytes / line + 1);
    f.undefined->predicates.resize(f.function->predicates);
    f.undefined->predicate_origins.resize(f.function->predicates);
  }
  return *f.undefined;
}

void init_checker::forget_if_defined(warp& w) {
  undefined_values& values = *w.current->undefined;
  if (++values.age < search_interval) return;
  values.age = 0;
  const auto is_none = [](lane_mask lanes) { return lanes == 0; };
  if (has_bits(values.registers) || !std::ranges::all_of(values.predicates, is_none)) return;
  w.current->undefined.reset();
}

void init_checker::define(warp& w, const init_site& site, lane_mask lanes) {
  if (!w.current->undefined) return;
  undefined_values& values = *w.current->undefined;
  const instruction& instr = *site.at;
  for (std::uint32_t n = 0; n < site.results; ++n) {
    const operand_slot slot = instr.operand[site.first_result + n];
    std::byte* to = values.registers.data() + slot;
    if (lanes == all_lanes) {
      std::memset(to, 0, site.result_bytes * warp_size);
      continue;
    }
    each_lane(lanes, [&](int l) { std::memset(to + l * site.result_bytes, 0, site.result_bytes); });
  }
  if (site.has_predicate) values.predicates[static_cast<std::size_t>(instr.operand[0])] &= ~lanes;
  if (site.has_second_result) values.predicates[instr.target] &= ~lanes;
  if (site.has_carry) values.predicates[0] &= ~lanes;
}

void init_checker::compute(warp& w, const init_site& site, lane_mask lanes) {
  forget_if_defined(w);
  if (!w.current->undefined || site.rule == value_rule::define) return define(w, site, lanes);
  if (site.rule == value_rule::compare || site.rule == value_rule::compare_equal) {
    return compare(w, site, lanes);
  }
  if (site.rule == value_rule::between_lanes || site.rule == value_rule::shuffle) {
    const lane_mask members = w.at<lane_mask>(site.at->operand[4])[std::countr_zero(lanes)];
    if ((members & w.live) != lanes) return define(w, site, lanes);
    w.participants = lanes;
  }
  perturb(w, site, lanes);
}

void init_checker::compare(warp& w, const init_site& site, lane_mask lanes) {
  undefined_values& values = *w.current->undefined;
  const instruction& instr = *site.at;
  lane_mask undefined = 0;
  std::uint32_t from = 0;
  each_lane(lanes, [&](int l) {
    std::uint64_t bits[2] = {}, value[2];
    for (int n = 0; n < 2; ++n) {
      const operand_slot slot = instr.operand[n + 1];
      value[n] = read_register(w, slot, l, site.bytes);
      if (slot < 0) continue;
      std::memcpy(&bits[n], values.registers.data() + slot + l * site.bytes, site.bytes);
      if (bits[n]) from = values.origins[static_cast<std::size_t>(slot) / line];
    }
    const std::uint64_t defined = ~(bits[0] | bits[1]);
    const bool is_known =
        site.rule == value_rule::compare_equal && ((value[0] ^ value[1]) & defined) != 0;
    if ((bits[0] | bits[1]) && !is_known) undefined |= 1u << l;
  });
  lane_mask& result = values.predicates[static_cast<std::size_t>(instr.operand[0])];
  result = (result & ~lanes) | undefined;
  if (undefined) values.predicate_origins[static_cast<std::size_t>(instr.operand[0])] = from;
}

void init_checker::perturb(warp& w, const init_site& site, lane_mask lanes) {
  undefined_values& values = *w.current->undefined;
  const instruction& instr = *site.at;
  std::uint32_t from = 0;
  for (const operand_slot slot : instr.operand) {
    if (slot < 0 || static_cast<std::size_t>(slot) >= values.registers.size()) continue;
    const std::size_t bytes = std::min<std::size_t>(
        largest_value, values.registers.size() - static_cast<std::size_t>(slot));
    if (!has_bits(std::span{values.registers}.subspan(static_cast<std::size_t>(slot), bytes)))
      continue;
    const std::uint32_t each = values.origins[static_cast<std::size_t>(slot) / line];
    if (each) from = each;
  }
  for (std::size_t i = 0; i < values.predicates.size(); ++i) {
    if (values.predicates[i] & lanes) from = from ? from : values.predicate_origins[i];
  }
  const bool is_partial = site.rule == value_rule::shuffle && lanes != all_lanes;
  if (!from && !is_partial) return define(w, site, lanes);
  operand_windows operands{w, values, instr};
  results first, sum{};
  for (int pattern = 0; pattern < patterns; ++pattern) {
    operands.replace(pattern);
    if (is_partial) {
      run_shuffle(w, instr, lanes, pattern);
    } else {
      instr.run(w, instr);
    }
    const results each = results_of(w, site);
    if (pattern == 0) first = each;
    add_differences(sum, first, each);
    operands.restore();
  }
  const bool is_guard_undefined =
      instr.guard >= 0 && (values.predicates[static_cast<std::size_t>(instr.guard)] & lanes) != 0;
  for (std::uint32_t n = 0; n < site.results; ++n) {
    const auto slot = static_cast<std::size_t>(instr.operand[site.first_result + n]);
    bool is_undefined = false;
    each_lane(lanes, [&](int l) {
      const auto offset = static_cast<std::size_t>(l) * site.result_bytes;
      std::span difference{sum.values[n].data() + offset, site.result_bytes};
      const bool differs = is_guard_undefined || has_bits(difference);
      is_undefined |= differs;
      if (differs && from == 0) from = note_shuffle(w, site, l);
      if (differs && (site.rule != value_rule::per_bit || is_guard_undefined)) {
        std::ranges::fill(difference, std::byte{0xff});
      }
      std::ranges::copy(difference, values.registers.data() + slot + offset);
    });
    if (is_undefined) values.origins[slot / line] = from;
  }
  const auto set = [&](std::size_t index, lane_mask undefined) {
    values.predicates[index] = (values.predicates[index] & ~lanes) | (undefined & lanes);
    if (undefined & lanes) values.predicate_origins[index] = from;
  };
  if (site.has_predicate) set(static_cast<std::size_t>(instr.operand[0]), sum.predicate);
  if (site.has_second_result && instr.target) set(instr.target, sum.second);
  if (site.has_carry) set(0, sum.carry);
}

void init_checker::use(warp& w, const init_site& site, operand_slot slot, std::uint32_t bytes,
                       lane_mask lanes, std::string_view as) {
  undefined_values& values = *w.current->undefined;
  if (slot < 0 || static_cast<std::size_t>(slot) >= values.registers.size()) return;
  each_lane(lanes, [&](int l) {
    const std::span states{values.registers.data() + slot + static_cast<std::size_t>(l) * bytes,
                           bytes};
    if (!has_bits(states)) return;
    add_finding(w, site, l, as, values.origins[static_cast<std::size_t>(slot) / line]);
    std::ranges::fill(states, std::byte{0});
  });
}

void init_checker::use_predicate(warp& w, const init_site& site, std::int32_t index,
                                 lane_mask lanes, std::string_view as) {
  undefined_values& values = *w.current->undefined;
  lane_mask& undefined = values.predicates[static_cast<std::size_t>(index)];
  each_lane(undefined & lanes, [&](int l) {
    add_finding(w, site, l, as, values.predicate_origins[static_cast<std::size_t>(index)]);
  });
  undefined &= ~lanes;
}

namespace {

// The key of states that belong to one word.
std::uint64_t word_of(const std::byte* states) {
  return reinterpret_cast<std::uint64_t>(states) / 4;
}

}  // namespace

std::uint32_t init_checker::note_origin(warp& w, const init_site& site, lane_mask lanes,
                                        const lane_states& states, std::uint32_t bytes) {
  const std::uint32_t number = site.number + 1;
  if (origins_.contains(number)) return number;
  origin& from = origins_[number];
  each_lane(lanes, [&](int l) {
    if (from.bytes || !states[l]) return;
    const auto unwritten = std::count(states[l], states[l] + bytes, memory::unwritten);
    if (!unwritten) return;
    const report::fault here = describe_fault(w, *site.at, l);
    from.unwritten = static_cast<std::uint32_t>(unwritten);
    from.bytes = bytes;
    from.access = {report::access_kind::load, here.block_index, here.thread,     here.ptx_line,
                   here.source_file,          here.source_line, here.instruction};
    from.address = address_of(w, site, l);
    const auto offset = static_cast<std::uint32_t>(
        std::find(states[l], states[l] + bytes, memory::unwritten) - states[l]);
    const auto stored = stored_.find(word_of(states[l] + offset));
    if (stored != stored_.end()) from.before = stored->second;
    const memory::address_space& space = launch_.space;
    from.space = site.space == value_space::shared  ? report::memory_space::shared
                 : site.space == value_space::local ? report::memory_space::local
                                                    : report::memory_space::global;
    if (from.address - space.shared_window() < memory::window_bytes) {
      from.space = report::memory_space::shared;
      from.address -= space.shared_window();
    } else if (from.address - space.local_window() < memory::window_bytes) {
      from.space = report::memory_space::local;
      from.address -= space.local_window();
    }
    from.first_unwritten = from.address + offset;
    if (from.space == report::memory_space::global) from.memory = space.nearest(from.address);
  });
  return number;
}

// Notes that a lane took the value of a lane that takes no part.
std::uint32_t init_checker::note_shuffle(const warp& w, const init_site& site, int lane) {
  const auto [entry, is_new] = origins_.try_emplace(site.number + 1);
  if (is_new) {
    const report::fault here = describe_fault(w, *site.at, lane);
    entry->second.space = report::memory_space::generic;
    entry->second.access = {
        report::access_kind::load, here.block_index, here.thread,     here.ptx_line,
        here.source_file,          here.source_line, here.instruction};
  }
  return site.number + 1;
}

void init_checker::note_store(const init_site& site, const std::byte* states, std::uint32_t bytes,
                              std::uint32_t from) {
  stored_by_.try_emplace(site.number, from);
  if (stored_.size() >= max_stores) return;
  for (std::uint32_t i = 0; i < bytes; i += 4) stored_.insert_or_assign(word_of(states + i), from);
}

std::uint64_t init_checker::root_of(std::uint32_t from) const {
  auto match = origins_.find(from);
  while (match != origins_.end() && match->second.before) {
    match = origins_.find(match->second.before);
  }
  const bool is_global =
      match != origins_.end() && match->second.space == report::memory_space::global;
  return is_global ? match->second.first_unwritten : 0;
}

std::uint64_t init_checker::source_of(std::uint32_t site) const {
  const auto match = stored_by_.find(site);
  return match == stored_by_.end() ? 0 : root_of(match->second);
}

// Names the loads that carried the bytes here. The driver adds earlier operations.
void init_checker::describe_origin(report::fault& f, const origin& source) const {
  const origin* last = &source;
  while (last->before) {
    last = &origins_.at(last->before);
    report::fault load;
    load.space = last->space;
    load.address = last->first_unwritten;
    load.nearest = last->memory;
    f.history +=
        report::origin_lines(load, report::writer_text({}, last->access, "read and stored"));
  }
  if (last->space == report::memory_space::global) f.unwritten = last->first_unwritten;
}

void init_checker::add_finding(const warp& w, const init_site& site, int lane, std::string_view use,
                               std::uint32_t from) {
  const finding_key key{use, site.number, from};
  if (const auto known = findings_.find(key); known != findings_.end()) {
    ++known->second.count;
    return;
  }
  if (findings_.size() >= max_findings) return;
  report::fault f = describe_fault(w, *site.at, lane);
  f.kind = report::fault_kind::uninitialized;
  f.detail = use;
  if (const auto match = origins_.find(from); match != origins_.end()) {
    const origin& source = match->second;
    f.detail += source.bytes ? " from " + std::to_string(source.unwritten) + " of " +
                                   std::to_string(source.bytes) + " bytes that nobody wrote"
                             : " with the shuffled value of a lane that takes no part";
    f.space = source.space;
    f.address = source.address;
    f.bytes = source.bytes;
    f.nearest = source.memory;
    if (source.access.ptx_line) f.earlier = source.access;
    describe_origin(f, source);
  } else {
    f.detail += " with a value that nobody wrote";
  }
  f.hint = f.space == report::memory_space::generic
               ? "take part with all lanes, or name a source lane that takes part"
           : f.space == report::memory_space::global
               ? "fill the memory before its first use: a copy, a memset, or a store by a kernel"
               : "store to every element before its first use";
  findings_.emplace(key, std::move(f));
}

std::vector<report::fault> init_checker::findings() const {
  std::vector<report::fault> all;
  for (const auto& [key, finding] : findings_) all.push_back(finding);
  return all;
}

}  // namespace halfwarp::emulator::exec
