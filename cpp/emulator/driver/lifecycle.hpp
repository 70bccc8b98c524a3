// SPDX-License-Identifier: Apache-2.0
// The emulation's beginning and end in this process: options, notice, fork, exit.
#pragma once

#include <cuda.h>

#include <atomic>
#include <string>
#include <string_view>

#include "emulator/settings/options.hpp"

namespace halfwarp::emulator::lifecycle {

// Why the short way through the gate is closed; 0 in the normal run of a program.
namespace obstacle {
inline constexpr unsigned uninitialised = 1;  // cuInit was not called, or failed
inline constexpr unsigned unannounced = 2;    // the notice was not written yet
inline constexpr unsigned forked = 4;         // a child process: no threads, no driver
inline constexpr unsigned ended = 8;          // the process is on its way out
inline constexpr unsigned injecting = 16;     // fault rules are armed
inline constexpr unsigned tracing = 32;
}  // namespace obstacle

extern constinit std::atomic<unsigned> obstacles;

// Whether functions of the program are no longer called: the process is on its way out.
inline bool is_ending() noexcept {
  return obstacles.load(std::memory_order_acquire) & obstacle::ended;
}

// Reads the options and writes the notice: at the first call of any function.
void announce() noexcept;

// cuInit: makes the driver. INVALID_VALUE when an option is not understood.
CUresult initialise() noexcept;

// The options as read, and what was wrong with them, or an empty text.
const options& chosen_options();
const std::string& option_problem();

std::string library_path();

// Why the emulator was taken though nobody named it: the notice says so. Before the first call.
void explain_choice(std::string_view why);

}  // namespace halfwarp::emulator::lifecycle
