// SPDX-License-Identifier: Apache-2.0
// Functions that are not translated.
#include "emulated_runtime/recording_driver.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class refusal_test : public runtime_test {};

TEST_F(refusal_test, an_unsupported_function_is_reported_once) {
  cudaExternalMemory_t memory = nullptr;
  cudaExternalMemoryHandleDesc described{};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cudaImportExternalMemory(&memory, &described), cudaErrorNotSupported);
  EXPECT_EQ(cudaImportExternalMemory(&memory, &described), cudaErrorNotSupported);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "emulator: cudaImportExternalMemory is not emulated\n");
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

TEST_F(refusal_test, an_unsupported_log_function_needs_no_context) {
  cudaLogsUnregisterCallback(nullptr);
  EXPECT_EQ(recorded.current, nullptr);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing
