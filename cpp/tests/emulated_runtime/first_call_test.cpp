// SPDX-License-Identifier: Apache-2.0
// Calls in a process without a usable driver.
#include "emulated_runtime/process/connection.hpp"
#include "emulated_runtime/recording_driver.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

cudaError_t first_call() {
  void* address = nullptr;
  return cudaMalloc(&address, 64);
}

TEST(first_call_test, without_a_connection_there_is_no_driver) {
  halfwarp_cudart_connect(nullptr);
  EXPECT_EQ(first_call(), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInsufficientDriver);
}

TEST(first_call_test, a_table_that_finds_no_driver_is_no_driver) {
  halfwarp_cudart_connect(recording_table());
  recorded.init_answer = CUDA_ERROR_NOT_FOUND;
  EXPECT_EQ(first_call(), cudaErrorInsufficientDriver);
}

TEST(first_call_test, without_a_device_each_call_fails) {
  halfwarp_cudart_connect(recording_table());
  recorded.init_answer = CUDA_ERROR_NO_DEVICE;
  int count = 7;
  EXPECT_EQ(first_call(), cudaErrorNoDevice);
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
}

TEST(first_call_test, some_functions_need_no_driver) {
  halfwarp_cudart_connect(nullptr);
  int version = 0;
  EXPECT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, CUDART_VERSION);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorNoDevice), "cudaErrorNoDevice");
  EXPECT_EQ(cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned).x, 8);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing
