// SPDX-License-Identifier: Apache-2.0
// A driver with two devices that does nothing and notes what it is asked for.
#include "emulated_runtime/noting_driver.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "emulated_runtime/process/connection.hpp"

namespace halfwarp::emulated_runtime::testing {

noting_driver noted;

namespace {

template <class Handle>
Handle handle(std::uintptr_t value) {
  return reinterpret_cast<Handle>(value);
}

[[noreturn]] void stop() {
  std::fputs("the runtime calls a driver function that is not in these tests\n", stderr);
  std::abort();
}

bool has_device(CUdevice device) { return device >= 0 && device < device_count; }

void add_contexts(driver::driver_table& t) {
  t.cuInit = [](unsigned) { return noted.init_answer; };
  t.cuDeviceGetCount = [](int* count) { return *count = device_count, CUDA_SUCCESS; };
  t.cuCtxGetCurrent = [](CUcontext* out) { return *out = noted.current, CUDA_SUCCESS; };
  t.cuCtxSetCurrent = [](CUcontext to) { return noted.current = to, CUDA_SUCCESS; };
  t.cuCtxGetDevice = [](CUdevice* out) { return *out = 1, CUDA_SUCCESS; };
  t.cuCtxGetFlags = [](unsigned* out) { return *out = CU_CTX_SCHED_SPIN, CUDA_SUCCESS; };
  t.cuDevicePrimaryCtxGetState = [](CUdevice device, unsigned* flags, int* active) {
    *flags = CU_CTX_SCHED_YIELD;
    return *active = noted.retained[device] > 0, CUDA_SUCCESS;
  };
  t.cuDevicePrimaryCtxRetain = [](CUcontext* out, CUdevice device) {
    if (!has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    ++noted.retained[device];
    return *out = primary_of(device), CUDA_SUCCESS;
  };
  t.cuDevicePrimaryCtxRelease = [](CUdevice device) {
    return --noted.retained[device], CUDA_SUCCESS;
  };
  t.cuDevicePrimaryCtxReset = [](CUdevice device) {
    ++noted.resets;
    return noted.retained[device] = 0, CUDA_SUCCESS;
  };
}

void add_memory(driver::driver_table& t) {
  t.cuMemFree = [](CUdeviceptr) { return noted.answer; };
  t.cuMemcpy3D = [](const CUDA_MEMCPY3D* p) {
    noted.copies.push_back(*p);
    return noted.copy = *p, noted.answer;
  };
  t.cuMemcpy3DAsync = [](const CUDA_MEMCPY3D* p, CUstream) {
    return noted.copy = *p, noted.answer;
  };
  t.cuMemcpy3DPeer = [](const CUDA_MEMCPY3D_PEER* p) { return noted.peer_copy = *p, noted.answer; };
  t.cuArray3DCreate = [](CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* p) {
    noted.array = *p;
    return *out = handle<CUarray>(0x77), noted.answer;
  };
  t.cuArray3DGetDescriptor = [](CUDA_ARRAY3D_DESCRIPTOR* out, CUarray) {
    return *out = noted.array, CUDA_SUCCESS;
  };
}

void add_textures(driver::driver_table& t) {
  t.cuTexObjectCreate = [](CUtexObject* out, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC*) {
    noted.resource = *resource;
    noted.texture = *texture;
    return *out = 5, noted.answer;
  };
  t.cuTexObjectGetResourceDesc = [](CUDA_RESOURCE_DESC* out, CUtexObject) {
    return *out = noted.resource, CUDA_SUCCESS;
  };
  t.cuTexObjectGetTextureDesc = [](CUDA_TEXTURE_DESC* out, CUtexObject) {
    return *out = noted.texture, CUDA_SUCCESS;
  };
}

void add_code(driver::driver_table& t) {
  t.cuKernelGetFunction = [](CUfunction* out, CUkernel kernel) {
    if (kernel != a_kernel()) return CUDA_ERROR_INVALID_HANDLE;
    return *out = a_function(), CUDA_SUCCESS;
  };
  t.cuFuncGetModule = [](CUmodule*, CUfunction function) {
    return function == a_function() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  };
  t.cuFuncGetAttribute = [](int* out, CUfunction_attribute which, CUfunction) {
    return *out = 100 + which, CUDA_SUCCESS;
  };
  t.cuStreamAddCallback = [](CUstream in, CUstreamCallback run, void* data, unsigned) {
    if (noted.answer == CUDA_SUCCESS) run(in, noted.callback_status, data);
    return noted.answer;
  };
}

void add_graphs(driver::driver_table& t) {
  t.cuGraphAddKernelNode = [](CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,
                              const CUDA_KERNEL_NODE_PARAMS* p) {
    return noted.kernel_node = *p, noted.answer;
  };
  t.cuGraphKernelNodeGetParams = [](CUgraphNode, CUDA_KERNEL_NODE_PARAMS* out) {
    return *out = noted.kernel_node, CUDA_SUCCESS;
  };
  t.cuGraphAddMemcpyNode = [](CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,
                              const CUDA_MEMCPY3D* p, CUcontext context) {
    noted.copy = *p;
    return noted.node_context = context, noted.answer;
  };
  t.cuGraphMemcpyNodeGetParams = [](CUgraphNode, CUDA_MEMCPY3D* out) {
    return *out = noted.copy, CUDA_SUCCESS;
  };
  t.cuGraphAddNode = [](CUgraphNode*, CUgraph, const CUgraphNode*, const CUgraphEdgeData*,
                        std::size_t, CUgraphNodeParams* p) {
    noted.node = *p;
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) p->alloc.dptr = 0x1234;
    return noted.answer;
  };
  t.cuGraphNodeGetParams = [](CUgraphNode, CUgraphNodeParams* out) {
    return *out = noted.node, CUDA_SUCCESS;
  };
}

driver::driver_table make_table() {
  driver::driver_table made;
  using function = void (*)();
  std::fill_n(reinterpret_cast<function*>(&made), sizeof made / sizeof(function), &stop);
  add_contexts(made);
  add_memory(made);
  add_textures(made);
  add_code(made);
  add_graphs(made);
  return made;
}

}  // namespace

CUcontext primary_of(int device) {
  return handle<CUcontext>(0x1000 + static_cast<unsigned>(device));
}
CUcontext own_context() { return handle<CUcontext>(0x2000); }
CUkernel a_kernel() { return handle<CUkernel>(0x3000); }
CUfunction a_function() { return handle<CUfunction>(0x4000); }

const driver::driver_table* noting_table() {
  static const driver::driver_table made = make_table();
  return &made;
}

void runtime_test::SetUp() {
  noted = {};
  halfwarp_cudart_connect(noting_table());
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  noted = {};
  cudaGetLastError();
}

}  // namespace halfwarp::emulated_runtime::testing
