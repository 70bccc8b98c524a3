// SPDX-License-Identifier: Apache-2.0
// Records changes in a table that is created on the first change.
#include "emulator/exec/watch/changes.hpp"

#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

// Returns a key that does not depend on host addresses, so that each run of a program overwrites
// the same entries.
std::uint64_t key_of(const block_state& block, std::uint64_t cell) {
  const launch_state& launch = *block.launch;
  std::uint64_t offset = cell - reinterpret_cast<std::uint64_t>(block.shared.data());
  if (offset < launch.shared_bytes) return block.number << 32 | offset;
  memory::address base = launch.space.device_arena_base(launch.request.entry->owner().device);
  return cell - reinterpret_cast<std::uint64_t>(launch.space.view(base));
}

}  // namespace

void record_change(warp& w, const instruction& instr, int lane, const changed_word& word) {
  launch_state& launch = *w.block->launch;
  if (!launch.changes) launch.changes = std::make_unique<change_table>();
  change entry;
  entry.word = word;
  entry.block = w.block->number;
  entry.warp = w.index;
  entry.lane = static_cast<std::uint32_t>(lane);
  entry.function = w.function;
  entry.at = &instr;
  launch.changes->record(key_of(*w.block, word.cell), entry);
}

const change* last_change(const block_state& block, std::uint64_t cell) {
  const auto& changes = block.launch->changes;
  return changes ? changes->find(key_of(block, cell), cell) : nullptr;
}

}  // namespace halfwarp::emulator::exec
