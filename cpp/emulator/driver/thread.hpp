// SPDX-License-Identifier: Apache-2.0
// What the driver keeps for each thread of the program.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halfwarp::emulator {

class context;
class stream;

// Seen by its own thread only.
struct thread_state {
  std::vector<std::shared_ptr<context>> contexts;  // the stack; the current one is the last
  std::unordered_map<std::uint64_t, std::shared_ptr<stream>> default_streams;  // by life of context
  bool is_in_host_function = false;
  CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

  // What the last refusal on this thread was about; for the code that it was refused with.
  std::string message;
  int message_code = 0;
  void note(int code, std::string text) noexcept {
    message_code = code;
    message = std::move(text);
  }
};

// Made at the first use in a thread, and after the thread's end for whoever still asks.
thread_state& this_thread();

}  // namespace halfwarp::emulator
