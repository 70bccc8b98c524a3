// SPDX-License-Identifier: Apache-2.0
// Occupancy queries for blocks and clusters.
#include "emulator/device/occupancy.hpp"

#include <algorithm>

#include "emulator/api/module/launch_limits.hpp"
#include "emulator/api/module/module_call.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr int warp_size = 32;

std::shared_ptr<function> find(call& c, CUfunction raw) { return function_of(c, raw, c.current()); }

int multiprocessors(const function& kernel) {
  return kernel.device().attributes()[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT];
}

struct best_block {
  int threads = 0, blocks = 0;
};

// Returns the largest block size with the maximum number of resident threads.
best_block find_best(const function& kernel, CUoccupancyB2DSize shared_for, std::size_t shared,
                     int limit) {
  const int max_threads = maximum_threads(kernel.code().attributes());
  limit = limit <= 0 ? max_threads : std::min(limit, max_threads);
  best_block best;
  for (int threads = limit; threads > 0; threads = (threads - 1) / warp_size * warp_size) {
    const int blocks = resident_blocks(kernel, static_cast<std::uint64_t>(threads),
                                       shared_for ? shared_for(threads) : shared);
    if (blocks * threads > best.blocks * best.threads) best = {threads, blocks};
  }
  return best;
}

}  // namespace

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction func,
                                                              int blockSize, size_t dynamicSMemSize,
                                                              unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(numBlocks);
    require(blockSize > 0, CUDA_ERROR_INVALID_VALUE, "a block has at least one thread");
    require(flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE, CUDA_ERROR_INVALID_VALUE,
            "the flags are invalid for an occupancy query");
    *numBlocks =
        resident_blocks(*find(c, func), static_cast<std::uint64_t>(blockSize), dynamicSMemSize);
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize) noexcept {
  return api::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      numBlocks, func, blockSize, dynamicSMemSize, CU_OCCUPANCY_DEFAULT);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize,
                                                   CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit,
                                                   unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(minGridSize, blockSize);
    require(flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE, CUDA_ERROR_INVALID_VALUE,
            "the flags are invalid for an occupancy query");
    const auto kernel = find(c, func);
    // The callback may acquire a lock of the program, so call it without the driver's lock.
    c.guard.unlock();
    const auto best =
        find_best(*kernel, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit);
    *minGridSize = best.blocks * multiprocessors(*kernel);
    *blockSize = best.threads;
  });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                          size_t dynamicSMemSize, int blockSizeLimit) noexcept {
  return api::cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                        blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                        blockSizeLimit, CU_OCCUPANCY_DEFAULT);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction func,
                                                 int numBlocks, int blockSize) noexcept {
  return run_locked([&](call& c) {
    require_outputs(dynamicSmemSize);
    require(numBlocks > 0 && blockSize > 0, CUDA_ERROR_INVALID_VALUE,
            "there must be at least one block and one thread");
    const auto kernel = find(c, func);
    require(resident_blocks(*kernel, static_cast<std::uint64_t>(blockSize), 0) >= numBlocks,
            CUDA_ERROR_INVALID_VALUE, "the blocks do not fit on a multiprocessor");
    const auto bytes = dynamic_shared_for(kernel->device().attributes(), numBlocks,
                                          kernel->code().attributes().static_shared_bytes);
    require(bytes >= 0, CUDA_ERROR_INVALID_VALUE, "the blocks do not fit on a multiprocessor");
    *dynamicSmemSize = static_cast<std::size_t>(bytes);
  });
}

CUresult cuOccupancyMaxPotentialClusterSize(int* clusterSize, CUfunction func,
                                            const CUlaunchConfig* config) noexcept {
  return run_locked([&](call& c) {
    require_outputs(clusterSize, config);
    const auto kernel = find(c, func);
    require(kernel->device().attributes()[CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH] != 0,
            CUDA_ERROR_NOT_SUPPORTED, "the device does not support clusters");
    const auto shape = shape_of(*config);
    const int resident = resident_blocks(*kernel, shape.block.count(), shape.dynamic_shared) *
                         multiprocessors(*kernel);
    int size = largest_cluster(*kernel);
    while (size > resident) size /= 2;
    *clusterSize = size;
  });
}

CUresult cuOccupancyMaxActiveClusters(int* numClusters, CUfunction func,
                                      const CUlaunchConfig* config) noexcept {
  return run_locked([&](call& c) {
    require_outputs(numClusters, config);
    const auto kernel = find(c, func);
    require(kernel->device().attributes()[CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH] != 0,
            CUDA_ERROR_NOT_SUPPORTED, "the device does not support clusters");
    const auto shape = shape_of(*config);
    const auto& fixed = kernel->code().attributes().cluster;
    int size =
        static_cast<int>(std::max(fixed[0], 1u) * std::max(fixed[1], 1u) * std::max(fixed[2], 1u));
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      if (config->attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
      const auto& cluster = config->attrs[i].value.clusterDim;
      size = static_cast<int>(std::max(cluster.x, 1u) * std::max(cluster.y, 1u) *
                              std::max(cluster.z, 1u));
    }
    const bool is_possible = size <= largest_cluster(*kernel);
    const int resident = resident_blocks(*kernel, shape.block.count(), shape.dynamic_shared) *
                         multiprocessors(*kernel);
    *numClusters = is_possible ? resident / size : 0;
  });
}

}  // namespace halfwarp::emulator::api
