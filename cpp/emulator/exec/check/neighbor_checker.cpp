// SPDX-License-Identifier: Apache-2.0
// Compares addresses with the object that their pointer begins at, and follows local addresses.
#include "emulator/exec/check/neighbor_checker.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/check/pointer_bases.hpp"
#include "emulator/exec/decode/kernel_layout.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

template <class Visitor>
void each_lane(lane_mask lanes, Visitor&& visit) {
  for (; lanes; lanes &= lanes - 1) visit(std::countr_zero(lanes));
}

std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes) + " bytes "; }

}  // namespace

neighbor_checker::neighbor_checker(const launch_state& launch, const launch_sites& sites)
    : launch_{launch}, object_of_(sites.all.size()) {
  find_objects(sites);
}

// Finds the objects of accesses in the kernel's own function. An access is left out if several
// objects are possible.
void neighbor_checker::find_objects(const launch_sites& sites) {
  const program& owner = launch_.request.entry->owner();
  const std::uint32_t entry = launch_.request.entry->function();
  const ptx::function& function = owner.source->functions[entry];
  const kernel_layout layout = compute_layout(*owner.source, entry);
  const pointer_bases bases{*owner.source, function};
  pointer_bases::set known = ~pointer_bases::set{0}
                             << std::min<std::size_t>(bases.all().size(), 63);
  for (std::size_t n = 0; n < bases.all().size(); ++n) {
    const auto& [variable, offset] = bases.all()[n];
    object& each = objects_.emplace_back();
    if (variable) {
      const auto shared = layout.shared_offsets.find(variable);
      each.is_shared = shared != layout.shared_offsets.end();
      each.first = each.is_shared ? shared->second : owner.address_of(*variable);
      each.end = variable->is_unsized ? launch_.reserved_shared : each.first + variable->size;
      if (variable->is_unsized && !each.is_shared) each.end = 0;
      each.name = "variable '" + std::string{variable->name} + "'";
      if (!each.is_shared && !each.first) each.end = 0;
    } else {
      std::uint64_t value = 0;
      const auto parameters = launch_.request.parameters;
      if (offset + sizeof(value) > parameters.size()) continue;
      std::memcpy(&value, parameters.data() + offset, sizeof(value));
      const auto memory = launch_.space.find_live(value);
      // Neighboring mappings may be one object.
      const bool is_one = memory && memory->kind != memory::allocation_kind::mapped &&
                          memory->kind != memory::allocation_kind::mapped_host;
      if (!is_one) continue;
      each.first = memory->base;
      each.end = memory->end();
      each.name = "allocation of " + std::to_string(memory->size) + " bytes";
    }
    if (each.end && n < 63) known |= pointer_bases::set{1} << n;
  }
  const function_code& code = launch_.code.functions.front();
  for (std::size_t n = 0; n < code.code.size(); ++n) {
    const std::uint32_t source = code.code[n].source;
    if (sites.all[n].use != race_site::role::access || source >= function.instructions.size()) {
      continue;
    }
    const pointer_bases::set from = bases.of_access(function.instructions[source]) & known;
    if (std::has_single_bit(from) && !(from >> 63)) {
      object_of_[n] = static_cast<std::uint32_t>(std::countr_zero(from)) + 1;
    }
  }
}

bool neighbor_checker::is_recorded(const race_site& site, std::size_t number) const {
  if (site.use != race_site::role::access) return false;
  return object_of_[number] || site.shape.bytes == 8 || !site.shape.is_shared;
}

void neighbor_checker::record(const warp_access& access) {
  if (const std::uint32_t index = object_of_[access.number]) compare(access, objects_[index - 1]);
  if (access.is_regular && access.site.shape.bytes != 8) return;
  if (access.site.shape.bytes == 8) follow_local_addresses(access);
  if (!access.is_regular && !access.site.shape.is_shared) check_frame(access);
}

void neighbor_checker::compare(const warp_access& access, const object& expected) {
  if (fits(access, expected)) return;
  each_lane(access.lanes, [&](int lane) {
    const auto word = word_of(access.view, access.instr, access.site.shape, lane);
    if (!word || expected.contains(word->address, access.bytes)) return;
    const bool is_before = word->is_shared == expected.is_shared && word->address < expected.first;
    std::string detail = "an address based on the " + expected.name + " lies ";
    if (word->is_shared != expected.is_shared) {
      detail += "in another state space";
    } else if (is_before) {
      detail += bytes_text(expected.first - word->address) + "before its start";
    } else {
      detail += bytes_text(word->address - std::min(expected.end, word->address)) + "past its end";
    }
    add_finding(access, lane, *word, mistake::other_object, std::move(detail));
  });
}

// A local address names other bytes in another thread.
void neighbor_checker::follow_local_addresses(const warp_access& access) {
  const std::uint64_t window = launch_.space.local_window();
  const memory_use use = access.site.shape.use;
  if (use == memory_use::load ? escaped_.empty() : use != memory_use::store) return;
  const std::uint32_t count = elements_of(access.instr, access.site.shape);
  for (std::uint32_t n = 0; n < count; ++n) {
    each_lane(access.lanes, [&](int lane) {
      const thread self{access.view.block->number,
                        access.view.index * warp_size + static_cast<std::uint32_t>(lane)};
      if (use == memory_use::store) {
        const std::uint64_t value = read_register(access.view, access.instr.operand[n], lane, 8);
        if (value - window >= memory::window_bytes) return;
        const auto word = word_of(access.view, access.instr, access.site.shape, lane, n);
        if (word) escaped_[word->cell] = self;
        return;
      }
      const auto word = word_of(access.view, access.instr, access.site.shape, lane, n);
      if (!word || read_word(word->cell, 8) - window >= memory::window_bytes) return;
      const auto owner = escaped_.find(word->cell);
      if (owner == escaped_.end() || owner->second == self) return;
      add_finding(access, lane, *word, mistake::other_thread,
                  "a thread reads the address of a local variable of another");
    });
  }
}

void neighbor_checker::check_frame(const warp_access& access) {
  const warp& w = access.view;
  if (w.function->allocates_stack) return;
  const std::uint64_t window = launch_.space.local_window();
  each_lane(access.lanes, [&](int lane) {
    const std::uint64_t at = read_address(access.view, access.instr.operand[4], lane, false) +
                             static_cast<std::uint64_t>(access.instr.immediate) - window;
    const bool is_behind = at < w.local_stride && at + access.bytes > w.stack_top;
    if (!is_behind) return;
    add_finding(access, lane, {0, at, false}, mistake::returned_frame,
                "an address of the local memory of a function that has returned");
  });
}

void neighbor_checker::add_finding(const warp_access& access, int lane, const shared_word& word,
                                   mistake kind, std::string detail) {
  constexpr std::size_t max_findings = 100;
  constexpr const char* hints[] = {
      "compare the index with the number of elements; the access lands in another object, so it "
      "is no fault",
      "an address of local memory names other bytes in each thread: pass the value, or use shared "
      "memory",
      "let the caller own the variable"};
  const finding_key key{&access.instr, kind};
  if (const auto known = findings_.find(key); known != findings_.end()) {
    ++known->second.count;
    return;
  }
  if (findings_.size() >= max_findings) return;
  report::fault f = describe_fault(access.view, access.instr, lane);
  f.kind = report::fault_kind::neighbor;
  const memory_use use = access.site.shape.use;
  f.access = use == memory_use::load    ? report::access_kind::load
             : use == memory_use::store ? report::access_kind::store
                                        : report::access_kind::atomic;
  f.bytes = access.bytes;
  f.address = word.address;
  f.detail = std::move(detail);
  f.hint = hints[static_cast<std::size_t>(kind)];
  f.space = word.is_shared ? report::memory_space::shared : report::memory_space::global;
  if (word.cell && !word.is_shared) f.nearest = launch_.space.nearest(word.address);
  findings_.emplace(key, std::move(f));
}

std::vector<report::fault> neighbor_checker::findings() const {
  std::vector<report::fault> all;
  for (const auto& [key, finding] : findings_) all.push_back(finding);
  return all;
}

}  // namespace halfwarp::emulator::exec
