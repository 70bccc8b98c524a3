// SPDX-License-Identifier: Apache-2.0
// What the calling thread is doing in the driver, and where in the user's program it does it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halfwarp::emulator {

// A place in the order of all beginnings and ends of calls in this process.
using moment = std::uint64_t;

struct current_call {
  std::string_view function;  // driver function, or empty: no call, or one of the control interface
  moment entered = 0;
  int thread = 0;    // as the system numbers it
  std::string site;  // "file.py:12" when sites are traced, else empty
};

const current_call& this_call() noexcept;
const std::string& call_site();  // of this call

moment next_moment() noexcept;
void enter_call(std::string_view function) noexcept;  // for the gate
void leave_call() noexcept;

// The library knows no Python: the package installs a function that writes the innermost frame of
// the user, "file.py:12", and returns its length. It may take the interpreter's lock, so it is
// asked before the driver's lock is taken.
using call_site_source = int (*)(char* text, int size);

void set_call_site_source(call_site_source source) noexcept;

void note_call_site();  // asks the source; for the gate

}  // namespace halfwarp::emulator
