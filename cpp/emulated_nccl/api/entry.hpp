// SPDX-License-Identifier: Apache-2.0
// The frame of every function of the C interface.
#pragma once

#include <new>
#include <string>
#include <utility>

#include "emulated_nccl/communicator/group.hpp"
#include "emulated_nccl/process/errors.hpp"

namespace halfwarp::emulated_nccl::api {

// Runs the body; no exception leaves the library. An error in an open group is the group's too.
template <class Body>
result run(Body&& body) noexcept {
  try {
    return group::note(body());
  } catch (const std::bad_alloc&) {
    return group::note(fail(result::system_error, "the host is out of memory"));
  }
}

// Refuses a null output pointer.
inline result require(const void* output, const char* call) {
  if (output) return result::success;
  return failf(result::invalid_argument, "%s: an output pointer is null", call);
}

}  // namespace halfwarp::emulated_nccl::api
