// SPDX-License-Identifier: Apache-2.0
// A failure of any driver function is the result of the runtime call that needs the function.
#include <span>
#include <string_view>

#include "emulated_runtime/process/connection.hpp"
#include "emulated_runtime/registered_program.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class failure_test : public runtime_test {};

bool was_called = false;

CUresult succeed() { return CUDA_SUCCESS; }

CUresult fail() {
  was_called = true;
  return CUDA_ERROR_ECC_UNCORRECTABLE;
}

// Arguments of the calls; the driver reads none of the addresses.
void* const target = reinterpret_cast<void*>(0x1000);
void* const source = reinterpret_cast<void*>(0x2000);
const auto array = reinterpret_cast<cudaArray_t>(0x77);
const auto array_copy = reinterpret_cast<cudaArray_t>(0x78);
constexpr auto to_device = cudaMemcpyHostToDevice;
constexpr cudaExtent extent{8, 4, 2};

// Memory for the output of any call, which no test reads.
alignas(16) unsigned char out[4096];
std::size_t size_out;

template <class T>
T* into() {
  static_assert(sizeof(T) <= sizeof out);
  return reinterpret_cast<T*>(out);
}

cudaMemcpy3DParms slices() {
  cudaMemcpy3DParms result{};
  result.srcPtr = {source, 128, 100, 10};
  result.dstArray = array;
  result.extent = extent;
  result.kind = to_device;
  return result;
}

cudaMemcpy3DPeerParms peer_slices() {
  cudaMemcpy3DPeerParms result{};
  result.srcPtr = result.dstPtr = {source, 128, 100, 10};
  result.srcDevice = 1;
  result.extent = extent;
  return result;
}

cudaKernelNodeParams launch() {
  cudaKernelNodeParams result{};
  result.func = a_kernel();
  result.gridDim = result.blockDim = {1, 1, 1};
  return result;
}

cudaGraphNodeParams node_of(cudaGraphNodeType type) {
  cudaGraphNodeParams result{};
  result.type = type;
  if (type == cudaGraphNodeTypeKernel) result.kernel.func = a_kernel();
  if (type == cudaGraphNodeTypeMemcpy) result.memcpy.copyParams = slices();
  return result;
}

cudaResourceDesc array_resource() {
  cudaResourceDesc result{};
  result.resType = cudaResourceTypeArray;
  result.res.array.array = array;
  return result;
}

struct runtime_call {
  const char* name;
  cudaError_t (*run)();
};

const cudaMemcpy3DParms copy = slices();
const cudaMemcpy3DPeerParms peer_copy = peer_slices();
const cudaKernelNodeParams kernel_node = launch();
const cudaResourceDesc resource = array_resource();
const cudaTextureDesc texture{};
const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
const cudaMemsetParams fill{};
const cudaLaunchConfig_t launch_config{{1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr, 0};
cudaGraphNodeParams any_node = node_of(cudaGraphNodeTypeKernel);
cudaGraphNodeParams copy_node = node_of(cudaGraphNodeTypeMemcpy);
cudaGraphNodeParams fill_node = node_of(cudaGraphNodeTypeMemset);
const cudaDeviceProp requested{};
cudaGraphNode_t node;
int device_list[] = {0};

const runtime_call device_calls[] = {
    {"cudaGetDeviceCount", [] { return cudaGetDeviceCount(into<int>()); }},
    {"cudaSetValidDevices", [] { return cudaSetValidDevices(device_list, 1); }},
    {"cudaGetDevice", [] { return cudaGetDevice(into<int>()); }},
    {"cudaSetDevice", [] { return cudaSetDevice(1); }},
    {"cudaInitDevice",
     [] { return cudaInitDevice(1, cudaDeviceScheduleSpin, cudaInitDeviceFlagsAreValid); }},
    {"cudaDeviceReset", [] { return cudaDeviceReset(); }},
    {"cudaSetDeviceFlags", [] { return cudaSetDeviceFlags(cudaDeviceScheduleSpin); }},
    {"cudaGetDeviceFlags", [] { return cudaGetDeviceFlags(into<unsigned>()); }},
    {"cudaChooseDevice", [] { return cudaChooseDevice(into<int>(), &requested); }},
    {"cudaDeviceEnablePeerAccess", [] { return cudaDeviceEnablePeerAccess(1, 0); }},
    {"cudaDeviceDisablePeerAccess", [] { return cudaDeviceDisablePeerAccess(1); }},
    {"cudaDeviceSynchronize", [] { return cudaDeviceSynchronize(); }},
};

const runtime_call memory_calls[] = {
    {"cudaMalloc", [] { return cudaMalloc(into<void*>(), 64); }},
    {"cudaMallocManaged", [] { return cudaMallocManaged(into<void*>(), 64, cudaMemAttachGlobal); }},
    {"cudaMallocPitch", [] { return cudaMallocPitch(into<void*>(), &size_out, 64, 4); }},
    {"cudaMalloc3D", [] { return cudaMalloc3D(into<cudaPitchedPtr>(), extent); }},
    {"cudaFree", [] { return cudaFree(target); }},
    {"cudaMemcpy", [] { return cudaMemcpy(target, source, 64, cudaMemcpyHostToDevice); }},
    {"cudaMemcpy", [] { return cudaMemcpy(target, source, 64, cudaMemcpyDeviceToHost); }},
    {"cudaMemcpy", [] { return cudaMemcpy(target, source, 64, cudaMemcpyDeviceToDevice); }},
    {"cudaMemcpy", [] { return cudaMemcpy(target, source, 64, cudaMemcpyHostToHost); }},
    {"cudaMemcpyAsync",
     [] { return cudaMemcpyAsync(target, source, 64, cudaMemcpyHostToDevice, nullptr); }},
    {"cudaMemcpyAsync",
     [] { return cudaMemcpyAsync(target, source, 64, cudaMemcpyDeviceToHost, nullptr); }},
    {"cudaMemcpyAsync",
     [] { return cudaMemcpyAsync(target, source, 64, cudaMemcpyDeviceToDevice, nullptr); }},
    {"cudaMemcpyAsync",
     [] { return cudaMemcpyAsync(target, source, 64, cudaMemcpyDefault, nullptr); }},
    {"cudaMemcpyPeer", [] { return cudaMemcpyPeer(target, 0, source, 1, 64); }},
    {"cudaMemcpyPeerAsync", [] { return cudaMemcpyPeerAsync(target, 0, source, 1, 64, nullptr); }},
    {"cudaMemcpyToArray", [] { return cudaMemcpyToArray(array, 4, 0, source, 64, to_device); }},
    {"cudaMemcpyFromArray",
     [] { return cudaMemcpyFromArray(target, array, 4, 0, 64, cudaMemcpyDeviceToHost); }},
    {"cudaMemcpyToArrayAsync",
     [] { return cudaMemcpyToArrayAsync(array, 4, 0, source, 64, to_device, nullptr); }},
    {"cudaMemcpyFromArrayAsync",
     [] {
       return cudaMemcpyFromArrayAsync(target, array, 4, 0, 64, cudaMemcpyDeviceToHost, nullptr);
     }},
    {"cudaMemcpy2D", [] { return cudaMemcpy2D(target, 64, source, 64, 64, 2, to_device); }},
    {"cudaMemcpy2DAsync",
     [] { return cudaMemcpy2DAsync(target, 64, source, 64, 64, 2, to_device, nullptr); }},
    {"cudaMemcpy2DArrayToArray",
     [] {
       return cudaMemcpy2DArrayToArray(array, 0, 0, array_copy, 0, 0, 8, 2,
                                       cudaMemcpyDeviceToDevice);
     }},
    {"cudaMemcpy3D", [] { return cudaMemcpy3D(&copy); }},
    {"cudaMemcpy3DAsync", [] { return cudaMemcpy3DAsync(&copy, nullptr); }},
    {"cudaMemcpy3DPeer", [] { return cudaMemcpy3DPeer(&peer_copy); }},
    {"cudaMemcpy3DPeerAsync", [] { return cudaMemcpy3DPeerAsync(&peer_copy, nullptr); }},
    {"cudaPointerGetAttributes",
     [] { return cudaPointerGetAttributes(into<cudaPointerAttributes>(), target); }},
    {"cudaMemset", [] { return cudaMemset(target, 1, 64); }},
    {"cudaMemsetAsync", [] { return cudaMemsetAsync(target, 1, 64, nullptr); }},
    {"cudaMemset2D", [] { return cudaMemset2D(target, 64, 1, 64, 2); }},
    {"cudaMemset2DAsync", [] { return cudaMemset2DAsync(target, 64, 1, 64, 2, nullptr); }},
    {"cudaMemset3D", [] { return cudaMemset3D({target, 64, 64, 4}, 1, extent); }},
    {"cudaMemset3DAsync",
     [] { return cudaMemset3DAsync({target, 64, 64, 4}, 1, extent, nullptr); }},
};

const runtime_call code_calls[] = {
    {"cudaFuncGetAttributes",
     [] { return cudaFuncGetAttributes(into<cudaFuncAttributes>(), a_kernel()); }},
    {"cudaFuncSetAttribute",
     [] {
       return cudaFuncSetAttribute(a_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, 64);
     }},
    {"cudaFuncSetCacheConfig",
     [] { return cudaFuncSetCacheConfig(a_kernel(), cudaFuncCachePreferL1); }},
    {"cudaFuncSetSharedMemConfig",
     [] { return cudaFuncSetSharedMemConfig(a_kernel(), cudaSharedMemBankSizeEightByte); }},
    {"cudaFuncGetParamInfo",
     [] { return cudaFuncGetParamInfo(a_kernel(), 0, &size_out, into<std::size_t>()); }},
    {"cudaFuncGetParamCount",
     [] { return cudaFuncGetParamCount(a_kernel(), into<std::size_t>()); }},
    {"cudaFuncGetName", [] { return cudaFuncGetName(into<const char*>(), a_kernel()); }},
    {"cudaGetKernel", [] { return cudaGetKernel(into<cudaKernel_t>(), &stub); }},
    {"cudaGetFuncBySymbol", [] { return cudaGetFuncBySymbol(into<cudaFunction_t>(), &stub); }},
    {"cudaLaunchKernel", [] { return cudaLaunchKernel(&stub, 1, 1, nullptr, 0, nullptr); }},
    {"cudaLaunchKernelExC", [] { return cudaLaunchKernelExC(&launch_config, &stub, nullptr); }},
    {"cudaLaunchCooperativeKernel",
     [] { return cudaLaunchCooperativeKernel(&stub, 1, 1, nullptr, 0, nullptr); }},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor",
     [] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(into<int>(), a_kernel(), 32, 0); }},
    {"cudaOccupancyAvailableDynamicSMemPerBlock",
     [] {
       return cudaOccupancyAvailableDynamicSMemPerBlock(into<std::size_t>(), a_kernel(), 1, 32);
     }},
    {"cudaOccupancyMaxPotentialClusterSize",
     [] { return cudaOccupancyMaxPotentialClusterSize(into<int>(), a_kernel(), &launch_config); }},
    {"cudaOccupancyMaxActiveClusters",
     [] { return cudaOccupancyMaxActiveClusters(into<int>(), a_kernel(), &launch_config); }},
    {"cudaGetSymbolAddress", [] { return cudaGetSymbolAddress(into<void*>(), &variable); }},
    {"cudaGetSymbolSize", [] { return cudaGetSymbolSize(into<std::size_t>(), &variable); }},
    {"cudaMemcpyToSymbol", [] { return cudaMemcpyToSymbol(&variable, source, 8, 0, to_device); }},
    {"cudaMemcpyFromSymbol",
     [] { return cudaMemcpyFromSymbol(target, &variable, 8, 0, cudaMemcpyDeviceToHost); }},
    {"cudaStreamCreate", [] { return cudaStreamCreate(into<cudaStream_t>()); }},
    {"cudaEventCreate", [] { return cudaEventCreate(into<cudaEvent_t>()); }},
};

const runtime_call graph_calls[] = {
    {"cudaGraphAddNode",
     [] { return cudaGraphAddNode(&node, nullptr, nullptr, nullptr, 0, &any_node); }},
    {"cudaGraphAddNode",
     [] { return cudaGraphAddNode(&node, nullptr, nullptr, nullptr, 0, &copy_node); }},
    {"cudaGraphAddNode",
     [] { return cudaGraphAddNode(&node, nullptr, nullptr, nullptr, 0, &fill_node); }},
    {"cudaGraphNodeSetParams", [] { return cudaGraphNodeSetParams(nullptr, &any_node); }},
    {"cudaGraphExecNodeSetParams",
     [] { return cudaGraphExecNodeSetParams(nullptr, nullptr, &copy_node); }},
    {"cudaGraphNodeGetParams",
     [] { return cudaGraphNodeGetParams(nullptr, into<cudaGraphNodeParams>()); }},
    {"cudaGraphConditionalHandleCreate",
     [] {
       return cudaGraphConditionalHandleCreate(into<cudaGraphConditionalHandle>(), nullptr, 0, 0);
     }},
    {"cudaGraphAddKernelNode",
     [] { return cudaGraphAddKernelNode(&node, nullptr, nullptr, 0, &kernel_node); }},
    {"cudaGraphKernelNodeSetParams",
     [] { return cudaGraphKernelNodeSetParams(nullptr, &kernel_node); }},
    {"cudaGraphExecKernelNodeSetParams",
     [] { return cudaGraphExecKernelNodeSetParams(nullptr, nullptr, &kernel_node); }},
    {"cudaGraphAddMemcpyNode",
     [] { return cudaGraphAddMemcpyNode(&node, nullptr, nullptr, 0, &copy); }},
    {"cudaGraphAddMemcpyNode1D",
     [] {
       return cudaGraphAddMemcpyNode1D(&node, nullptr, nullptr, 0, target, source, 8, to_device);
     }},
    {"cudaGraphMemcpyNodeGetParams",
     [] { return cudaGraphMemcpyNodeGetParams(nullptr, into<cudaMemcpy3DParms>()); }},
    {"cudaGraphMemcpyNodeSetParams", [] { return cudaGraphMemcpyNodeSetParams(nullptr, &copy); }},
    {"cudaGraphMemcpyNodeSetParams1D",
     [] { return cudaGraphMemcpyNodeSetParams1D(nullptr, target, source, 8, to_device); }},
    {"cudaGraphExecMemcpyNodeSetParams",
     [] { return cudaGraphExecMemcpyNodeSetParams(nullptr, nullptr, &copy); }},
    {"cudaGraphExecMemcpyNodeSetParams1D",
     [] {
       return cudaGraphExecMemcpyNodeSetParams1D(nullptr, nullptr, target, source, 8, to_device);
     }},
    {"cudaGraphAddMemsetNode",
     [] { return cudaGraphAddMemsetNode(&node, nullptr, nullptr, 0, &fill); }},
    {"cudaGraphExecMemsetNodeSetParams",
     [] { return cudaGraphExecMemsetNodeSetParams(nullptr, nullptr, &fill); }},
    {"cudaGraphMemFreeNodeGetParams",
     [] { return cudaGraphMemFreeNodeGetParams(nullptr, into<void*>()); }},
    {"cudaGraphMemcpyNodeSetParamsToSymbol",
     [] {
       return cudaGraphMemcpyNodeSetParamsToSymbol(nullptr, &variable, source, 8, 0, to_device);
     }},
};

const runtime_call texture_calls[] = {
    {"cudaMallocArray", [] { return cudaMallocArray(into<cudaArray_t>(), &format, 8, 8, 0); }},
    {"cudaMalloc3DArray",
     [] { return cudaMalloc3DArray(into<cudaArray_t>(), &format, extent, 0); }},
    {"cudaMallocMipmappedArray",
     [] { return cudaMallocMipmappedArray(into<cudaMipmappedArray_t>(), &format, extent, 1, 0); }},
    {"cudaGetMipmappedArrayLevel",
     [] { return cudaGetMipmappedArrayLevel(into<cudaArray_t>(), nullptr, 0); }},
    {"cudaArrayGetInfo",
     [] { return cudaArrayGetInfo(into<cudaChannelFormatDesc>(), nullptr, nullptr, array); }},
    {"cudaGetChannelDesc", [] { return cudaGetChannelDesc(into<cudaChannelFormatDesc>(), array); }},
    {"cudaDeviceGetTexture1DLinearMaxWidth",
     [] { return cudaDeviceGetTexture1DLinearMaxWidth(into<std::size_t>(), &format, 0); }},
    {"cudaCreateTextureObject",
     [] {
       return cudaCreateTextureObject(into<cudaTextureObject_t>(), &resource, &texture, nullptr);
     }},
    {"cudaGetTextureObjectResourceDesc",
     [] { return cudaGetTextureObjectResourceDesc(into<cudaResourceDesc>(), 5); }},
    {"cudaGetTextureObjectTextureDesc",
     [] { return cudaGetTextureObjectTextureDesc(into<cudaTextureDesc>(), 5); }},
    {"cudaCreateSurfaceObject",
     [] { return cudaCreateSurfaceObject(into<cudaSurfaceObject_t>(), &resource); }},
    {"cudaGetSurfaceObjectResourceDesc",
     [] { return cudaGetSurfaceObjectResourceDesc(into<cudaResourceDesc>(), 5); }},
    {"cudaGetDriverEntryPointByVersion",
     [] { return cudaGetDriverEntryPointByVersion("cuInit", into<void*>(), 13000, 0, nullptr); }},
};

// Returns whether a failure is an answer of the driver: a context is not active, a handle is no
// kernel, or an attribute does not exist.
bool is_answer(std::string_view call, const driver::driver_table& t, const driver_function& entry) {
  const auto is = [&](const auto& other) {
    return static_cast<const void*>(&entry) == static_cast<const void*>(&other);
  };
  if (is(t.cuDevicePrimaryCtxGetState)) return call != "cudaGetDeviceFlags";
  if (is(t.cuDeviceGetAttribute)) return call == "cudaChooseDevice";
  if (is(t.cuKernelGetFunction)) return call.starts_with("cudaGraph");
  return is(t.cuFuncGetAttribute);
}

// Selects device 0, whose context the next call makes current.
program start(const driver::driver_table& lenient, const driver::driver_table& used) {
  halfwarp_cudart_connect(&lenient);
  cudaSetDevice(0);
  recorded = {};
  recorded.array = {64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  was_called = false;
  halfwarp_cudart_connect(&used);
  return program{0x100};
}

void expect_failures(std::span<const runtime_call> calls) {
  const driver::driver_table lenient = table_with(&succeed);
  for (const auto& call : calls) {
    const auto registered = start(lenient, lenient);
    EXPECT_EQ(call.run(), cudaSuccess) << call.name;
    for (std::size_t i = 0; i < sizeof lenient / sizeof(driver_function); ++i) {
      driver::driver_table changed = lenient;
      auto& entry = reinterpret_cast<driver_function*>(&changed)[i];
      if (is_answer(call.name, changed, entry)) continue;
      entry = &fail;
      const auto changed_program = start(lenient, changed);
      const cudaError_t code = call.run();
      const auto expected = was_called ? cudaErrorECCUncorrectable : cudaSuccess;
      EXPECT_EQ(code, expected) << call.name << " without driver function " << i;
    }
  }
}

TEST_F(failure_test, of_devices) { expect_failures(device_calls); }
TEST_F(failure_test, of_memory) { expect_failures(memory_calls); }
TEST_F(failure_test, of_code) { expect_failures(code_calls); }
TEST_F(failure_test, of_graphs) { expect_failures(graph_calls); }
TEST_F(failure_test, of_textures) { expect_failures(texture_calls); }

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing
