// SPDX-License-Identifier: Apache-2.0
// CUDA arrays and mipmapped arrays.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/texture/format.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

cudaError_t read_request(const cudaChannelFormatDesc* desc, const cudaExtent& extent,
                         unsigned flags, CUDA_ARRAY3D_DESCRIPTOR* out) {
  element_format format{};
  if (!desc) return cudaErrorInvalidValue;
  if (const cudaError_t code = to_format(*desc, &format)) return code;
  *out = {extent.width, extent.height, extent.depth, format.format, format.channels, flags};
  return cudaSuccess;
}

}  // namespace

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind f) noexcept {
  return {x, y, z, w, f};
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                              cudaExtent extent, unsigned int flags) noexcept {
  CUDA_ARRAY3D_DESCRIPTOR request{};
  if (!array) return cudaErrorInvalidValue;
  if (const cudaError_t code = read_request(desc, extent, flags, &request)) return code;
  return forward(table->cuArray3DCreate, array, &request);
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width,
                            size_t height, unsigned int flags) noexcept {
  return api::cudaMalloc3DArray(array, desc, {width, height, 0}, flags);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmappedArray,
                                     const cudaChannelFormatDesc* desc, cudaExtent extent,
                                     unsigned int numLevels, unsigned int flags) noexcept {
  CUDA_ARRAY3D_DESCRIPTOR request{};
  if (!mipmappedArray) return cudaErrorInvalidValue;
  if (const cudaError_t code = read_request(desc, extent, flags, &request)) return code;
  return forward(table->cuMipmappedArrayCreate, mipmappedArray, &request, numLevels);
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* levelArray,
                                       cudaMipmappedArray_const_t mipmappedArray,
                                       unsigned int level) noexcept {
  return forward(table->cuMipmappedArrayGetLevel, levelArray,
                 const_cast<cudaMipmappedArray_t>(mipmappedArray), level);
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) noexcept {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  cudaChannelFormatDesc channels{};
  if (const cudaError_t code = describe(array, &descriptor)) return code;
  if (const cudaError_t code =
          to_descriptor({descriptor.Format, descriptor.NumChannels}, &channels)) {
    return code;
  }
  if (desc) *desc = channels;
  if (extent) *extent = {descriptor.Width, descriptor.Height, descriptor.Depth};
  if (flags) *flags = descriptor.Flags;
  return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) noexcept {
  if (!desc) return cudaErrorInvalidValue;
  return api::cudaArrayGetInfo(desc, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* maxWidthInElements,
                                                 const cudaChannelFormatDesc* fmtDesc,
                                                 int device) noexcept {
  element_format format{};
  if (!fmtDesc) return cudaErrorInvalidValue;
  if (const cudaError_t code = to_format(*fmtDesc, &format)) return code;
  return forward(table->cuDeviceGetTexture1DLinearMaxWidth, maxWidthInElements, format.format,
                 format.channels, device);
}

}  // namespace halfwarp::emulated_runtime::api
