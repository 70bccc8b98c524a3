// SPDX-License-Identifier: Apache-2.0
// Converts between the runtime's channel descriptors and the driver's formats.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace halfwarp::emulated_runtime::api {

struct element_format {
  CUarray_format format;
  unsigned channels;
};

// Returns cudaErrorInvalidChannelDescriptor if the descriptor matches no format.
cudaError_t to_format(const cudaChannelFormatDesc& desc, element_format* out);
cudaError_t to_descriptor(const element_format& format, cudaChannelFormatDesc* out);

// Returns the element size of an array in bytes; fails for formats that are stored in blocks.
cudaError_t bytes_of_element(cudaArray_const_t array, size_t* bytes);

cudaError_t describe(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR* out);

}  // namespace halfwarp::emulated_runtime::api
