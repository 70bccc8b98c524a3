// SPDX-License-Identifier: Apache-2.0
// Copies of contiguous bytes into or out of an array, which continue in the next row.
#include <algorithm>

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/api/texture/format.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

// A rectangle of an array, and the offset of its bytes in the memory.
struct piece {
  size_t x, y, width, rows, offset;
};

cudaError_t row_bytes(cudaArray_const_t array, size_t* bytes) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  size_t element = 0;
  if (const cudaError_t code = describe(array, &descriptor)) return code;
  if (const cudaError_t code = bytes_of_element(array, &element)) return code;
  *bytes = descriptor.Width * element;
  return cudaSuccess;
}

// Calls `copy` for the rest of the first row, the whole rows and the beginning of the last row.
template <class Copy>
cudaError_t for_each_piece(cudaArray_const_t array, size_t x, size_t y, size_t count, Copy copy) {
  size_t row = 0;
  if (const cudaError_t code = row_bytes(array, &row)) return code;
  if (x >= row) return cudaErrorInvalidValue;
  const size_t first = std::min(count, x == 0 ? 0 : row - x);
  const size_t whole = (count - first) / row, y_whole = y + (first ? 1 : 0);
  const size_t copied = first + whole * row;
  const piece pieces[] = {{x, y, first, 1, 0},
                          {0, y_whole, row, whole, first},
                          {0, y_whole + whole, count - copied, 1, copied}};
  for (const piece& each : pieces) {
    if (each.width == 0 || each.rows == 0) continue;
    if (const cudaError_t code = copy(each)) return code;
  }
  return cudaSuccess;
}

const char* advance(const void* memory, size_t bytes) {
  return static_cast<const char*>(memory) + bytes;
}

char* advance(void* memory, size_t bytes) { return static_cast<char*>(memory) + bytes; }

}  // namespace

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                              size_t count, cudaMemcpyKind kind) noexcept {
  return for_each_piece(dst, wOffset, hOffset, count, [&](const piece& p) {
    return api::cudaMemcpy2DToArray(dst, p.x, p.y, advance(src, p.offset), p.width, p.width, p.rows,
                                    kind);
  });
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                                   size_t count, cudaMemcpyKind kind,
                                   cudaStream_t stream) noexcept {
  return for_each_piece(dst, wOffset, hOffset, count, [&](const piece& p) {
    return api::cudaMemcpy2DToArrayAsync(dst, p.x, p.y, advance(src, p.offset), p.width, p.width,
                                         p.rows, kind, stream);
  });
}

cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                size_t count, cudaMemcpyKind kind) noexcept {
  return for_each_piece(src, wOffset, hOffset, count, [&](const piece& p) {
    return api::cudaMemcpy2DFromArray(advance(dst, p.offset), p.width, src, p.x, p.y, p.width,
                                      p.rows, kind);
  });
}

cudaError_t cudaMemcpyFromArrayAsync(void* dst, cudaArray_const_t src, size_t wOffset,
                                     size_t hOffset, size_t count, cudaMemcpyKind kind,
                                     cudaStream_t stream) noexcept {
  return for_each_piece(src, wOffset, hOffset, count, [&](const piece& p) {
    return api::cudaMemcpy2DFromArrayAsync(advance(dst, p.offset), p.width, src, p.x, p.y, p.width,
                                           p.rows, kind, stream);
  });
}

}  // namespace halfwarp::emulated_runtime::api
