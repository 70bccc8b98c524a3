// SPDX-License-Identifier: Apache-2.0
// The context of a call.
#include <thread>

#include "emulated_runtime/recording_driver.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class context_test : public runtime_test {};

void* const something = reinterpret_cast<void*>(0x100);

TEST_F(context_test, the_first_call_retains_the_primary_context) {
  EXPECT_EQ(cudaFree(something), cudaSuccess);
  EXPECT_EQ(recorded.current, primary_of(0));
  EXPECT_EQ(recorded.retained[0], 1);
}

TEST_F(context_test, a_primary_context_is_retained_once_for_all_threads) {
  cudaFree(something);
  std::thread{[] {
    recorded.current = nullptr;  // the state of a new thread
    EXPECT_EQ(cudaFree(something), cudaSuccess);
  }}.join();
  EXPECT_EQ(recorded.retained[0], 1);
}

TEST_F(context_test, a_context_of_the_program_stays_current) {
  recorded.current = own_context();
  EXPECT_EQ(cudaFree(something), cudaSuccess);
  EXPECT_EQ(recorded.current, own_context());
  EXPECT_EQ(recorded.retained[0], 0);
}

TEST_F(context_test, the_device_belongs_to_the_programs_context) {
  int device = 7;
  recorded.current = own_context();
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
}

TEST_F(context_test, a_set_device_is_returned_and_its_context_is_current) {
  int device = 7;
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(recorded.current, primary_of(1));
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
}

TEST_F(context_test, an_invalid_device_changes_nothing) {
  int device = 7;
  EXPECT_EQ(cudaSetDevice(device_count), cudaErrorInvalidDevice);
  EXPECT_EQ(recorded.current, nullptr);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
}

TEST_F(context_test, another_thread_begins_with_the_first_device) {
  cudaSetDevice(1);
  std::thread{[] {
    int device = 7;
    recorded.current = nullptr;
    EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
    EXPECT_EQ(device, 0);
  }}.join();
}

TEST_F(context_test, a_context_is_retained_again_after_a_reset) {
  cudaFree(something);
  recorded.retained[0] = 0;  // the effect of cuDevicePrimaryCtxReset
  EXPECT_EQ(cudaFree(something), cudaSuccess);
  EXPECT_EQ(recorded.retained[0], 1);
}

TEST_F(context_test, a_reset_leaves_the_thread_without_a_context) {
  cudaFree(something);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(recorded.resets, 1);
  EXPECT_EQ(recorded.current, nullptr);
}

TEST_F(context_test, a_reset_does_not_touch_a_context_of_the_program) {
  recorded.current = own_context();
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(recorded.resets, 0);
  EXPECT_EQ(recorded.current, own_context());
}

TEST_F(context_test, flags_belong_to_the_current_context) {
  unsigned flags = 0;
  EXPECT_EQ(cudaGetDeviceFlags(&flags), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaDeviceScheduleYield | cudaDeviceMapHost});
  recorded.current = own_context();
  EXPECT_EQ(cudaGetDeviceFlags(&flags), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaDeviceScheduleSpin});
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing
