// SPDX-License-Identifier: Apache-2.0
// Finds launches in which threads wait for locks of each other.
//
// When the registers, local and shared memory of all threads are what they were some rounds ago,
// and no thread has changed memory since, each goes round for ever, in whatever order they run,
// unless something outside the launch writes to its memory. Such rounds are run under observation,
// and who waits for whom is read off what the threads looked at. So memory need not be compared,
// nor what the scheduler counts, and a loop may be written in any way. All depends on what was
// executed, not on time.
//
// That alone could be a wait for the host. So each word that a thread of the cycle reads must have
// been changed last by the next one, with an instruction that takes locks (changes.hpp,
// wait_graph.hpp), and each must be about to take the lock and to give back its own
// (rehearsal.hpp).
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

  // A block has begun or ended.
  void restart();
  // Counts a round of the blocks that are resident; true from when on it is looked at.
  bool is_due();
  // After each round that is.
  std::optional<report::fault> after_round(std::span<block_state* const> blocks);

 private:
  // The state of the blocks after some round.
  struct snapshot {
    std::uint64_t round = 0, positions = 0, contents = 0;
  };

  using block_list = std::span<block_state* const>;

  void keep(block_list blocks);
  bool is_back(block_list blocks);
  void observe();
  std::optional<report::fault> conclude(block_list blocks);
  std::optional<report::fault> cycle_in(block_list blocks) const;
  bool is_hopeless() const;
  void stop_observing();

  launch_state& launch_;
  std::uint64_t rounds_ = 0;
  snapshot kept_;
  bool is_concluded_ = false;         // nothing was found since that was kept
  std::uint64_t observed_since_ = 0;  // launch_state::executed when the observer began
  std::uint64_t looked_at_ = 0;       // launch_state::executed when contents were last compared
  std::uint64_t changes_before_ = 0;
  std::unique_ptr<observer> observer_;
};

}  // namespace halfwarp::emulator::exec
