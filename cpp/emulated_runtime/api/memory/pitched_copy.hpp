// SPDX-License-Identifier: Apache-2.0
// Copies of rows and slices in the single form of the driver.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace halfwarp::emulated_runtime::api {

// An end of a copy; offset and pitch in bytes, rows and slices.
struct endpoint {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  const void* memory = nullptr;
  cudaArray_const_t array = nullptr;
  cudaPos at{};
  size_t pitch = 0;
  size_t rows = 0;  // per slice
};

// Describes memory, whose type follows from the kind of the copy.
endpoint source_memory(const void* memory, size_t pitch, cudaMemcpyKind kind);
endpoint target_memory(const void* memory, size_t pitch, cudaMemcpyKind kind);
endpoint in_array(cudaArray_const_t array, size_t x_in_bytes, size_t row);

struct pitched_copy {
  endpoint to, from;
  cudaExtent extent{};  // width in bytes
};

// Reads the runtime's parameters, whose widths are in elements if an array takes part.
cudaError_t read_parameters(const cudaMemcpy3DParms& params, pitched_copy* out);
cudaError_t read_parameters(const cudaMemcpy3DPeerParms& params, pitched_copy* out);

// Returns the driver's struct; CUDA_MEMCPY3D_PEER without its contexts.
CUDA_MEMCPY3D for_driver(const pitched_copy& copy);
CUDA_MEMCPY3D_PEER for_driver_between_peers(const pitched_copy& copy);

// Converts the driver's struct of a graph node to the runtime's parameters.
cudaError_t read_driver(const CUDA_MEMCPY3D& driver_copy, cudaMemcpy3DParms* out);

}  // namespace halfwarp::emulated_runtime::api
