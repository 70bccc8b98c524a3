// SPDX-License-Identifier: Apache-2.0
// Conversion of error codes, and the last error of a thread.
#include <cstring>
#include <thread>

#include "emulated_runtime/process/errors.hpp"
#include "emulated_runtime/recording_driver.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class error_test : public runtime_test {
 protected:
  static cudaError_t fail_with(CUresult code) {
    recorded.answer = code;
    return cudaFree(reinterpret_cast<void*>(0x100));
  }
};

TEST_F(error_test, a_common_code_has_the_same_number) {
  for (const CUresult code :
       {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_CONTEXT,
        CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_NOT_FOUND, CUDA_ERROR_ILLEGAL_ADDRESS,
        CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CUDA_ERROR_UNKNOWN}) {
    EXPECT_EQ(static_cast<int>(fail_with(code)), static_cast<int>(code));
  }
}

TEST_F(error_test, a_code_that_the_runtime_lacks_is_unknown) {
  for (const CUresult code : {CUDA_ERROR_CONTEXT_ALREADY_CURRENT,
                              CUDA_ERROR_MULTICAST_RESOURCE_FULL, CUDA_ERROR_KEY_ROTATION}) {
    EXPECT_EQ(fail_with(code), cudaErrorUnknown);
  }
}

TEST_F(error_test, the_last_error_is_returned_once_and_peeked_repeatedly) {
  fail_with(CUDA_ERROR_ASSERT);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorAssert);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorAssert);
  EXPECT_EQ(cudaGetLastError(), cudaErrorAssert);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(error_test, an_error_belongs_to_its_thread) {
  fail_with(CUDA_ERROR_ASSERT);
  std::thread{[] { EXPECT_EQ(cudaGetLastError(), cudaSuccess); }}.join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorAssert);
}

TEST_F(error_test, a_success_does_not_clear_an_error) {
  fail_with(CUDA_ERROR_ASSERT);
  EXPECT_EQ(fail_with(CUDA_SUCCESS), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorAssert);
}

TEST_F(error_test, every_code_has_a_name_and_a_text) {
  for (const auto& entry : error_entries()) {
    EXPECT_STREQ(cudaGetErrorName(entry.code), entry.name);
    EXPECT_GT(std::strlen(cudaGetErrorString(entry.code)), 2u);
  }
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(54321)), "unrecognized error code");
}

TEST_F(error_test, a_text_is_the_runtimes_own_or_the_drivers) {
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidSymbol), "invalid device symbol");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "text of the driver");
}

struct heard {
  cudaStream_t stream = nullptr;
  cudaError_t code = cudaSuccess;
};

void note(cudaStream_t stream, cudaError_t code, void* data) {
  *static_cast<heard*>(data) = {stream, code};
}

TEST_F(error_test, a_callback_receives_the_runtimes_code) {
  heard report;
  const auto stream = reinterpret_cast<cudaStream_t>(0x50);
  recorded.callback_status = CUDA_ERROR_LAUNCH_FAILED;
  EXPECT_EQ(cudaStreamAddCallback(stream, &note, &report, 0), cudaSuccess);
  EXPECT_EQ(report.code, cudaErrorLaunchFailure);
  EXPECT_EQ(report.stream, stream);
  recorded.callback_status = CUDA_ERROR_KEY_ROTATION;
  cudaStreamAddCallback(stream, &note, &report, 0);
  EXPECT_EQ(report.code, cudaErrorUnknown);
}

TEST_F(error_test, a_rejected_callback_is_not_called) {
  heard report;
  recorded.answer = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  EXPECT_EQ(cudaStreamAddCallback(nullptr, &note, &report, 0), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(report.code, cudaSuccess);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing
