// SPDX-License-Identifier: Apache-2.0
// Finds uses of bytes that nobody wrote, in one launch.
//
// Memory has a state for each byte. Registers have a state for each bit, from the first load of an
// unwritten byte into the frame on. Copies carry the states, and a use is reported: a branch, an
// address, a mask, the operand of an atomic operation, an argument of printf.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "emulator/exec/check/init/init_site.hpp"
#include "emulator/exec/check/warp_access.hpp"
#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/warp.hpp"
#include "emulator/memory/written_bytes.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator::exec {

struct launch_state;
struct block_state;

// The undefined bits of a frame's values: ones, at the offsets of the values.
struct undefined_values {
  std::vector<std::byte> registers;
  std::vector<lane_mask> predicates;
  // The load that the undefined bits came from, by line of registers and by predicate: the number
  // of its instruction plus 1.
  std::vector<std::uint32_t> origins, predicate_origins;
  std::uint32_t age = 0;  // instructions since the last search for undefined bits
};

// Used by one host thread.
class init_checker {
 public:
  init_checker(const launch_state& launch, const launch_sites& sites);
  init_checker(const init_checker&) = delete;  // the launch owns one

  void begin(block_state& block);
  // Call before lanes execute an instruction. Its frame must be active.
  void record(const warp_access& access);
  // This function does so for a load of written bytes or a store, with a pattern, if all values are
  // defined. It returns false for another access.
  bool pass(const warp_access& access) const;
  // Returns whether an instruction needs `record` even if all values in registers are defined.
  bool is_always_followed(std::size_t number) const;
  // Call before an instruction that the scheduler executes, with all lanes of the split.
  void record_flow(warp& w, const instruction& instr, lane_mask lanes);
  // Call before lanes execute a collective instruction for which they waited. A shuffled value of a
  // lane that takes no part becomes undefined.
  void meet(warp& w, const instruction& instr, lane_mask lanes);
  // Call when lanes enter a function, and for each parameter and result that they pass. A place is
  // in the local memory or in the registers of a frame.
  struct place {
    frame* owner;
    bool is_memory;
    std::int32_t at;
  };
  void enter(const warp& w, const frame& entered, lane_mask lanes) const;
  void copy(const warp& w, const place& from, const place& to, std::uint32_t bytes,
            lane_mask lanes);
  // Call when a built-in function reads an argument in generic memory, or returns a result.
  void use_argument(const warp& w, const instruction& call, int lane, std::uint64_t address,
                    std::uint32_t bytes);
  void define_result(const warp& w, const place& to, std::uint32_t bytes, int lane);

  std::vector<report::fault> findings() const;
  // Returns the address of unwritten bytes in global memory that an instruction loaded or copied
  // before it stored them, or 0.
  std::uint64_t source_of(std::uint32_t site) const;

 private:
  using lane_states = std::array<std::byte*, warp_size>;
  using finding_key = std::tuple<std::string_view, std::uint32_t, std::uint32_t>;
  struct origin {
    report::earlier_access access;
    report::memory_space space = report::memory_space::global;
    std::uint64_t address = 0;
    std::uint32_t unwritten = 0, bytes = 0;
    std::uint64_t first_unwritten = 0;  // address
    std::uint32_t before = 0;           // the origin of bytes that a store carried here
    std::optional<memory::allocation> memory;
  };

  const init_site& site_of(const warp& w, const instruction& instr) const;
  std::byte* state_of(const warp& w, const init_site& site, std::uint64_t address, int lane,
                      std::uint32_t bytes) const;
  std::uint64_t address_of(warp& w, const init_site& site, int lane) const;
  std::byte* local_state(const warp& w, int lane, std::uint64_t offset, std::uint32_t bytes) const;
  std::byte* shared_state(const warp& w, std::uint64_t offset, std::uint32_t bytes) const;
  lane_states states_of(warp& w, const init_site& site, lane_mask lanes, std::uint32_t bytes) const;

  void load(warp& w, const init_site& site, lane_mask lanes);
  void store(warp& w, const init_site& site, lane_mask lanes);
  void update(warp& w, const init_site& site, lane_mask lanes);
  void copy_async(warp& w, const init_site& site, lane_mask lanes);
  void store_anywhere(warp& w);
  void compute(warp& w, const init_site& site, lane_mask lanes);
  void compare(warp& w, const init_site& site, lane_mask lanes);
  void define(warp& w, const init_site& site, lane_mask lanes);
  void perturb(warp& w, const init_site& site, lane_mask lanes);
  std::uint32_t note_shuffle(const warp& w, const init_site& site, int lane);

  static undefined_values& values_of(frame& f);
  void forget_if_defined(warp& w);
  std::uint32_t note_origin(warp& w, const init_site& site, lane_mask lanes,
                            const lane_states& states, std::uint32_t bytes);
  // Reports lanes whose value in a register is undefined, and counts it as defined from then on.
  void use(warp& w, const init_site& site, operand_slot slot, std::uint32_t bytes, lane_mask lanes,
           std::string_view as);
  void use_predicate(warp& w, const init_site& site, std::int32_t index, lane_mask lanes,
                     std::string_view as);
  void note_store(const init_site& site, const std::byte* states, std::uint32_t bytes,
                  std::uint32_t from);
  std::uint64_t root_of(std::uint32_t from) const;
  void describe_origin(report::fault& f, const origin& source) const;
  void add_finding(const warp& w, const init_site& site, int lane, std::string_view use,
                   std::uint32_t from);

  static constexpr std::size_t max_findings = 100, max_stores = 4096;

  const launch_state& launch_;
  const launch_sites& positions_;
  std::vector<init_site> sites_;  // of all functions
  std::unordered_map<std::uint32_t, origin> origins_;
  // The origin of unwritten bytes that were stored: by the word of their states, and by site.
  std::unordered_map<std::uint64_t, std::uint32_t> stored_, stored_by_;
  std::map<finding_key, report::fault> findings_;
  bool has_unknown_stores_ = false;
};

[[gnu::always_inline]] inline bool init_checker::pass(const warp_access& access) const {
  const memory_use use = access.site.shape.use;
  if (use > memory_use::store) return false;
  std::byte* const shared = access.view.block->shared_states.data();
  const memory::written_bytes& global = *launch_.space.states();
  for (const warp_access::half& part : access.halves) {
    std::byte* const states = access.is_shared ? shared + part.address : global.at(part.address);
    if (part.kind == warp_access::pattern::absent || !states) continue;
    const std::uint32_t bytes = access.bytes_of(part);
    if (use == memory_use::store) {
      constexpr std::uint32_t usual = half_warp * 4;  // needs no call
      if (bytes == usual) {
        std::memset(states, 0xff, usual);
      } else {
        std::memset(states, 0xff, bytes);
      }
    } else if (!memory::is_written(states, bytes)) {
      return false;
    }
  }
  return true;
}

}  // namespace halfwarp::emulator::exec
