// SPDX-License-Identifier: Apache-2.0
// The runtime's channel descriptors, and the formats that the driver names instead.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace halfwarp::emulated_runtime::api {

struct element_format {
  CUarray_format format;
  unsigned channels;
};

// cudaErrorInvalidChannelDescriptor for a descriptor that no format is for.
cudaError_t to_format(const cudaChannelFormatDesc& desc, element_format* out);
cudaError_t to_descriptor(const element_format& format, cudaChannelFormatDesc* out);

// Of an array: how many bytes its elements have; for formats of whole elements only.
cudaError_t bytes_of_element(cudaArray_const_t array, size_t* bytes);

cudaError_t describe(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR* out);

}  // namespace halfwarp::emulated_runtime::api
