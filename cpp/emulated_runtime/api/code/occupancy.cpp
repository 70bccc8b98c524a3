// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel run at once.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/code/function.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

template <class Out, class... Params, class... Arguments>
cudaError_t ask(CUresult (*question)(Out*, CUfunction, Params...), Out* out, const void* func,
                Arguments... arguments) {
  CUfunction found = nullptr;
  if (const cudaError_t code = find_function(func, &found)) return code;
  return forward(question, out, found, arguments...);
}

}  // namespace

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* func,
                                                          int blockSize,
                                                          size_t dynamicSMemSize) noexcept {
  return ask(table->cuOccupancyMaxActiveBlocksPerMultiprocessor, numBlocks, func, blockSize,
             dynamicSMemSize);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void* func,
                                                                   int blockSize,
                                                                   size_t dynamicSMemSize,
                                                                   unsigned int flags) noexcept {
  return ask(table->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, numBlocks, func,
             blockSize, dynamicSMemSize, flags);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, const void* func,
                                                      int numBlocks, int blockSize) noexcept {
  return ask(table->cuOccupancyAvailableDynamicSMemPerBlock, dynamicSmemSize, func, numBlocks,
             blockSize);
}

}  // namespace halfwarp::emulated_runtime::api
