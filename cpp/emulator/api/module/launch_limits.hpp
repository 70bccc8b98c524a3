// SPDX-License-Identifier: Apache-2.0
// The limits that a launch is held to, and the occupancy of a kernel.
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
  exec::extent cluster{0, 0, 0};  // zeros: not asked for
  std::uint64_t dynamic_shared = 0;
  bool is_cooperative = false;
  exec::extent preferred_cluster{0, 0, 0};
  CUlaunchAttributePortableClusterMode cluster_mode = CU_LAUNCH_PORTABLE_CLUSTER_MODE_DEFAULT;
  CUsharedMemoryMode shared_mode = CU_SHARED_MEMORY_MODE_DEFAULT;
  unsigned multiprocessors = 0;  // of a green context; 0: all of the device

  // What attributes say of it.
  void take(const launch_attributes& attributes);
};

launch_shape shape_of(const CUlaunchConfig& config);

// The request for a launch that the device takes; refuses any other with the device's code.
exec::launch_request admit_launch(const function& what, const launch_shape& shape,
                                  std::uint64_t stream_number);

// The operation of such a launch; `pointers` and `extra` are the two forms of arguments.
std::shared_ptr<operation> make_launch(call& c, const function& what, const launch_shape& shape,
                                       std::uint64_t stream_number, void** pointers, void** extra);

// Blocks of so many threads that are resident on a multiprocessor; 0: not even one fits.
int resident_blocks(const function& what, std::uint64_t threads, std::uint64_t dynamic_shared,
                    CUsharedMemoryMode mode = CU_SHARED_MEMORY_MODE_DEFAULT);

// Most blocks of a cluster of this kernel.
int largest_cluster(const function& what);

}  // namespace halfwarp::emulator::api
