// SPDX-License-Identifier: Apache-2.0
// Connects the emulator or the null driver to the table that cpp/core calls.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/context.hpp"

namespace halfwarp::core::testing {

// Returns whether the driver is the null driver, which runs nothing and counts no objects.
[[nodiscard]] bool is_null_driver();

// Returns the number of live objects of a kind in the emulator ("stream", "event", "memory pool",
// "device memory", "library"), or of all kinds for "". Always 0 on the null driver.
[[nodiscard]] int live(const std::string& kind = {});

// Returns the retain count of the primary context of device 0; 0 on the null driver.
[[nodiscard]] int primary_retains();

// Waits for all work of all contexts.
void synchronize_all();

// Returns `count` if the driver counts objects, else 0.
[[nodiscard]] inline int counted_as(int count) { return is_null_driver() ? 0 : count; }

// Fails a test that begins or ends with live objects.
class driver_test : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
};

}  // namespace halfwarp::core::testing
