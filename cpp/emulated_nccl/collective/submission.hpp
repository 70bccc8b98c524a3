// SPDX-License-Identifier: Apache-2.0
// Enqueues the tasks of a communicator as one operation of a stream.
#pragma once

#include <cuda.h>

#include <vector>

#include "emulated_nccl/collective/execution.hpp"

namespace halfwarp::emulated_nccl {

struct submission {
  communicator_ref owner;
  std::vector<task> tasks;
  std::vector<CUstream> streams;  // of each task
};

result submit(submission source);

}  // namespace halfwarp::emulated_nccl
