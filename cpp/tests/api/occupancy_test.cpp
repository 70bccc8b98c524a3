// SPDX-License-Identifier: Apache-2.0
// The device table and the occupancy calculation.
#include "emulator/device/occupancy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

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

struct equal_attributes {
  int value;
  std::vector<CUdevice_attribute> attributes;
};

// The attributes that all emulated devices share. A feature that is not emulated has the value 0.
const equal_attributes common[] = {
    {1024,
     {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
      CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y}},
    {64, {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH}},
    {2147483647,
     {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_PITCH,
      CU_DEVICE_ATTRIBUTE_TENSOR_MAP_LARGE_TENSOR_MIN_SIZE}},
    {65535, {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z}},
    {49152, {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK}},
    {65536,
     {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT,
      CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR}},
    {32, {CU_DEVICE_ATTRIBUTE_WARP_SIZE, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT}},
    {1000000, {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE}},
    {512, {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT}},
    {1,
     {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP,
      CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY,
      CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS,
      CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,
      CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER,
      CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
      CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
      CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
      CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
      CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES,
      CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS,
      CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR,
      CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT,
      CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_COUNT}},
    {131072,
     {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH}},
    {16384,
     {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH}},
    {32768,
     {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH}},
    {2048,
     {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS}},
    {2, {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT}},
    {8192,
     {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE}},
    {0xE000, {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID}},
    {2046,
     {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS,
      CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS}},
    {268435456, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH}},
    {65000, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT}},
    {2097120, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH}},
    {-1, {CU_DEVICE_ATTRIBUTE_NUMA_ID}},
};

// The limits of a multiprocessor in the CUDA programming guide; shared memory in KiB.
struct limits {
  int major, minor, threads, blocks, shared, extended, single_to_double;
};
constexpr limits of_capabilities[] = {
    {7, 5, 1024, 16, 64, 64, 32},    {8, 0, 2048, 32, 164, 163, 2},
    {8, 6, 1536, 16, 100, 99, 64},   {8, 7, 1536, 16, 164, 163, 64},
    {8, 9, 1536, 24, 100, 99, 64},   {9, 0, 2048, 32, 228, 227, 2},
    {10, 0, 2048, 32, 228, 227, 2},  {10, 3, 2048, 32, 228, 227, 64},
    {11, 0, 1536, 24, 228, 227, 64}, {12, 0, 1536, 24, 100, 99, 64},
    {12, 1, 1536, 24, 100, 99, 64},
};

TEST(table, has_every_attribute_of_every_capability) {
  ASSERT_EQ(all_architectures().size(), std::size(of_capabilities));
  for (std::size_t i = 0; i < std::size(of_capabilities); ++i) {
    const limits& expected = of_capabilities[i];
    std::array<int, CU_DEVICE_ATTRIBUTE_MAX> values{};
    for (const auto& [value, attributes] : common) {
      for (const auto each : attributes) values[each] = value;
    }
    values[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = expected.major;
    values[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = expected.minor;
    values[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR] = expected.threads;
    values[CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR] = expected.blocks;
    values[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] = expected.shared << 10;
    values[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = expected.extended << 10;
    values[CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK] =
        (expected.shared - expected.extended) << 10;
    values[CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO] = expected.single_to_double;
    values[CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH] = expected.major >= 9;
    values[CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE] = 4 << 20;
    values[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 7;
    values[CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT] = 7;
    values[CU_DEVICE_ATTRIBUTE_PCI_BUS_ID] = 3;
    values[CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID] = 3;
    const auto actual = attributes_of(all_architectures()[i], 3, 7);
    for (int id = 1; id < CU_DEVICE_ATTRIBUTE_MAX; ++id) {
      EXPECT_EQ(actual.find(id), values[static_cast<std::size_t>(id)])
          << expected.major << "." << expected.minor << ", attribute " << id;
    }
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

TEST(occupancy, rounds_registers_and_shared_memory_up) {
  const auto nine = device(9, 0), turing = device(7, 5);
  // 256 registers of a warp are one unit: 33 registers for each thread take as many as 40
  for (const unsigned registers : {33u, 40u}) {
    EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 1024, .registers = registers}), 1);
  }
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 1024, .registers = 32}), 2);
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 32, .registers = 72}), 28);
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 96, .registers = 72}), 9);
  // 228 KiB in units of 128 bytes, 1 KiB of each block reserved
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 32, .shared = 75 << 10}), 3);
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 32, .shared = (75 << 10) + 1}), 2);
  EXPECT_EQ(blocks_per_multiprocessor(nine, {.threads = 32, .shared = 228 << 10}), 0);
  // 64 KiB in units of 256 bytes
  EXPECT_EQ(blocks_per_multiprocessor(turing, {.threads = 32, .shared = 21760}), 3);
  EXPECT_EQ(blocks_per_multiprocessor(turing, {.threads = 32, .shared = 21761}), 2);
  EXPECT_EQ(blocks_per_multiprocessor(turing, {.threads = 32, .shared = 0}), 16);
}

TEST(dynamic_shared, fits_the_unit_of_the_device) {
  const auto nine = device(9, 0), turing = device(7, 5);
  EXPECT_EQ(dynamic_shared_for(nine, 3, 0), (228 * 1024 / 3 / 128 * 128) - 1024);
  EXPECT_EQ(dynamic_shared_for(nine, 7, 100), (228 * 1024 / 7 / 128 * 128) - 1024 - 100);
  EXPECT_EQ(dynamic_shared_for(turing, 3, 0), 64 * 1024 / 3 / 256 * 256);
  EXPECT_EQ(dynamic_shared_for(turing, 1, 64 * 1024), 0);
  EXPECT_EQ(dynamic_shared_for(turing, 1, 64 * 1024 + 1), -1);
  EXPECT_EQ(dynamic_shared_for(nine, 32, 6 * 1024 + 128), 0);
  EXPECT_EQ(dynamic_shared_for(nine, 32, 6 * 1024 + 129), -1);
  const auto ampere = device(8, 6);
  EXPECT_EQ(dynamic_shared_for(ampere, 15, 0), (53 * 128) - 1024);
  EXPECT_EQ(blocks_per_multiprocessor(ampere, {.threads = 32, .shared = (53 * 128) - 1024}), 15);
  EXPECT_EQ(dynamic_shared_for(turing, 13, 0), 19 * 256);
  EXPECT_EQ(blocks_per_multiprocessor(turing, {.threads = 32, .shared = 39 * 128}), 12);
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
