// SPDX-License-Identifier: Apache-2.0
// Choice of devices, peers, addresses, fills and the shapes of launches.
#include <utility>

#include "emulated_runtime/recording_driver.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class device_test : public runtime_test {};

void* const memory = reinterpret_cast<void*>(0x1000);

TEST_F(device_test, the_device_with_the_most_requested_properties_is_chosen) {
  constexpr CUdevice_attribute compared[] = {
      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
      CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,       CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
  };
  for (const auto attribute : compared) {
    for (int best = 0; best < device_count; ++best) {
      recorded.best_device = best;
      recorded.best_attribute = attribute;
      cudaDeviceProp requested{};
      ASSERT_EQ(cudaGetDeviceProperties(&requested, best), cudaSuccess);
      int chosen = 7;
      EXPECT_EQ(cudaChooseDevice(&chosen, &requested), cudaSuccess);
      EXPECT_EQ(chosen, best) << attribute;
    }
  }
}

TEST_F(device_test, the_first_of_equal_devices_is_chosen) {
  recorded.best_device = -1;
  cudaDeviceProp requested{};
  int chosen = 7;
  EXPECT_EQ(cudaChooseDevice(&chosen, &requested), cudaSuccess);
  EXPECT_EQ(chosen, 0);
  requested.totalGlobalMem = 1001;  // no device has as much
  requested.major = 40;
  EXPECT_EQ(cudaChooseDevice(&chosen, &requested), cudaSuccess);
  EXPECT_EQ(chosen, 0);
  EXPECT_EQ(cudaChooseDevice(nullptr, &requested), cudaErrorInvalidValue);
  EXPECT_EQ(cudaChooseDevice(&chosen, nullptr), cudaErrorInvalidValue);
}

int device_of_new_thread(int* list, int length) {
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);  // the thread is bound to no context
  EXPECT_EQ(cudaSetValidDevices(list, length), cudaSuccess);
  int device = 7;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  return device;
}

TEST_F(device_test, the_first_valid_device_is_used) {
  int list[] = {1, 0};
  EXPECT_EQ(device_of_new_thread(list, 2), 1);
  EXPECT_EQ(device_of_new_thread(list, 0), 0);
  EXPECT_EQ(device_of_new_thread(list, 1), 1);
  EXPECT_EQ(device_of_new_thread(nullptr, 0), 0);
}

TEST_F(device_test, a_bound_thread_keeps_its_device) {
  int list[] = {1}, device = 7;
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaSetValidDevices(list, 1), cudaSuccess);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
}

TEST_F(device_test, a_list_of_valid_devices_is_checked) {
  int all[] = {0, 1, 0}, beyond[] = {0, 2}, negative[] = {0, -1};
  EXPECT_EQ(cudaSetValidDevices(all, -1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetValidDevices(all, 3), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetValidDevices(nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetValidDevices(beyond, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetValidDevices(negative, 2), cudaErrorInvalidDevice);
}

TEST_F(device_test, a_peer_is_another_device) {
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(recorded.peer, primary_of(1));
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(2, 0), cudaErrorInvalidDevice);
  recorded.peer = nullptr;
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  EXPECT_EQ(recorded.peer, primary_of(1));
}

struct pointer_case {
  pointer_answers answers;
  cudaMemoryType type;
};

TEST_F(device_test, an_address_has_the_attributes_of_the_driver) {
  constexpr pointer_case cases[] = {
      {{CU_MEMORYTYPE_DEVICE, false, 1, 0x10, 0}, cudaMemoryTypeDevice},
      {{CU_MEMORYTYPE_HOST, false, 1, 0x10, 0x20}, cudaMemoryTypeHost},
      {{CU_MEMORYTYPE_DEVICE, true, 1, 0x10, 0x20}, cudaMemoryTypeManaged},
  };
  cudaPointerAttributes attributes{};
  for (const auto& [answers, type] : cases) {
    recorded.pointer = answers;
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
    EXPECT_EQ(attributes.type, type);
    EXPECT_EQ(attributes.device, 1);
    EXPECT_EQ(attributes.devicePointer, reinterpret_cast<void*>(answers.on_device));
    EXPECT_EQ(attributes.hostPointer, reinterpret_cast<void*>(answers.on_host));
    EXPECT_EQ(attributes.localityDomainOrdinal, -1);
  }
  recorded.pointer = {};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.device, cudaInvalidDeviceId);
  EXPECT_EQ(attributes.hostPointer, memory);
  EXPECT_EQ(cudaPointerGetAttributes(nullptr, memory), cudaErrorInvalidValue);
}

TEST_F(device_test, an_empty_allocation_is_null) {
  std::size_t pitch = 7;
  void* address = memory;
  EXPECT_EQ(cudaMalloc(&address, 0), cudaSuccess);
  EXPECT_EQ(std::exchange(address, memory), nullptr);
  EXPECT_EQ(cudaMallocManaged(&address, 0, cudaMemAttachGlobal), cudaSuccess);
  EXPECT_EQ(std::exchange(address, memory), nullptr);
  for (const auto& [width, height] : {std::pair{0, 4}, {4, 0}}) {
    EXPECT_EQ(cudaMallocPitch(&address, &pitch, width, height), cudaSuccess);
    EXPECT_EQ(std::exchange(address, memory), nullptr);
    EXPECT_EQ(std::exchange(pitch, 7), 0u);
  }
}

TEST_F(device_test, whole_slices_are_filled_at_once) {
  const cudaPitchedPtr target{memory, 64, 50, 10};
  EXPECT_EQ(cudaMemset3D(target, 0x1ff, {20, 10, 3}), cudaSuccess);
  ASSERT_EQ(recorded.fills.size(), 1u);
  EXPECT_EQ(recorded.fills[0].first, 0x1000u);
  EXPECT_EQ(recorded.fills[0].pitch, 64u);
  EXPECT_EQ(recorded.fills[0].width, 20u);
  EXPECT_EQ(recorded.fills[0].rows, 30u);
  EXPECT_EQ(recorded.fills[0].value, 0xff);
}

TEST_F(device_test, parts_of_slices_are_filled_one_by_one) {
  const cudaPitchedPtr target{memory, 64, 50, 10};
  EXPECT_EQ(cudaMemset3DAsync(target, 1, {20, 4, 3}, nullptr), cudaSuccess);
  ASSERT_EQ(recorded.fills.size(), 3u);
  for (std::size_t slice = 0; slice < 3; ++slice) {
    EXPECT_EQ(recorded.fills[slice].first, 0x1000 + slice * 640);
    EXPECT_EQ(recorded.fills[slice].rows, 4u);
  }
  recorded.answer = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(cudaMemset3D(target, 1, {20, 4, 3}), cudaErrorInvalidValue);
  EXPECT_EQ(recorded.fills.size(), 4u);
  for (const auto& empty : {cudaExtent{0, 4, 3}, {20, 0, 3}, {20, 4, 0}}) {
    EXPECT_EQ(cudaMemset3D(target, 1, empty), cudaSuccess);
  }
  EXPECT_EQ(recorded.fills.size(), 4u);
}

cudaError_t launch(dim3 grid, dim3 block) {
  return cudaLaunchKernel(a_kernel(), grid, block, nullptr, 48, nullptr);
}

TEST_F(device_test, a_launch_has_a_shape_within_the_limits_of_all_devices) {
  constexpr dim3 one{1, 1, 1};
  for (const dim3 grid : {one, dim3{0x7fffffff, 1, 1}, {1, 0xffff, 1}, {1, 1, 0xffff}}) {
    EXPECT_EQ(launch(grid, one), cudaSuccess);
  }
  for (const dim3 grid : {dim3{0x80000000, 1, 1},
                          {1, 0x10000, 1},
                          {1, 1, 0x10000},
                          {0, 1, 1},
                          {1, 0, 1},
                          {1, 1, 0}}) {
    EXPECT_EQ(launch(grid, one), cudaErrorInvalidConfiguration);
  }
  for (const dim3 block : {dim3{1024, 1, 1}, {1, 1024, 1}, {1, 16, 64}, {8, 8, 16}}) {
    EXPECT_EQ(launch(one, block), cudaSuccess);
  }
  for (const dim3 block : {dim3{1025, 1, 1},
                           {1, 1025, 1},
                           {1, 1, 65},
                           {0, 1, 1},
                           {1, 0, 1},
                           {1, 1, 0},
                           {33, 32, 1},
                           {32, 3, 11},
                           {4096, 1024, 1024}}) {
    EXPECT_EQ(launch(one, block), cudaErrorInvalidConfiguration);
  }
}

TEST_F(device_test, a_launch_is_passed_as_it_is) {
  EXPECT_EQ(launch({2, 3, 4}, {5, 6, 7}), cudaSuccess);
  const auto& request = recorded.launch;
  EXPECT_EQ(request.gridDimX, 2u);
  EXPECT_EQ(request.gridDimY, 3u);
  EXPECT_EQ(request.gridDimZ, 4u);
  EXPECT_EQ(request.blockDimX, 5u);
  EXPECT_EQ(request.blockDimY, 6u);
  EXPECT_EQ(request.blockDimZ, 7u);
  EXPECT_EQ(request.sharedMemBytes, 48u);
  EXPECT_EQ(request.numAttrs, 0u);
  EXPECT_EQ(cudaLaunchCooperativeKernel(a_kernel(), 1, 1, nullptr, 0, nullptr), cudaSuccess);
  ASSERT_EQ(recorded.launch_attributes.size(), 1u);
  EXPECT_EQ(recorded.launch_attributes[0].id, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  EXPECT_EQ(recorded.launch_attributes[0].value.cooperative, 1);
  EXPECT_EQ(cudaLaunchKernelExC(nullptr, a_kernel(), nullptr), cudaErrorInvalidValue);
}

TEST_F(device_test, a_handle_that_is_no_kernel_is_an_invalid_function) {
  recorded.answer = CUDA_ERROR_INVALID_HANDLE;
  EXPECT_EQ(launch(1, 1), cudaErrorInvalidDeviceFunction);
  recorded.answer = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_EQ(launch(1, 1), cudaErrorMemoryAllocation);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing
