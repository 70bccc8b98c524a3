// SPDX-License-Identifier: Apache-2.0
// The older variants call the newest one. Programs of older releases, and NVIDIA's libraries, look
// them up by their exported names, which cuda.h gives to the newest variants by macros.
#include "emulator/api/first_variants.hpp"

#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace halfwarp::emulator::api {
namespace {

using kernel_params = CUDA_KERNEL_NODE_PARAMS_v1;

constexpr auto no_failed_index = std::numeric_limits<std::size_t>::max();

CUmemLocation location_of(CUdevice device) noexcept {
  if (device == CU_DEVICE_CPU) return {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
  return {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

// The older parameters are the beginning of the newer ones.
CUDA_KERNEL_NODE_PARAMS newer(const kernel_params& params) noexcept {
  CUDA_KERNEL_NODE_PARAMS result{};
  std::memcpy(&result, &params, sizeof params);
  return result;
}

}  // namespace

// Aliases at the end name the exported functions.
extern "C" {

CUresult first_prefetch(CUdeviceptr range, size_t count, CUdevice device,
                        CUstream stream) noexcept {
  return ::cuMemPrefetchAsync(range, count, location_of(device), 0, stream);
}

CUresult first_advise(CUdeviceptr range, size_t count, CUmem_advise advice,
                      CUdevice device) noexcept {
  return ::cuMemAdvise(range, count, advice, location_of(device));
}

CUresult first_copy_batch(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                          CUmemcpyAttributes* attributes, size_t* indices, size_t attribute_count,
                          size_t* failed_index, CUstream stream) noexcept {
  if (failed_index) *failed_index = no_failed_index;
  return ::cuMemcpyBatchAsync(dsts, srcs, sizes, count, attributes, indices, attribute_count,
                              stream);
}

CUresult first_copy_batch_3d(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, size_t* failed_index,
                             unsigned long long flags, CUstream stream) noexcept {
  if (failed_index) *failed_index = no_failed_index;
  return ::cuMemcpy3DBatchAsync(count, operations, flags, stream);
}

CUresult first_begin_capture(CUstream stream) noexcept {
  return ::cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult first_capture_info(CUstream stream, CUstreamCaptureStatus* status,
                            cuuint64_t* id) noexcept {
  return ::cuStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUresult first_update_capture(CUstream stream, CUgraphNode* nodes, size_t count,
                              unsigned int flags) noexcept {
  return ::cuStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}

CUresult first_add_kernel(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                          size_t count, const kernel_params* params) noexcept {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  const auto copy = newer(*params);
  return ::cuGraphAddKernelNode(node, graph, dependencies, count, &copy);
}

CUresult first_kernel_params_of(CUgraphNode node, kernel_params* params) noexcept {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS all{};
  CUresult code = ::cuGraphKernelNodeGetParams(node, &all);
  if (code == CUDA_SUCCESS && !all.func) code = ::cuKernelGetFunction(&all.func, all.kern);
  if (code == CUDA_SUCCESS) std::memcpy(params, &all, sizeof *params);
  return code;
}

CUresult first_set_kernel_params(CUgraphNode node, const kernel_params* params) noexcept {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  const auto copy = newer(*params);
  return ::cuGraphKernelNodeSetParams(node, &copy);
}

CUresult first_set_exec_kernel_params(CUgraphExec exec, CUgraphNode node,
                                      const kernel_params* params) noexcept {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  const auto copy = newer(*params);
  return ::cuGraphExecKernelNodeSetParams(exec, node, &copy);
}

CUresult first_instantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* failed_node, char* log,
                           size_t size) noexcept {
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  const CUresult code = ::cuGraphInstantiateWithParams(exec, graph, &params);
  if (failed_node) *failed_node = params.hErrNode_out;
  const char* text = "";
  if (code != CUDA_SUCCESS) ::cuGetErrorString(code, &text);
  if (log && size > 0) {
    const size_t length = std::min(std::strlen(text), size - 1);
    std::memcpy(log, text, length);
    log[length] = '\0';
  }
  return code;
}

CUresult first_update(CUgraphExec exec, CUgraph graph, CUgraphNode* failed_node,
                      CUgraphExecUpdateResult* result) noexcept {
  CUgraphExecUpdateResultInfo info{};
  const CUresult code = ::cuGraphExecUpdate(exec, graph, &info);
  if (failed_node) *failed_node = info.errorNode;
  if (result) *result = info.result;
  return code;
}

CUresult first_edges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) noexcept {
  return ::cuGraphGetEdges(graph, from, to, nullptr, count);
}

CUresult first_dependencies_of(CUgraphNode node, CUgraphNode* nodes, size_t* count) noexcept {
  return ::cuGraphNodeGetDependencies(node, nodes, nullptr, count);
}

CUresult first_dependents_of(CUgraphNode node, CUgraphNode* nodes, size_t* count) noexcept {
  return ::cuGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}

CUresult first_add_dependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t count) noexcept {
  return ::cuGraphAddDependencies(graph, from, to, nullptr, count);
}

CUresult first_remove_dependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t count) noexcept {
  return ::cuGraphRemoveDependencies(graph, from, to, nullptr, count);
}

CUresult first_prefetch_of_thread(CUdeviceptr range, size_t count, CUdevice device,
                                  CUstream stream) noexcept {
  const per_thread_streams scope;
  return first_prefetch(range, count, device, stream);
}

CUresult first_copy_batch_of_thread(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes,
                                    size_t count, CUmemcpyAttributes* attributes, size_t* indices,
                                    size_t attribute_count, size_t* failed_index,
                                    CUstream stream) noexcept {
  const per_thread_streams scope;
  return first_copy_batch(dsts, srcs, sizes, count, attributes, indices, attribute_count,
                          failed_index, stream);
}

CUresult first_copy_batch_3d_of_thread(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                                       size_t* failed_index, unsigned long long flags,
                                       CUstream stream) noexcept {
  const per_thread_streams scope;
  return first_copy_batch_3d(count, operations, failed_index, flags, stream);
}

CUresult first_begin_capture_of_thread(CUstream stream) noexcept {
  const per_thread_streams scope;
  return first_begin_capture(stream);
}

CUresult first_capture_info_of_thread(CUstream stream, CUstreamCaptureStatus* status,
                                      cuuint64_t* id) noexcept {
  const per_thread_streams scope;
  return first_capture_info(stream, status, id);
}

CUresult first_update_capture_of_thread(CUstream stream, CUgraphNode* nodes, size_t count,
                                        unsigned int flags) noexcept {
  const per_thread_streams scope;
  return first_update_capture(stream, nodes, count, flags);
}

}  // extern "C"

extern "C" {
[[gnu::visibility("default"), gnu::alias("first_prefetch")]] decltype(first_prefetch)
    exported_prefetch __asm__("cuMemPrefetchAsync");
[[gnu::visibility("default"), gnu::alias("first_prefetch_of_thread")]] decltype(first_prefetch)
    exported_prefetch_of_thread __asm__("cuMemPrefetchAsync_ptsz");
[[gnu::visibility("default"),
  gnu::alias("first_advise")]] decltype(first_advise) exported_advise __asm__("cuMemAdvise");
[[gnu::visibility("default"), gnu::alias("first_copy_batch")]] decltype(first_copy_batch)
    exported_copy_batch __asm__("cuMemcpyBatchAsync");
[[gnu::visibility("default"), gnu::alias("first_copy_batch_of_thread")]] decltype(first_copy_batch)
    exported_copy_batch_of_thread __asm__("cuMemcpyBatchAsync_ptsz");
[[gnu::visibility("default"), gnu::alias("first_copy_batch_3d")]] decltype(first_copy_batch_3d)
    exported_copy_batch_3d __asm__("cuMemcpy3DBatchAsync");
[[gnu::visibility("default"),
  gnu::alias("first_copy_batch_3d_of_thread")]] decltype(first_copy_batch_3d)
    exported_copy_batch_3d_of_thread __asm__("cuMemcpy3DBatchAsync_ptsz");
[[gnu::visibility("default"), gnu::alias("first_begin_capture")]] decltype(first_begin_capture)
    exported_begin_capture __asm__("cuStreamBeginCapture");
[[gnu::visibility("default"),
  gnu::alias("first_begin_capture_of_thread")]] decltype(first_begin_capture)
    exported_begin_capture_of_thread __asm__("cuStreamBeginCapture_ptsz");
[[gnu::visibility("default"), gnu::alias("first_capture_info")]] decltype(first_capture_info)
    exported_capture_info __asm__("cuStreamGetCaptureInfo");
[[gnu::visibility("default"),
  gnu::alias("first_capture_info_of_thread")]] decltype(first_capture_info)
    exported_capture_info_of_thread __asm__("cuStreamGetCaptureInfo_ptsz");
[[gnu::visibility("default"), gnu::alias("first_update_capture")]] decltype(first_update_capture)
    exported_update_capture __asm__("cuStreamUpdateCaptureDependencies");
[[gnu::visibility("default"),
  gnu::alias("first_update_capture_of_thread")]] decltype(first_update_capture)
    exported_update_capture_of_thread __asm__("cuStreamUpdateCaptureDependencies_ptsz");
[[gnu::visibility("default"), gnu::alias("first_add_kernel")]] decltype(first_add_kernel)
    exported_add_kernel __asm__("cuGraphAddKernelNode");
[[gnu::visibility("default"),
  gnu::alias("first_kernel_params_of")]] decltype(first_kernel_params_of)
    exported_kernel_params_of __asm__("cuGraphKernelNodeGetParams");
[[gnu::visibility("default"),
  gnu::alias("first_set_kernel_params")]] decltype(first_set_kernel_params)
    exported_set_kernel_params __asm__("cuGraphKernelNodeSetParams");
[[gnu::visibility("default"),
  gnu::alias("first_set_exec_kernel_params")]] decltype(first_set_exec_kernel_params)
    exported_set_exec_kernel_params __asm__("cuGraphExecKernelNodeSetParams");
[[gnu::visibility("default"), gnu::alias("first_instantiate")]] decltype(first_instantiate)
    exported_instantiate __asm__("cuGraphInstantiate");
[[gnu::visibility("default"), gnu::alias("first_instantiate")]] decltype(first_instantiate)
    exported_second_instantiate __asm__("cuGraphInstantiate_v2");
[[gnu::visibility("default"),
  gnu::alias("first_update")]] decltype(first_update) exported_update __asm__("cuGraphExecUpdate");
[[gnu::visibility("default"),
  gnu::alias("first_edges")]] decltype(first_edges) exported_edges __asm__("cuGraphGetEdges");
[[gnu::visibility("default"), gnu::alias("first_dependencies_of")]] decltype(first_dependencies_of)
    exported_dependencies_of __asm__("cuGraphNodeGetDependencies");
[[gnu::visibility("default"), gnu::alias("first_dependents_of")]] decltype(first_dependents_of)
    exported_dependents_of __asm__("cuGraphNodeGetDependentNodes");
[[gnu::visibility("default"),
  gnu::alias("first_add_dependencies")]] decltype(first_add_dependencies)
    exported_add_dependencies __asm__("cuGraphAddDependencies");
[[gnu::visibility("default"),
  gnu::alias("first_remove_dependencies")]] decltype(first_remove_dependencies)
    exported_remove_dependencies __asm__("cuGraphRemoveDependencies");
}

namespace {

template <class Function>
entry_point row(const char* name, int version, Function* function,
                Function* per_thread = nullptr) noexcept {
  void* const address = reinterpret_cast<void*>(function);
  return {name, version, address, reinterpret_cast<void*>(per_thread), address};
}

}  // namespace

std::span<const entry_point> first_variants() noexcept {
  static const entry_point table[] = {
      row("cuGraphAddDependencies", 10000, first_add_dependencies),
      row("cuGraphAddKernelNode", 10000, first_add_kernel),
      row("cuGraphExecKernelNodeSetParams", 10010, first_set_exec_kernel_params),
      row("cuGraphExecUpdate", 10020, first_update),
      row("cuGraphGetEdges", 10000, first_edges),
      row("cuGraphInstantiate", 10000, first_instantiate),
      row("cuGraphInstantiate", 11000, first_instantiate),
      row("cuGraphKernelNodeGetParams", 10000, first_kernel_params_of),
      row("cuGraphKernelNodeSetParams", 10000, first_set_kernel_params),
      row("cuGraphNodeGetDependencies", 10000, first_dependencies_of),
      row("cuGraphNodeGetDependentNodes", 10000, first_dependents_of),
      row("cuGraphRemoveDependencies", 10000, first_remove_dependencies),
      row("cuMemAdvise", 8000, first_advise),
      row("cuMemPrefetchAsync", 8000, first_prefetch, first_prefetch_of_thread),
      row("cuMemcpy3DBatchAsync", 12080, first_copy_batch_3d, first_copy_batch_3d_of_thread),
      row("cuMemcpyBatchAsync", 12080, first_copy_batch, first_copy_batch_of_thread),
      row("cuStreamBeginCapture", 10000, first_begin_capture, first_begin_capture_of_thread),
      row("cuStreamGetCaptureInfo", 10010, first_capture_info, first_capture_info_of_thread),
      row("cuStreamUpdateCaptureDependencies", 11030, first_update_capture,
          first_update_capture_of_thread),
  };
  return table;
}

}  // namespace halfwarp::emulator::api
