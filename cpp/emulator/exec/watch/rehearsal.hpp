// SPDX-License-Identifier: Apache-2.0
// Executes the next steps of a waiting thread as if the locks of other threads were free. This
// distinguishes locks from words through which a thread communicates with the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/watch/access_shape.hpp"

namespace halfwarp::emulator::exec {

struct rehearsal_request {
  std::uint32_t lane = 0;
  const change* awaited = nullptr;  // null: the thread waits at a barrier
  const change* held = nullptr;     // null: other threads do not wait for a lock of it
};

// Runs one thread alone on copies of its registers and local memory. Writes to shared state are
// buffered, and barriers are open.
class rehearsal {
 public:
  rehearsal(const warp_state& w, const warp_split& from, const rehearsal_request& request);
  rehearsal(const rehearsal&) = delete;  // its frames point to each other

  // Checks that the thread acquires the awaited lock and then releases the held one. Returns false
  // also if this needs more than max_steps.
  bool succeeds();

 private:
  static constexpr int max_steps = 1 << 17;

  frame* copy_frame(const frame* from);
  bool step();  // false: the thread has ended
  bool leave(bool is_exit);
  void enter(const instruction& instr);
  void execute(const instruction& instr);
  void execute_next(const instruction& instr);
  void load(const instruction& instr, const access_shape& shape);
  void store(const instruction& instr, const access_shape& shape);
  void update(const instruction& instr, const access_shape& shape);
  std::uint64_t value_of(const shared_word& word, std::uint32_t bytes) const;
  void write(std::uint64_t cell, std::uint64_t value, memory_use use);
  bool is_done() const { return has_acquired_ && has_released_; }

  rehearsal_request request_;
  warp_state w_;
  std::vector<std::byte> local_;
  std::map<std::uint64_t, std::uint64_t> written_;  // by cell
  bool has_acquired_, has_released_;
  bool is_not_lock_code_ = false;  // the thread executes code that no lock needs
};

}  // namespace halfwarp::emulator::exec
