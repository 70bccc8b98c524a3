// SPDX-License-Identifier: Apache-2.0
// The four limits of a multiprocessor: blocks, warps, registers and shared memory.
#include "emulator/device/occupancy.hpp"

#include <algorithm>
#include <climits>

namespace halfwarp::emulator {
namespace {

constexpr unsigned warp_size = 32;
constexpr unsigned register_granularity = 256;  // allocation unit of a warp
constexpr unsigned warp_granularity = 4;        // schedulers of a multiprocessor

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::uint64_t shared_granularity(const attribute_values& device) {
  return device[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] >= 8 ? 128 : 256;
}

std::uint64_t value(const attribute_values& device, CUdevice_attribute attribute) {
  return static_cast<std::uint64_t>(device[attribute]);
}

std::uint64_t limit_by_registers(const attribute_values& device, const block_demand& demand,
                                 std::uint64_t warps) {
  const auto per_warp = round_up(std::uint64_t{demand.registers} * warp_size, register_granularity);
  const auto total = value(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) / per_warp;
  return total / warp_granularity * warp_granularity / warps;
}

}  // namespace

int blocks_per_multiprocessor(const attribute_values& device, const block_demand& demand) {
  if (demand.threads == 0 ||
      demand.threads > value(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)) {
    return 0;
  }
  const std::uint64_t warps = (demand.threads + warp_size - 1) / warp_size;
  const auto max_warps =
      value(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / warp_size;
  const auto shared =
      round_up(demand.shared + value(device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
               shared_granularity(device));
  const auto total_shared = value(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  const auto by_shared = shared == 0 ? UINT64_MAX : total_shared / shared;
  return static_cast<int>(
      std::min({value(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR), max_warps / warps,
                limit_by_registers(device, demand, warps), by_shared, std::uint64_t{INT_MAX}}));
}

std::int64_t dynamic_shared_for(const attribute_values& device, int blocks,
                                std::uint64_t static_shared) {
  const auto total = value(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  const auto unit = shared_granularity(device);
  const auto reserved = value(device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  const auto max_shared = value(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  const auto per_block = total / static_cast<std::uint64_t>(blocks) / unit * unit;
  if (per_block < reserved + static_shared) return -1;
  return static_cast<std::int64_t>(
      std::min(per_block - reserved, max_shared) -
      std::min(static_shared, std::min(per_block - reserved, max_shared)));
}

}  // namespace halfwarp::emulator
