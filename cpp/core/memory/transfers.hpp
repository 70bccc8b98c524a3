// SPDX-License-Identifier: Apache-2.0
// Copies in stream order, whichever device is current and has access to the memory.
#pragma once

#include <cstddef>

#include "core/stream.hpp"

namespace halfwarp::core {

[[nodiscard]] CUresult copy_in_order(const stream_ref& stream, CUdeviceptr to, CUdeviceptr from,
                                     std::size_t size) noexcept;

[[nodiscard]] inline CUresult copy_rows_in_order(const stream_ref& stream,
                                                 const CUDA_MEMCPY3D& rows) {
  return submit_in_order(stream, [&](CUstream raw) {
    return driver::try_call(driver::table->cuMemcpy3DAsync, &rows, raw);
  });
}

// Submits work of another extension in stream order.
[[nodiscard]] inline CUresult run_in_order(const stream_ref& stream,
                                           CUresult (*work)(CUstream, void*), void* arguments) {
  return submit_in_order(stream, [=](CUstream raw) { return work(raw, arguments); });
}

}  // namespace halfwarp::core
