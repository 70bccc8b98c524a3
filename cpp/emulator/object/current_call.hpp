// SPDX-License-Identifier: Apache-2.0
// The driver call of the current thread, and its call site in the user's program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halfwarp::emulator {

// A position in the order of the beginnings and ends of all calls in this process.
using moment = std::uint64_t;

struct current_call {
  std::string_view function;  // driver function; empty outside calls and in the control interface
  moment entered = 0;
  int thread = 0;    // thread id of the system
  std::string site;  // "file.py:12" if sites are traced, else empty
};

const current_call& this_call() noexcept;
const std::string& call_site();  // the site of this call

moment next_moment() noexcept;
void enter_call(std::string_view function) noexcept;  // for the gate
void leave_call() noexcept;

// Writes the innermost frame of user code, "file.py:12", and returns its length. The package
// installs it, since this library does not use Python. It may acquire the GIL, so it is called
// before the driver's lock is acquired.
using call_site_source = int (*)(char* text, int size);

void set_call_site_source(call_site_source source) noexcept;

void record_call_site();  // calls the source; for the gate

}  // namespace halfwarp::emulator
