// SPDX-License-Identifier: Apache-2.0
// Fills ranges, rows and slices of memory with a byte.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

unsigned char byte_of(int value) { return static_cast<unsigned char>(value); }

// Fills slices. If all rows of the slices are filled, they are the rows of one area.
template <class Fill>
cudaError_t fill_slices(const cudaPitchedPtr& target, const cudaExtent& extent, Fill fill) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
  if (extent.height == target.ysize) return fill(target.ptr, extent.height * extent.depth);
  for (size_t slice = 0; slice < extent.depth; ++slice) {
    void* const first = static_cast<char*>(target.ptr) + slice * target.pitch * target.ysize;
    if (const cudaError_t code = fill(first, extent.height)) return code;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemset(void* devPtr, int value, size_t count) noexcept {
  return forward(table->cuMemsetD8, devPtr, byte_of(value), count);
}

cudaError_t cudaMemsetAsync(void* devPtr, int value, size_t count, cudaStream_t stream) noexcept {
  return forward(table->cuMemsetD8Async, devPtr, byte_of(value), count, stream);
}

cudaError_t cudaMemset2D(void* devPtr, size_t pitch, int value, size_t width,
                         size_t height) noexcept {
  return forward(table->cuMemsetD2D8, devPtr, pitch, byte_of(value), width, height);
}

cudaError_t cudaMemset2DAsync(void* devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) noexcept {
  return forward(table->cuMemsetD2D8Async, devPtr, pitch, byte_of(value), width, height, stream);
}

cudaError_t cudaMemset3D(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent) noexcept {
  return fill_slices(pitchedDevPtr, extent, [&](void* first, size_t rows) {
    return api::cudaMemset2D(first, pitchedDevPtr.pitch, value, extent.width, rows);
  });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent,
                              cudaStream_t stream) noexcept {
  return fill_slices(pitchedDevPtr, extent, [&](void* first, size_t rows) {
    return api::cudaMemset2DAsync(first, pitchedDevPtr.pitch, value, extent.width, rows, stream);
  });
}

}  // namespace halfwarp::emulated_runtime::api
