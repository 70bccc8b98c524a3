// SPDX-License-Identifier: Apache-2.0
// A gate that the exit of Python closes. A call that must not run during the exit passes it first.
#pragma once

#include <cstdint>

namespace halfwarp::interpreter {

// Two kinds of calls must not be in progress when the interpreter and then the process exit. A
// callback on a driver thread that waits for the GIL of an exiting interpreter would be terminated
// inside the driver. A compiler that runs during the destructors of its library crashes. Both pass
// this gate. Closing it waits at most five seconds for calls in progress, since such a call may
// wait for something that never happens during exit; later calls are rejected. A fork invalidates
// all passes, since their threads do not exist in the child process.
//
// There is one gate per process. `cuda.bindings._low` contains it and publishes it to the other
// extensions in the capsule `capsule`.
struct exit_gate {
  // For callbacks, on any thread. Returns the number of the pass, or 0 if the gate is closed.
  std::uint64_t (*enter)() noexcept;
  // For calls from Python, with the GIL. If the gate is closed, the calling thread releases the GIL
  // and waits, normally until the process exits; otherwise it returns 0 and sets RuntimeError. The
  // thread that closed the gate may pass, since it is the thread that exits.
  std::uint64_t (*enter_or_wait)();
  // Ends a pass; on any thread, with or without the GIL.
  void (*leave)(std::uint64_t pass) noexcept;
  // Closes the gate and waits, at the first call. Needs the GIL, which it releases while it waits.
  // Returns whether no pass is left.
  bool (*close)();
  // is_lone_thread() and expect_callbacks() of lone_thread.hpp, whose state is the process's too.
  bool (*is_lone_thread)() noexcept;
  void (*expect_callbacks)() noexcept;

  static constexpr char capsule[] = "cuda.bindings._low._exit_gate";
};

// The gate for this extension; set when it is imported.
inline constinit const exit_gate* gate = nullptr;

// Ends the pass at the end of the scope.
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

// The gate of the process, for the extension that contains it.
extern const exit_gate process_exit_gate;

// Allocates the lock for waiting; call once before any use. Returns false and sets MemoryError.
bool prepare_exit_gate();

// Call in the child process after a fork.
void reset_passes() noexcept;

}  // namespace halfwarp::interpreter
