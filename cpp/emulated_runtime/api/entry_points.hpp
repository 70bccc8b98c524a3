// SPDX-License-Identifier: Apache-2.0
// The variants of functions for per-thread default streams.
#pragma once

#include "emulated_runtime/process/connection.hpp"

namespace halfwarp::emulated_runtime::api {

// Makes stream 0 the per-thread default stream for calls of this thread during its lifetime.
class per_thread_streams {
 public:
  per_thread_streams() noexcept : outer_{select_per_thread_streams(true)} {}
  ~per_thread_streams() { select_per_thread_streams(outer_); }
  per_thread_streams(const per_thread_streams&) = delete;  // a scope
  per_thread_streams& operator=(const per_thread_streams&) = delete;

 private:
  bool outer_;
};

}  // namespace halfwarp::emulated_runtime::api
