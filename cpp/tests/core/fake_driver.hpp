// SPDX-License-Identifier: Apache-2.0
// A fake driver for cpp/core: it returns numbered handles and records each call.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "driver/call.hpp"

namespace halfwarp::core::testing {

struct fake_driver {
  std::vector<std::string> calls;  // names, followed by the number of the handle if there is one
  CUcontext current = nullptr;
  std::uintptr_t next_handle = 0x1000;
  std::string failing;                      // the function that returns CUDA_ERROR_UNKNOWN
  std::map<std::string, CUresult> results;  // of functions that fail with another code
  CUstream captured = nullptr;              // the only stream that is being captured
  bool is_primary_active = true;
  unsigned long long context_id = 1;                         // changed by a reset of the device
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;  // of the only calling thread
  CUstreamCaptureMode mode_of_release = CU_STREAM_CAPTURE_MODE_GLOBAL;

  [[nodiscard]] int count(const std::string& name) const;
};

// Returns the driver that the table of this process calls.
fake_driver& fake();

inline constexpr std::uintptr_t primary_context = 0x100;

template <class Raw>
[[nodiscard]] Raw raw_handle(std::uintptr_t number) {
  return reinterpret_cast<Raw>(number);
}

// Attaches the table and resets the fake driver.
class core_test : public ::testing::Test {
 protected:
  void SetUp() override;
};

}  // namespace halfwarp::core::testing
