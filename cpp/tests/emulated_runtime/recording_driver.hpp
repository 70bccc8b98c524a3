// SPDX-License-Identifier: Apache-2.0
// A driver with two devices that runs nothing and records the arguments of calls.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "driver/driver_table.hpp"

namespace halfwarp::emulated_runtime::testing {

inline constexpr int device_count = 2;

struct filled_rows {
  CUdeviceptr first;
  std::size_t pitch, width, rows;
  unsigned char value;
};

// The answers of cuPointerGetAttributes.
struct pointer_answers {
  unsigned type = 0;
  bool is_managed = false;
  int device = 0;
  std::uintptr_t on_device = 0, on_host = 0;
};

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
  std::vector<filled_rows> fills;
  CUlaunchConfig launch{};
  std::vector<CUlaunchAttribute> launch_attributes;
  // The device with a larger attribute, for `attribute_of`.
  int best_device = 0;
  CUdevice_attribute best_attribute{};
  pointer_answers pointer;
  CUcontext peer = nullptr;
  // Libraries are named by their images; each has a kernel and a variable of 100 bytes.
  const void* loaded = nullptr;
  int loads = 0, unloads = 0;
  CUresult load_answer = CUDA_SUCCESS;
};

extern recording_driver recorded;

// Returns an attribute of a device: 40, and one more for the best one of the best device.
int attribute_of(CUdevice_attribute attribute, int device);

// Primary contexts by device; a context of the program; handles of a kernel and a function.
CUcontext primary_of(int device);
CUcontext own_context();
CUkernel a_kernel();
CUfunction a_function();

// A table of the recorded functions; a call of any other function aborts the test.
const driver::driver_table* recording_table();

// Returns the same table, where a call of any other function is a call of `other`.
using driver_function = CUresult (*)();
driver::driver_table table_with(driver_function other);

// Resets the driver and selects device 0.
class runtime_test : public ::testing::Test {
 protected:
  void SetUp() override;
};

}  // namespace halfwarp::emulated_runtime::testing
