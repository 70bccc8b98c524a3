// SPDX-License-Identifier: Apache-2.0
// Stores the state of each thread behind one thread-local pointer.
#include "emulator/driver/thread.hpp"

#include "emulator/stream/context.hpp"

namespace halfwarp::emulator {
namespace {

constinit thread_local thread_state* current = nullptr;

struct owner {
  ~owner() {
    delete current;
    current = nullptr;
  }
};

thread_state& create_state() {
  static thread_local owner at_thread_end;
  (void)at_thread_end;
  return *(current = new thread_state);
}

}  // namespace

thread_state& this_thread() { return current ? *current : create_state(); }

}  // namespace halfwarp::emulator
