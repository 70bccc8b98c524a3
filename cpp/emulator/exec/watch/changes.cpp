// SPDX-License-Identifier: Apache-2.0
// Filling the table of changes, which most launches never have.
#include "emulator/exec/watch/changes.hpp"

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

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
  launch.changes->note(made);
}

}  // namespace halfwarp::emulator::exec
