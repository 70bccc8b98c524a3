// SPDX-License-Identifier: Apache-2.0
// Finds launches in which threads wait for each other's locks.
//
// Suppose that registers, local and shared memory of all threads have the values of an earlier
// round, and that no thread has changed memory since. Then every thread loops without end in any
// order, unless work outside the launch writes to its memory. The watch observes such rounds, and
// derives from the words that threads read which thread waits for which. It therefore compares
// neither global memory nor scheduler state, and accepts any form of loop. All depends on executed
// instructions, not time.
//
// The threads could also wait for the host. Therefore the next thread of the cycle must have made
// the last change of each word that a thread reads, by an instruction that acquires locks
// (changes.hpp, wait_graph.hpp). Each thread must also be about to acquire its lock and to release
// the lock that it holds (rehearsal.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/watch/observer.hpp"

namespace halfwarp::emulator::exec {

class lock_watch {
 public:
  explicit lock_watch(launch_state& launch) : launch_{launch} {}

  // Call after a block has started or ended.
  void restart();
  // Counts a round of the resident blocks. Returns true once rounds must be checked.
  bool is_due();
  // Checks a round for which is_due() returned true.
  std::optional<report::fault> after_round(std::span<block_state* const> blocks);

 private:
  // Digests of the blocks after a round.
  struct snapshot {
    std::uint64_t round = 0, positions = 0, contents = 0;
  };

  using block_list = std::span<block_state* const>;

  void take_snapshot(block_list blocks);
  bool has_recurred(block_list blocks);
  void observe();
  std::optional<report::fault> conclude(block_list blocks);
  std::optional<report::fault> cycle_in(block_list blocks) const;
  bool is_observed_enough() const;
  void stop_observing();

  launch_state& launch_;
  std::uint64_t rounds_ = 0;
  snapshot snapshot_;
  bool is_concluded_ = false;         // no further check until the next snapshot
  std::uint64_t observed_since_ = 0;  // launch_state::executed when the observer began
  std::uint64_t compared_at_ = 0;     // launch_state::executed when contents were last compared
  std::uint64_t changes_before_ = 0;
  std::unique_ptr<observer> observer_;
};

}  // namespace halfwarp::emulator::exec
