// SPDX-License-Identifier: Apache-2.0
// Occupancy of the null driver: constants that are plausible for a device.
#include "emulator/null/outputs.hpp"
#include "emulator/null_driver.hpp"

namespace halfwarp::emulator::null_driver {

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction, int,
                                                     size_t) noexcept {
  store(numBlocks, 1);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction, int,
                                                              size_t, unsigned int) noexcept {
  store(numBlocks, 1);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction,
                                          CUoccupancyB2DSize, size_t, int) noexcept {
  store(minGridSize, 1);
  store(blockSize, 256);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, CUfunction,
                                                   CUoccupancyB2DSize, size_t, int,
                                                   unsigned int) noexcept {
  store(minGridSize, 1);
  store(blockSize, 256);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction, int,
                                                 int) noexcept {
  store(dynamicSmemSize, std::size_t{48} << 10);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int* clusterSize, CUfunction,
                                            const CUlaunchConfig*) noexcept {
  store(clusterSize, 8);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int* numClusters, CUfunction,
                                      const CUlaunchConfig*) noexcept {
  store(numClusters, 1);
  return CUDA_SUCCESS;
}

}  // namespace halfwarp::emulator::null_driver
