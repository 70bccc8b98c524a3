// SPDX-License-Identifier: Apache-2.0
// Functions that are not translated.
#include "emulated_runtime/noting_driver.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class refusal_test : public runtime_test {};

TEST_F(refusal_test, a_function_that_is_not_translated_says_so_once) {
  cudaIpcMemHandle_t handle{};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "emulator: cudaIpcGetMemHandle is not emulated\n");
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

TEST_F(refusal_test, a_refusal_of_handles_between_processes_takes_no_context) {
  cudaIpcCloseMemHandle(nullptr);
  EXPECT_EQ(noted.current, nullptr);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing
