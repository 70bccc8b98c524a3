// SPDX-License-Identifier: Apache-2.0
// Compares the results of each handler with its description for the check of unwritten bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "emulator/exec/check/init/init_site.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/warp.hpp"
#include "emulator/exec/watch/access_shape.hpp"

namespace halfwarp::tests {
namespace {

using namespace emulator::exec;

constexpr std::size_t slot_bytes = 320, slots = 6;
constexpr std::uint32_t second = 7;  // the predicate of a second result

// The registers and the predicates of a warp, and what a handler does to them.
struct state {
  alignas(64) std::array<std::byte, slots * slot_bytes> registers;
  alignas(64) std::array<lane_mask, slots * slot_bytes> predicates;

  state() {
    std::mt19937 random{1};
    for (auto& each : registers) each = static_cast<std::byte>(random());
    for (auto& each : predicates) each = random();
    const std::vector<lane_mask> members(warp_size, all_lanes);
    std::memcpy(&registers[5 * slot_bytes], members.data(), 4 * members.size());
  }
  void run(const instruction& instr, lane_mask lanes) {
    warp w;
    w.registers = registers.data();
    w.predicates = predicates.data();
    w.active = w.existing = w.live = w.participants = lanes;
    instr.run(w, instr);
  }
};

// Returns whether a handler only computes a whole result: it needs no memory and no launch.
bool only_computes(std::string_view name) {
  if (name == "selp.half") return false;  // writes one half of its result
  const std::string_view first = parts_of_name(name)[0];
  for (const std::string_view each :
       {"ld", "st", "atom", "check", "fence", "nothing", "touch", "mma", "wgmma", "tcgen05",
        "special", "local_address", "mark", "fused", "known"}) {
    if (first == each) return false;
  }
  return true;
}

instruction instruction_of(handler run) {
  instruction instr{.run = run, .immediate = 3, .target = second};
  for (std::size_t n = 0; n < instr.operand.size(); ++n) {
    instr.operand[n] = static_cast<operand_slot>((n + 1) * slot_bytes);
  }
  return instr;
}

std::string place_of(std::size_t byte) {
  return "operand " + std::to_string(byte / slot_bytes) + " byte " +
         std::to_string(byte % slot_bytes);
}

// The bytes that a handler writes are equal afterwards, whatever they were.
void expect_results(std::string_view name, const instruction& instr, const init_site& site,
                    lane_mask lanes) {
  static const state random;
  state first = random, other = random;
  std::vector<bool> is_result(first.registers.size());
  for (std::uint32_t n = 0; n < site.results; ++n) {
    const auto slot = static_cast<std::size_t>(instr.operand[site.first_result + n]);
    for (std::size_t i = 0; i < std::size_t{warp_size} * site.result_bytes; ++i) {
      if (lanes >> i / site.result_bytes & 1) is_result[slot + i] = true;
    }
  }
  for (std::size_t i = 0; i < is_result.size(); ++i) {
    if (is_result[i]) other.registers[i] = ~other.registers[i];
  }
  first.run(instr, lanes);
  other.run(instr, lanes);
  for (std::size_t i = 0; i < is_result.size(); ++i) {
    if (!is_result[i]) other.registers[i] = random.registers[i];
  }
  const auto differs = std::ranges::mismatch(first.registers, other.registers);
  ASSERT_EQ(differs.in1, first.registers.end())
      << name << ", " << place_of(static_cast<std::size_t>(differs.in1 - first.registers.begin()));
  other.predicates = random.predicates;
  const auto copy_lanes = [&](std::size_t n) {
    other.predicates[n] = (other.predicates[n] & ~lanes) | (first.predicates[n] & lanes);
  };
  if (site.has_predicate) copy_lanes(slot_bytes);
  if (site.has_second_result) copy_lanes(second);
  if (site.has_carry) copy_lanes(0);
  ASSERT_EQ(first.predicates, other.predicates) << name;
}

// Checks the handlers of the current instruction set, and returns their number.
std::size_t check_handlers() {
  std::size_t count = 0;
  const function_code function;
  for (const handler_family& family : handler_families()) {
    for (const handler_entry& entry : family) {
      if (!only_computes(entry.name)) continue;
      const instruction instr = instruction_of(entry.run);
      const init_site site = make_init_site(function, instr);
      for (const lane_mask lanes : {all_lanes, 0x0f0f'00ffu}) {
        expect_results(entry.name, instr, site, lanes);
        if (testing::Test::HasFatalFailure()) return count;
      }
      ++count;
    }
  }
  return count;
}

TEST(value_sites, have_the_results_of_their_handlers) {
  for (const auto set :
       {instruction_set::x86_64_v4, instruction_set::x86_64_v3, instruction_set::baseline}) {
    if (!is_available(set)) continue;
    use_instruction_set(set);
    EXPECT_GT(check_handlers(), 300u);
  }
  use_instruction_set(detected_instruction_set());
}

}  // namespace
}  // namespace halfwarp::tests
