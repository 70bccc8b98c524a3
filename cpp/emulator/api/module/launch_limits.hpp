// SPDX-License-Identifier: Apache-2.0
// Launch limits, and the occupancy of a kernel.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "emulator/api/call.hpp"
#include "emulator/exec/schedule/run.hpp"
#include "emulator/module/module.hpp"
#include "emulator/stream/launch_attributes.hpp"

namespace halfwarp::emulator::api {

struct launch_shape {
  exec::extent grid, block;
  exec::extent cluster{0, 0, 0};  // zeros: not requested
  std::uint64_t dynamic_shared = 0;
  bool is_cooperative = false;
  exec::extent preferred_cluster{0, 0, 0};
  CUlaunchAttributePortableClusterMode cluster_mode = CU_LAUNCH_PORTABLE_CLUSTER_MODE_DEFAULT;
  CUsharedMemoryMode shared_mode = CU_SHARED_MEMORY_MODE_DEFAULT;
  unsigned multiprocessors = 0;  // of a green context; 0: all multiprocessors

  // Sets the members that launch attributes define.
  void apply(const launch_attributes& attributes);
};

launch_shape shape_of(const CUlaunchConfig& config);

// Returns the request for a valid launch; refuses an invalid one with the device's code.
exec::launch_request admit_launch(const function& kernel, const launch_shape& shape,
                                  std::uint64_t stream_number);

// Returns the operation of a launch; `pointers` and `extra` are the two forms of arguments.
std::shared_ptr<operation> make_launch(call& c, const function& kernel, const launch_shape& shape,
                                       std::uint64_t stream_number, void** pointers, void** extra);

// Returns the number of blocks that fit on a multiprocessor.
int resident_blocks(const function& kernel, std::uint64_t threads, std::uint64_t dynamic_shared,
                    CUsharedMemoryMode mode = CU_SHARED_MEMORY_MODE_DEFAULT);

// Returns the maximum number of blocks in a cluster of the kernel.
int largest_cluster(const function& kernel);

}  // namespace halfwarp::emulator::api
