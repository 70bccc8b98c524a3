// SPDX-License-Identifier: Apache-2.0
// Multiplies numbers in device memory.
#pragma once

#include <cuda_runtime_api.h>

// Stream-ordered.
cudaError_t scale(float* numbers, int count, float factor, cudaStream_t stream);
