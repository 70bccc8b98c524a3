// SPDX-License-Identifier: Apache-2.0
// Queries of the number of resident blocks of a kernel.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/code/function.hpp"
#include "emulated_runtime/api/code/launch_config.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

template <class Out, class... Params, class... Arguments>
cudaError_t query(CUresult (*driver_query)(Out*, CUfunction, Params...), Out* out, const void* func,
                  Arguments... arguments) {
  CUfunction function = nullptr;
  if (const cudaError_t code = find_function(func, &function)) return code;
  return forward(driver_query, out, function, arguments...);
}

cudaError_t query_clusters(CUresult (*driver_query)(int*, CUfunction, const CUlaunchConfig*),
                           int* out, const void* func, const cudaLaunchConfig_t* config) {
  if (!config) return cudaErrorInvalidValue;
  const CUlaunchConfig request = for_driver(*config);
  return query(driver_query, out, func, &request);
}

}  // namespace

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* func,
                                                          int blockSize,
                                                          size_t dynamicSMemSize) noexcept {
  return query(table->cuOccupancyMaxActiveBlocksPerMultiprocessor, numBlocks, func, blockSize,
               dynamicSMemSize);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void* func,
                                                                   int blockSize,
                                                                   size_t dynamicSMemSize,
                                                                   unsigned int flags) noexcept {
  return query(table->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, numBlocks, func,
               blockSize, dynamicSMemSize, flags);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, const void* func,
                                                      int numBlocks, int blockSize) noexcept {
  return query(table->cuOccupancyAvailableDynamicSMemPerBlock, dynamicSmemSize, func, numBlocks,
               blockSize);
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* clusterSize, const void* func,
                                                 const cudaLaunchConfig_t* launchConfig) noexcept {
  return query_clusters(table->cuOccupancyMaxPotentialClusterSize, clusterSize, func, launchConfig);
}

cudaError_t cudaOccupancyMaxActiveClusters(int* numClusters, const void* func,
                                           const cudaLaunchConfig_t* launchConfig) noexcept {
  return query_clusters(table->cuOccupancyMaxActiveClusters, numClusters, func, launchConfig);
}

}  // namespace halfwarp::emulated_runtime::api
