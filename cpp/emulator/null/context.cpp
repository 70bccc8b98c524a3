// SPDX-License-Identifier: Apache-2.0
// The contexts of the null driver; its only state is the context stack of each thread.
#include <algorithm>
#include <array>

#include "emulator/null/outputs.hpp"
#include "emulator/null_driver.hpp"

namespace halfwarp::emulator::null_driver {

namespace {

struct context_stack {
  std::array<CUcontext, 64> entries;
  unsigned depth;

  CUcontext top() const noexcept { return depth ? entries[depth - 1] : nullptr; }
};

constinit thread_local context_stack current{};

CUcontext primary_context() noexcept {
  static const auto handle = next_handle();
  return reinterpret_cast<CUcontext>(handle);
}

CUresult push(CUcontext context) noexcept {
  if (current.depth == current.entries.size()) return CUDA_ERROR_OUT_OF_MEMORY;
  current.entries[current.depth++] = context;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice) noexcept {
  store(pctx, primary_context());
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* pctx) noexcept {
  store(pctx, current.top());
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx) noexcept {
  if (current.depth) --current.depth;
  return ctx ? push(ctx) : CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext ctx) noexcept { return push(ctx); }

CUresult cuCtxPopCurrent(CUcontext* pctx) noexcept {
  if (!current.depth) return CUDA_ERROR_INVALID_CONTEXT;
  store(pctx, current.entries[--current.depth]);
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext* pctx, CUctxCreateParams*, unsigned int, CUdevice) noexcept {
  store_handle(pctx);
  return pctx ? push(*pctx) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxDestroy(CUcontext ctx) noexcept {
  if (current.depth && current.top() == ctx) --current.depth;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) noexcept {
  store(leastPriority, 0);
  store(greatestPriority, -5);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream, CUcontext* pctx) noexcept {
  store(pctx, current.depth ? current.top() : primary_context());
  return CUDA_SUCCESS;
}

}  // namespace halfwarp::emulator::null_driver
