// SPDX-License-Identifier: Apache-2.0
// A driver with two devices that does nothing and notes what it is asked for.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "driver/driver_table.hpp"

namespace halfwarp::emulated_runtime::testing {

inline constexpr int device_count = 2;

// What the driver answers, what it was told, and the contexts that it keeps.
struct noting_driver {
  CUresult answer = CUDA_SUCCESS;  // of the calls that only note
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

extern noting_driver noted;

// Primary contexts, by device; one that a program made itself; handles of a kernel and a function.
CUcontext primary_of(int device);
CUcontext own_context();
CUkernel a_kernel();
CUfunction a_function();

// A table whose functions are the ones above; any other ends the test.
const driver::driver_table* noting_table();

// Begins with a driver that nobody has used, and device 0.
class runtime_test : public ::testing::Test {
 protected:
  void SetUp() override;
};

}  // namespace halfwarp::emulated_runtime::testing
