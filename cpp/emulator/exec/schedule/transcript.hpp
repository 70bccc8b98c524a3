// SPDX-License-Identifier: Apache-2.0
// Runs blocks without a scheduler, as a list of the calls that a whole block makes.
//
// If only the launch, the thread index and the block index decide how a kernel branches, most of
// its blocks take the same way. One block is recorded, in the order in which its warps ran. Later
// blocks repeat the calls whose results differ: a result that no call reads is left out, and so is
// the address of an access to shared memory that is the same in all blocks. First, the calls for
// all branches that the block index decides are made. They only write registers. If one differs,
// the block runs as usual.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/exec/decode/block_roles.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

class transcript {
 public:
  // Returns null if the blocks of the launch cannot be repeated.
  static std::shared_ptr<transcript> create(launch_state& launch);
  transcript(launch_state& launch, const function_code& function);

  bool is_ready() const { return stage_ == stage::ready; }
  // Returns how many calls a repeated block makes behind the checks.
  std::size_t calls() const { return calls_.size(); }
  // Starts to record a block if no other was recorded.
  void start(block_state& block);
  // Call before lanes execute an instruction, and after its guard was read for `lanes`.
  void record(warp& w, const instruction& instr, lane_mask active);
  void record_guard(const warp& w, const instruction& instr, lane_mask lanes, lane_mask active);
  // Call after the first round of the block.
  void finish(block_state& block, bool has_ended);
  // Returns false if the block takes another way. It has then written registers only.
  bool run(block_state& block);

 private:
  enum class stage : std::uint8_t { unused, recording, ready, useless };
  // Lanes of an access to shared memory at a known place; see lane_shape.
  enum class place : std::uint8_t { unknown, consecutive, equal };

  struct step {
    std::uint32_t index;  // instruction
    std::uint16_t warp;
    place location;
    bool is_check;     // of a guard
    lane_mask active;  // of a check: what the guard must select from `lanes`
    lane_mask lanes;
    std::uint32_t low, high;  // known offsets in shared memory, of the first lane of each half
  };
  struct call {
    handler run;  // null for a check
    warp* w;
    const instruction* instr;
    lane_mask active, lanes;
  };
  using flags = std::vector<std::uint8_t>;
  // A list of calls has the selected steps. No step behind a last reader reads its operands.
  enum selection : std::uint8_t { left_out, is_selected, last_reader };

  void find_place(const warp& w, const instruction& instr, step& s) const;
  bool is_one(const step& a, const step& b) const;
  flags needed(const block_state& block, bool for_checks) const;
  void add_reads(const step& s, flags& live, std::size_t first) const;
  instruction& place_at(std::uint32_t index, handler run, const step& s);
  const instruction& instruction_of(const step& s);
  std::size_t fuse(block_state& block, std::size_t at, const flags& selected,
                   std::vector<call>& calls);
  void write_calls(block_state& block, const flags& selected, std::vector<call>& calls);
  bool takes_this_way() const;

  launch_state& launch_;
  const function_code& function_;
  code_effects& effects_;
  stage stage_ = stage::unused;
  std::vector<step> steps_;
  std::vector<instruction> placed_;  // accesses at known places
  std::vector<call> checks_, calls_;
  std::uint64_t executed_ = 0;  // thread-instructions of a block
  std::uint32_t attempts_ = 0;
  std::uint64_t repeated_ = 0, failed_ = 0;  // blocks
};

}  // namespace halfwarp::emulator::exec
