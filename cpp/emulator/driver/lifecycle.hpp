// SPDX-License-Identifier: Apache-2.0
// Initialization and exit of the emulated driver: options, notice, fork, exit.
#pragma once

#include <cuda.h>

#include <atomic>
#include <string>
#include <string_view>

#include "emulator/settings/options.hpp"

namespace halfwarp::emulator::lifecycle {

// Reasons to leave the fast path of the gate; 0 during the normal run of a program.
namespace obstacle {
inline constexpr unsigned uninitialized = 1;  // cuInit was not called, or failed
inline constexpr unsigned unannounced = 2;    // the notice is not written yet
inline constexpr unsigned forked = 4;         // a child process: no threads, no driver
inline constexpr unsigned ended = 8;          // the process is exiting
inline constexpr unsigned injecting = 16;     // fault rules are armed
inline constexpr unsigned tracing = 32;
}  // namespace obstacle

extern constinit std::atomic<unsigned> obstacles;

// Returns whether the process is exiting; host functions are then no longer called.
inline bool is_ending() noexcept {
  return obstacles.load(std::memory_order_acquire) & obstacle::ended;
}

// Reads the options and writes the notice. Called at the first driver call.
void announce() noexcept;

// Creates the driver, for cuInit. Returns CUDA_ERROR_INVALID_VALUE for an invalid option.
CUresult initialize() noexcept;

// Return the options as read, and the error of the first invalid one or an empty text.
const options& chosen_options();
const std::string& option_problem();

std::string library_path();

// Sets the reason for the automatic choice of the emulator, which the notice prints. Call before
// the first driver call.
void set_choice_reason(std::string_view reason);

}  // namespace halfwarp::emulator::lifecycle
