// SPDX-License-Identifier: Apache-2.0
// The emulator, or the null driver, behind the table that cpp/core calls through.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/context.hpp"

namespace halfwarp::core::testing {

// Whether the driver answers at once and runs nothing: then it counts no objects either.
[[nodiscard]] bool is_null_driver();

// How many objects of a kind the emulator holds ("stream", "event", "memory pool", "device memory",
// "library"); of all kinds for "". Always 0 on the null driver.
[[nodiscard]] int live(const std::string& kind = {});

// How often the primary context of device 0 is retained; 0 on the null driver.
[[nodiscard]] int primary_retains();

// Waits for all work of all contexts.
void settle();

// What is expected where the driver counts; 0 where it does not.
[[nodiscard]] inline int counted_as(int count) { return is_null_driver() ? 0 : count; }

// Begins and must end with nothing alive.
class driver_test : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
};

}  // namespace halfwarp::core::testing
