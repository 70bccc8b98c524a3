// SPDX-License-Identifier: Apache-2.0
// Which context a call works in.
#include <thread>

#include "emulated_runtime/noting_driver.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class context_test : public runtime_test {};

void* const something = reinterpret_cast<void*>(0x100);

TEST_F(context_test, the_first_call_takes_the_primary_context) {
  EXPECT_EQ(cudaFree(something), cudaSuccess);
  EXPECT_EQ(noted.current, primary_of(0));
  EXPECT_EQ(noted.retained[0], 1);
}

TEST_F(context_test, a_primary_context_is_retained_once_for_all_threads) {
  cudaFree(something);
  std::thread{[] {
    noted.current = nullptr;  // as a thread begins
    EXPECT_EQ(cudaFree(something), cudaSuccess);
  }}.join();
  EXPECT_EQ(noted.retained[0], 1);
}

TEST_F(context_test, a_context_of_the_program_stays) {
  noted.current = own_context();
  EXPECT_EQ(cudaFree(something), cudaSuccess);
  EXPECT_EQ(noted.current, own_context());
  EXPECT_EQ(noted.retained[0], 0);
}

TEST_F(context_test, the_device_is_that_of_the_programs_context) {
  int device = 7;
  noted.current = own_context();
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
}

TEST_F(context_test, a_device_that_was_set_is_told_and_its_context_current) {
  int device = 7;
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(noted.current, primary_of(1));
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
}

TEST_F(context_test, a_device_that_is_not_there_changes_nothing) {
  int device = 7;
  EXPECT_EQ(cudaSetDevice(device_count), cudaErrorInvalidDevice);
  EXPECT_EQ(noted.current, nullptr);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
}

TEST_F(context_test, another_thread_begins_with_the_first_device) {
  cudaSetDevice(1);
  std::thread{[] {
    int device = 7;
    noted.current = nullptr;
    EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
    EXPECT_EQ(device, 0);
  }}.join();
}

TEST_F(context_test, a_context_that_was_reset_is_taken_up_again) {
  cudaFree(something);
  noted.retained[0] = 0;  // as by cuDevicePrimaryCtxReset
  EXPECT_EQ(cudaFree(something), cudaSuccess);
  EXPECT_EQ(noted.retained[0], 1);
}

TEST_F(context_test, a_reset_leaves_the_thread_without_a_context) {
  cudaFree(something);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(noted.resets, 1);
  EXPECT_EQ(noted.current, nullptr);
}

TEST_F(context_test, a_reset_does_not_touch_a_context_of_the_program) {
  noted.current = own_context();
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(noted.resets, 0);
  EXPECT_EQ(noted.current, own_context());
}

TEST_F(context_test, flags_are_those_of_the_context_that_is_current) {
  unsigned flags = 0;
  EXPECT_EQ(cudaGetDeviceFlags(&flags), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaDeviceScheduleYield | cudaDeviceMapHost});
  noted.current = own_context();
  EXPECT_EQ(cudaGetDeviceFlags(&flags), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaDeviceScheduleSpin});
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing
