// SPDX-License-Identifier: Apache-2.0
// Values that the threads of a mask share.
#include "emulator/texture/plane.hpp"

#include <gtest/gtest.h>

#include <array>

namespace halfwarp::tests {
namespace {

TEST(plane, compares_the_values_of_the_threads_of_a_mask) {
  std::array<std::uint64_t, 32> values;
  values.fill(9);
  EXPECT_TRUE(emulator::texture::are_equal(~0u, values.data()));
  for (const std::uint64_t other : {std::uint64_t{8}, std::uint64_t{1} << 63 | 9}) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      values[lane] = other;
      EXPECT_FALSE(emulator::texture::are_equal(~0u, values.data())) << lane;
      EXPECT_TRUE(emulator::texture::are_equal(1u << lane, values.data())) << lane;
      EXPECT_TRUE(emulator::texture::are_equal(~(1u << lane), values.data())) << lane;
      values[lane] = 9;
    }
  }
}

}  // namespace
}  // namespace halfwarp::tests
