// SPDX-License-Identifier: Apache-2.0
// Lets callbacks into the interpreter until it ends, and none after that.
#pragma once

namespace halfwarp::bindings {

// A thread of the driver that waits for the interpreter while it ends is ended itself, in the
// middle of the driver. So each callback passes here before it asks for the interpreter lock, and
// the end waits for those inside.
class callback_gate {
 public:
  callback_gate() noexcept;
  callback_gate(const callback_gate&) = delete;  // one pass, one scope
  ~callback_gate();

  bool is_open() const { return is_open_; }

  // Makes what closing waits on: once, before any use. False with MemoryError set.
  static bool prepare();
  // At the end of the interpreter, with its lock: waits for the callbacks that are running, but not
  // for ever: one may wait itself for what the end of the program will never do.
  static void close();
  // In the child of a fork: the threads that were inside are not there.
  static void forget();

 private:
  bool is_open_;
};

}  // namespace halfwarp::bindings
