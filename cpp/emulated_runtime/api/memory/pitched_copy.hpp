// SPDX-License-Identifier: Apache-2.0
// Copies of rows and slices, in the one form that the driver takes them in.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace halfwarp::emulated_runtime::api {

// One end of a copy; offsets and pitch in bytes, rows and slices.
struct endpoint {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  const void* memory = nullptr;
  cudaArray_const_t array = nullptr;
  cudaPos at{};
  size_t pitch = 0;
  size_t rows = 0;  // of a slice
};

// Memory as the kind of a copy says it is.
endpoint source_memory(const void* memory, size_t pitch, cudaMemcpyKind kind);
endpoint target_memory(const void* memory, size_t pitch, cudaMemcpyKind kind);
endpoint in_array(cudaArray_const_t array, size_t x_in_bytes, size_t row);

struct pitched_copy {
  endpoint to, from;
  cudaExtent extent{};  // width in bytes
};

// From the runtime's parameters, whose widths are in elements where an array takes part.
cudaError_t read_parameters(const cudaMemcpy3DParms& given, pitched_copy* out);
cudaError_t read_parameters(const cudaMemcpy3DPeerParms& given, pitched_copy* out);

// As the driver takes it: CUDA_MEMCPY3D, or CUDA_MEMCPY3D_PEER without its contexts.
CUDA_MEMCPY3D for_driver(const pitched_copy& copy);
CUDA_MEMCPY3D_PEER for_driver_between_peers(const pitched_copy& copy);

// And back, as a graph node tells it.
cudaError_t read_driver(const CUDA_MEMCPY3D& told, cudaMemcpy3DParms* out);

}  // namespace halfwarp::emulated_runtime::api
