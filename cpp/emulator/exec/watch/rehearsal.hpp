// SPDX-License-Identifier: Apache-2.0
// What a waiting thread would do next if the locks of others were free: whether what looks like a
// lock is one. A word through which a thread talks with the host may look the same until then.
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
  const change* awaited = nullptr;  // null: it waits at a barrier
  const change* held = nullptr;     // null: it is not a lock that others wait for
};

// Runs one thread alone on copies of its registers and local memory; what it would write to memory
// that is shared is kept apart, and barriers are open.
class rehearsal {
 public:
  rehearsal(const warp_state& w, const warp_split& from, const rehearsal_request& wanted);
  rehearsal(const rehearsal&) = delete;  // its frames point to each other

  // Whether the thread takes the lock that it waits for as a lock is taken, and then gives back the
  // one that it holds. False also when that is too far away to tell.
  bool succeeds();

 private:
  static constexpr int most_steps = 1 << 17;

  frame* copy_frame(const frame* from);
  bool step();  // false: it has ended
  bool leave(bool is_exit);
  void enter(const instruction& in);
  void execute(const instruction& in);
  void execute_next(const instruction& in);
  void load(const instruction& in, const access_shape& shape);
  void store(const instruction& in, const access_shape& shape);
  void update(const instruction& in, const access_shape& shape);
  std::uint64_t value_of(const shared_word& word, std::uint32_t bytes) const;
  void write(std::uint64_t cell, std::uint64_t value, memory_use use);
  bool is_done() const { return has_taken_ && has_given_; }

  rehearsal_request wanted_;
  warp_state w_;
  std::vector<std::byte> local_;
  std::map<std::uint64_t, std::uint64_t> written_;  // by cell
  bool has_taken_, has_given_;
  bool is_other_ = false;  // it does something that no lock needs
};

}  // namespace halfwarp::emulator::exec
