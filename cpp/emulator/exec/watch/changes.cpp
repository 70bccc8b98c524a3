// SPDX-License-Identifier: Apache-2.0
// Filling the table of changes, which most launches never have.
#include "emulator/exec/watch/changes.hpp"

#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

// The same in each run of a program, whatever addresses the system gives it: which changes push out
// which depends on it.
std::uint64_t key_of(const block_state& block, std::uint64_t cell) {
  const launch_state& launch = *block.launch;
  std::uint64_t offset = cell - reinterpret_cast<std::uint64_t>(block.shared.data());
  if (offset < launch.shared_bytes) return block.number << 32 | offset;
  memory::address base = launch.space.device_arena_base(launch.request.entry->owner().device);
  return cell - reinterpret_cast<std::uint64_t>(launch.space.view(base));
}

}  // namespace

void note_change(warp& w, const instruction& in, int lane, const changed_word& word) {
  launch_state& launch = *w.block->launch;
  if (!launch.changes) launch.changes = std::make_unique<change_table>();
  change made;
  made.word = word;
  made.block = w.block->number;
  made.warp = w.index;
  made.lane = static_cast<std::uint32_t>(lane);
  made.function = w.function;
  made.at = &in;
  launch.changes->note(key_of(*w.block, word.cell), made);
}

const change* last_change(const block_state& block, std::uint64_t cell) {
  const auto& changes = block.launch->changes;
  return changes ? changes->find(key_of(block, cell), cell) : nullptr;
}

}  // namespace halfwarp::emulator::exec
