// SPDX-License-Identifier: Apache-2.0
// Occupancy queries whose shared memory size is a Python function of the block size.
#pragma once

#include <Python.h>
#include <cuda.h>

namespace halfwarp::python {

// Calls cuOccupancyMaxPotentialBlockSize with `function(block_size) -> bytes`. Returns 0, or -1
// with the exception of the function or of the driver set.
int query_block_size(int* grid, int* block, CUkernel kernel, PyObject* function,
                     int limit) noexcept;

}  // namespace halfwarp::python
