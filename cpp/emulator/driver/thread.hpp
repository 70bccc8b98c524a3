// SPDX-License-Identifier: Apache-2.0
// The driver's state of each thread.
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

// Accessed by its own thread only.
struct thread_state {
  std::vector<std::shared_ptr<context>> contexts;  // the stack; the current one is the last
  std::unordered_map<std::uint64_t, std::shared_ptr<stream>>
      default_streams;  // by unique id of the context
  bool is_in_host_function = false;
  CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

  // Message of the last refused call of this thread, and the code that it returned.
  std::string message;
  int message_code = 0;
  void note(int code, std::string text) noexcept {
    message_code = code;
    message = std::move(text);
  }
};

// Returns the state of the calling thread. Creates it at the first use, also during thread exit.
thread_state& this_thread();

}  // namespace halfwarp::emulator
