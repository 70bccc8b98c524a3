// SPDX-License-Identifier: Apache-2.0
// A driver with two devices that runs nothing and records the arguments of calls.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "driver/driver_table.hpp"

namespace halfwarp::emulated_runtime::testing {

inline constexpr int device_count = 2;

// The results of the driver, the arguments that it received, and its contexts.
struct recording_driver {
  CUresult answer = CUDA_SUCCESS;  // the result of calls that are only recorded
  CUresult init_answer = CUDA_SUCCESS;
  CUcontext current = nullptr;
  int retained[device_count] = {};
  int resets = 0;

  CUDA_MEMCPY3D copy{};
  std::vector<CUDA_MEMCPY3D> copies;
  CUDA_MEMCPY3D_PEER peer_copy{};
  CUDA_ARRAY3D_DESCRIPTOR array{};
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  CUDA_KERNEL_NODE_PARAMS kernel_node{};
  CUgraphNodeParams node{};
  CUcontext node_context = nullptr;
  CUresult callback_status = CUDA_SUCCESS;
};

extern recording_driver recorded;

// Primary contexts by device; a context of the program; handles of a kernel and a function.
CUcontext primary_of(int device);
CUcontext own_context();
CUkernel a_kernel();
CUfunction a_function();

// A table of the recorded functions; a call of any other function aborts the test.
const driver::driver_table* recording_table();

// Resets the driver and selects device 0.
class runtime_test : public ::testing::Test {
 protected:
  void SetUp() override;
};

}  // namespace halfwarp::emulated_runtime::testing
