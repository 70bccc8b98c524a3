// SPDX-License-Identifier: Apache-2.0
// Occupancy of the null driver: numbers that pass for those of a device.
#include "emulator/null/answer.hpp"
#include "emulator/null_driver.hpp"

namespace halfwarp::emulator::null_driver {

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction, int,
                                                     size_t) noexcept {
  give(numBlocks, 1);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction, int,
                                                              size_t, unsigned int) noexcept {
  give(numBlocks, 1);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction,
                                          CUoccupancyB2DSize, size_t, int) noexcept {
  give(minGridSize, 1);
  give(blockSize, 256);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, CUfunction,
                                                   CUoccupancyB2DSize, size_t, int,
                                                   unsigned int) noexcept {
  give(minGridSize, 1);
  give(blockSize, 256);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction, int,
                                                 int) noexcept {
  give(dynamicSmemSize, std::size_t{48} << 10);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int* clusterSize, CUfunction,
                                            const CUlaunchConfig*) noexcept {
  give(clusterSize, 8);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int* numClusters, CUfunction,
                                      const CUlaunchConfig*) noexcept {
  give(numClusters, 1);
  return CUDA_SUCCESS;
}

}  // namespace halfwarp::emulator::null_driver
