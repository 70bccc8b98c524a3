// SPDX-License-Identifier: Apache-2.0
// The device table and the occupancy calculation.
#include "emulator/device/occupancy.hpp"

#include <gtest/gtest.h>

namespace halfwarp::emulator {
namespace {

attribute_values device(int major, int minor) {
  return attributes_of(*find_architecture(major, minor), 0);
}

TEST(table, has_the_fixed_points_for_every_capability) {
  for (const auto& kind : all_architectures()) {
    const auto values = attributes_of(kind, 3);
    EXPECT_EQ(values[CU_DEVICE_ATTRIBUTE_WARP_SIZE], 32);
    EXPECT_EQ(values[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT], 4);
    EXPECT_EQ(values[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK], 1024);
    EXPECT_EQ(values[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR], kind.major);
    EXPECT_EQ(values[CU_DEVICE_ATTRIBUTE_PCI_BUS_ID], 3);
    EXPECT_LE(values[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK],
              values[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN]);
    EXPECT_EQ(values[CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH], kind.major >= 9);
  }
}

TEST(table, knows_only_the_attributes_of_the_header) {
  const auto values = device(9, 0);
  EXPECT_FALSE(values.find(0));
  EXPECT_FALSE(values.find(-1));
  EXPECT_FALSE(values.find(CU_DEVICE_ATTRIBUTE_MAX));
  EXPECT_TRUE(values.find(CU_DEVICE_ATTRIBUTE_MAX - 1));
  EXPECT_EQ(find_architecture(8, 8), nullptr);
}

TEST(occupancy, is_limited_by_blocks_threads_registers_and_shared_memory) {
  const auto nine = device(9, 0);
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 32}), 32);
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 256}), 8);
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 1024}), 2);
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 256, .registers = 64}), 4);
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 1024, .registers = 64}), 1);
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 1024, .registers = 65}), 0);
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 32, .shared = 100 * 1024}), 2);
  EXPECT_EQ(blocks_per_multiprocessor(device(7, 5), {.threads = 1024}), 1);
  EXPECT_EQ(blocks_per_multiprocessor(device(8, 6), {.threads = 512}), 3);
}

TEST(occupancy, counts_whole_warps) {
  const auto nine = device(9, 0);
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 65}),
            blocks_per_multiprocessor(nine, {.threads = 96}));
}

TEST(occupancy, of_an_impossible_block_is_0) {
  EXPECT_EQ(blocks_per_multiprocessor(device(9, 0), {.threads = 1025}), 0);
  EXPECT_EQ(blocks_per_multiprocessor(device(9, 0), {.threads = 0}), 0);
}

TEST(dynamic_shared, is_the_maximum_for_a_number_of_blocks) {
  const auto nine = device(9, 0);
  for (int blocks = 1; blocks <= 32; ++blocks) {
    const auto bytes = dynamic_shared_for(nine, blocks, 0);
    ASSERT_GE(bytes, 0);
    const auto shared = static_cast<std::uint64_t>(bytes);
    EXPECT_GE(blocks_per_multiprocessor(nine, {.threads = 32, .shared = shared}), blocks);
  }
  EXPECT_EQ(dynamic_shared_for(nine, 1, 0), 227 * 1024);
  EXPECT_EQ(dynamic_shared_for(nine, 1, 1024), 226 * 1024);
  EXPECT_EQ(dynamic_shared_for(nine, 32, 8 * 1024), -1);
}

}  // namespace
}  // namespace halfwarp::emulator
