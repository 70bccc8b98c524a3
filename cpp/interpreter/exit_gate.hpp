// SPDX-License-Identifier: Apache-2.0
// The gate that the interpreter closes when it ends: who must not be inside then passes here.
#pragma once

#include <cstdint>

namespace halfwarp::interpreter {

// Two kinds of calls must not be under way when the interpreter, and the process behind it, end. A
// callback on a thread of the driver that asks an ending interpreter for its lock would be ended
// itself, in the middle of the driver. A compiler that still runs when the destructors of its
// library run ends the process. Both pass this gate. Closing it waits for those inside, five
// seconds at most, since one of them may wait for what the end of the program will never do; those
// that come later are left out. A fork forgets those inside: their threads are not in the child.
//
// There is one gate in the process. `cuda.bindings._low` has it, and offers it to the other
// extensions in the capsule `capsule`.
struct exit_gate {
  // For callbacks, on any thread: the number of the pass, 0 once the gate is closed.
  std::uint64_t (*enter)() noexcept;
  // For calls from Python, with the interpreter lock. Once the gate is closed the calling thread
  // waits without the lock, as a rule until the process has ended; if not, 0 with RuntimeError set.
  // The thread that closed the gate goes on: it is the one that ends the process.
  std::uint64_t (*enter_or_wait)();
  // Gives a pass back; on any thread, with or without the lock.
  void (*leave)(std::uint64_t pass) noexcept;
  // With the interpreter lock, which is given back while it waits. Only the first call closes and
  // waits. Whether nobody is inside any more.
  bool (*close)();

  static constexpr char capsule[] = "cuda.bindings._low._exit_gate";
};

// Of this extension: set when it is imported.
inline constinit const exit_gate* gate = nullptr;

// Gives the pass back at the end of the scope.
class gate_pass {
 public:
  explicit gate_pass(std::uint64_t number) noexcept : number_{number} {}
  gate_pass(const gate_pass&) = delete;  // one pass, one scope
  gate_pass& operator=(const gate_pass&) = delete;
  ~gate_pass() {
    if (is_open()) gate->leave(number_);
  }

  [[nodiscard]] bool is_open() const noexcept { return number_ != 0; }

 private:
  const std::uint64_t number_;
};

// The one gate: for the extension that has it.
extern const exit_gate own_exit_gate;

// Makes what waiting needs: once, before any use. False with MemoryError set.
bool prepare_exit_gate();

// In the child of a fork.
void forget_passes() noexcept;

}  // namespace halfwarp::interpreter
