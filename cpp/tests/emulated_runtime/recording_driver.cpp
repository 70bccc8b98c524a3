// SPDX-License-Identifier: Apache-2.0
// A driver with two devices that runs nothing and records the arguments of calls.
#include "emulated_runtime/recording_driver.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "emulated_runtime/process/connection.hpp"

namespace halfwarp::emulated_runtime::testing {

recording_driver recorded;

namespace {

template <class Handle>
Handle handle(std::uintptr_t value) {
  return reinterpret_cast<Handle>(value);
}

[[noreturn]] CUresult stop() {
  std::fputs("the runtime calls a driver function that is not in these tests\n", stderr);
  std::abort();
}

bool has_device(CUdevice device) { return device >= 0 && device < device_count; }

void add_contexts(driver::driver_table& t) {
  t.cuInit = [](unsigned) { return recorded.init_answer; };
  t.cuGetErrorString = [](CUresult, const char** out) {
    return *out = "text of the driver", CUDA_SUCCESS;
  };
  t.cuDeviceGetCount = [](int* count) { return *count = device_count, CUDA_SUCCESS; };
  t.cuCtxGetCurrent = [](CUcontext* out) { return *out = recorded.current, CUDA_SUCCESS; };
  t.cuCtxSetCurrent = [](CUcontext to) { return recorded.current = to, CUDA_SUCCESS; };
  t.cuCtxGetDevice = [](CUdevice* out) { return *out = 1, CUDA_SUCCESS; };
  t.cuCtxGetFlags = [](unsigned* out) { return *out = CU_CTX_SCHED_SPIN, CUDA_SUCCESS; };
  t.cuDevicePrimaryCtxGetState = [](CUdevice device, unsigned* flags, int* active) {
    *flags = CU_CTX_SCHED_YIELD;
    return *active = recorded.retained[device] > 0, CUDA_SUCCESS;
  };
  t.cuDevicePrimaryCtxRetain = [](CUcontext* out, CUdevice device) {
    if (!has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    ++recorded.retained[device];
    return *out = primary_of(device), CUDA_SUCCESS;
  };
  t.cuDevicePrimaryCtxRelease = [](CUdevice device) {
    return --recorded.retained[device], CUDA_SUCCESS;
  };
  t.cuDevicePrimaryCtxReset = [](CUdevice device) {
    ++recorded.resets;
    return recorded.retained[device] = 0, CUDA_SUCCESS;
  };
}

void add_devices(driver::driver_table& t) {
  t.cuDeviceGetAttribute = [](int* out, CUdevice_attribute attribute, CUdevice device) {
    if (!has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    return *out = attribute_of(attribute, device), CUDA_SUCCESS;
  };
  t.cuDeviceGetName = [](char* out, int, CUdevice device) {
    *out = '\0';
    return has_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  };
  t.cuDeviceGetUuid = [](CUuuid*, CUdevice) { return CUDA_SUCCESS; };
  t.cuDeviceTotalMem = [](std::size_t* out, CUdevice) { return *out = 1000, CUDA_SUCCESS; };
  t.cuCtxEnablePeerAccess = [](CUcontext peer, unsigned flags) {
    recorded.peer = peer;
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  };
  t.cuCtxDisablePeerAccess = [](CUcontext peer) { return recorded.peer = peer, CUDA_SUCCESS; };
}

void add_fills(driver::driver_table& t) {
  t.cuMemsetD2D8 = [](CUdeviceptr first, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t rows) {
    recorded.fills.push_back({first, pitch, width, rows, value});
    return recorded.answer;
  };
  t.cuMemsetD2D8Async = [](CUdeviceptr first, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t rows, CUstream) {
    recorded.fills.push_back({first, pitch, width, rows, value});
    return recorded.answer;
  };
  t.cuPointerGetAttributes = [](unsigned, CUpointer_attribute*, void** out, CUdeviceptr) {
    const pointer_answers& answers = recorded.pointer;
    *static_cast<unsigned*>(out[0]) = answers.type;
    *static_cast<bool*>(out[1]) = answers.is_managed;
    *static_cast<int*>(out[2]) = answers.device;
    *static_cast<std::uintptr_t*>(out[3]) = answers.on_device;
    *static_cast<std::uintptr_t*>(out[4]) = answers.on_host;
    return recorded.answer;
  };
}

void add_memory(driver::driver_table& t) {
  t.cuMemFree = [](CUdeviceptr) { return recorded.answer; };
  t.cuMemcpy3D = [](const CUDA_MEMCPY3D* p) {
    recorded.copies.push_back(*p);
    return recorded.copy = *p, recorded.answer;
  };
  t.cuMemcpy3DAsync = [](const CUDA_MEMCPY3D* p, CUstream) {
    return recorded.copy = *p, recorded.answer;
  };
  t.cuMemcpy3DPeer = [](const CUDA_MEMCPY3D_PEER* p) {
    return recorded.peer_copy = *p, recorded.answer;
  };
  t.cuArray3DCreate = [](CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* p) {
    recorded.array = *p;
    return *out = handle<CUarray>(0x77), recorded.answer;
  };
  t.cuArray3DGetDescriptor = [](CUDA_ARRAY3D_DESCRIPTOR* out, CUarray) {
    return *out = recorded.array, CUDA_SUCCESS;
  };
}

void add_textures(driver::driver_table& t) {
  t.cuTexObjectCreate = [](CUtexObject* out, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC*) {
    recorded.resource = *resource;
    recorded.texture = *texture;
    return *out = 5, recorded.answer;
  };
  t.cuTexObjectGetResourceDesc = [](CUDA_RESOURCE_DESC* out, CUtexObject) {
    return *out = recorded.resource, CUDA_SUCCESS;
  };
  t.cuTexObjectGetTextureDesc = [](CUDA_TEXTURE_DESC* out, CUtexObject) {
    return *out = recorded.texture, CUDA_SUCCESS;
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
  t.cuFuncGetAttribute = [](int* out, CUfunction_attribute attribute, CUfunction) {
    return *out = 100 + attribute, CUDA_SUCCESS;
  };
  t.cuLaunchKernelEx = [](const CUlaunchConfig* config, CUfunction, void**, void**) {
    recorded.launch = *config;
    recorded.launch_attributes.assign(config->attrs, config->attrs + config->numAttrs);
    return recorded.answer;
  };
  t.cuStreamAddCallback = [](CUstream stream, CUstreamCallback run, void* data, unsigned) {
    if (recorded.answer == CUDA_SUCCESS) run(stream, recorded.callback_status, data);
    return recorded.answer;
  };
}

void add_libraries(driver::driver_table& t) {
  t.cuLibraryLoadData = [](CUlibrary* out, const void* image, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
    ++recorded.loads;
    recorded.loaded = image;
    if (recorded.load_answer) return recorded.load_answer;
    return *out = handle<CUlibrary>(reinterpret_cast<std::uintptr_t>(image)), CUDA_SUCCESS;
  };
  t.cuLibraryUnload = [](CUlibrary) { return ++recorded.unloads, CUDA_SUCCESS; };
  t.cuLibraryGetKernel = [](CUkernel* out, CUlibrary, const char* name) {
    if (std::strcmp(name, "kernel") != 0) return CUDA_ERROR_NOT_FOUND;
    return *out = a_kernel(), CUDA_SUCCESS;
  };
  t.cuLibraryGetGlobal = [](CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                            const char* name) {
    if (std::strcmp(name, "variable") != 0) return CUDA_ERROR_NOT_FOUND;
    *address = reinterpret_cast<CUdeviceptr>(library) + 0x1000;
    return *bytes = 100, CUDA_SUCCESS;
  };
  t.cuLibraryGetManaged = [](CUdeviceptr* address, std::size_t* bytes, CUlibrary, const char*) {
    *address = 0x5000;
    return *bytes = 8, recorded.answer;
  };
  t.cuMemcpyHtoD = [](CUdeviceptr to, const void* from, std::size_t bytes) {
    recorded.copy = {};
    recorded.copy.dstDevice = to, recorded.copy.srcHost = from;
    return recorded.copy.WidthInBytes = bytes, recorded.answer;
  };
  t.cuMemcpyDtoH = [](void* to, CUdeviceptr from, std::size_t bytes) {
    recorded.copy = {};
    recorded.copy.dstHost = to, recorded.copy.srcDevice = from;
    return recorded.copy.WidthInBytes = bytes, recorded.answer;
  };
  t.cuGetExportTable = [](const void**, const CUuuid*) { return CUDA_ERROR_NOT_FOUND; };
  t.cuFuncSetSharedMemConfig = [](CUfunction function, CUsharedconfig config) {
    const bool is_known =
        function == a_function() && config == CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
    return is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
}

void add_graphs(driver::driver_table& t) {
  t.cuGraphAddKernelNode = [](CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,
                              const CUDA_KERNEL_NODE_PARAMS* p) {
    return recorded.kernel_node = *p, recorded.answer;
  };
  t.cuGraphKernelNodeGetParams = [](CUgraphNode, CUDA_KERNEL_NODE_PARAMS* out) {
    return *out = recorded.kernel_node, CUDA_SUCCESS;
  };
  t.cuGraphAddMemcpyNode = [](CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,
                              const CUDA_MEMCPY3D* p, CUcontext context) {
    recorded.copy = *p;
    return recorded.node_context = context, recorded.answer;
  };
  t.cuGraphMemcpyNodeGetParams = [](CUgraphNode, CUDA_MEMCPY3D* out) {
    return *out = recorded.copy, CUDA_SUCCESS;
  };
  t.cuGraphAddNode = [](CUgraphNode*, CUgraph, const CUgraphNode*, const CUgraphEdgeData*,
                        std::size_t, CUgraphNodeParams* p) {
    recorded.node = *p;
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) p->alloc.dptr = 0x1234;
    return recorded.answer;
  };
  t.cuGraphNodeGetParams = [](CUgraphNode, CUgraphNodeParams* out) {
    return *out = recorded.node, CUDA_SUCCESS;
  };
}

}  // namespace

driver::driver_table table_with(driver_function other) {
  driver::driver_table table;
  std::fill_n(reinterpret_cast<driver_function*>(&table), sizeof table / sizeof other, other);
  add_contexts(table);
  add_devices(table);
  add_fills(table);
  add_memory(table);
  add_textures(table);
  add_code(table);
  add_libraries(table);
  add_graphs(table);
  return table;
}

int attribute_of(CUdevice_attribute attribute, int device) {
  const bool is_best = device == recorded.best_device && attribute == recorded.best_attribute;
  return 40 + is_best;
}

CUcontext primary_of(int device) {
  return handle<CUcontext>(0x1000 + static_cast<unsigned>(device));
}
CUcontext own_context() { return handle<CUcontext>(0x2000); }
CUkernel a_kernel() { return handle<CUkernel>(0x3000); }
CUfunction a_function() { return handle<CUfunction>(0x4000); }

const driver::driver_table* recording_table() {
  static const driver::driver_table table = table_with(&stop);
  return &table;
}

void runtime_test::SetUp() {
  recorded = {};
  halfwarp_cudart_connect(recording_table());
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  recorded = {};
  cudaGetLastError();
}

}  // namespace halfwarp::emulated_runtime::testing
