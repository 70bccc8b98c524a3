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

#define CALL(name, ...) {#name, [] { return name(__VA_ARGS__); }}

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
    CALL(cudaGetDeviceCount, into<int>()),
    CALL(cudaSetValidDevices, device_list, 1),
    CALL(cudaGetDevice, into<int>()),
    CALL(cudaSetDevice, 1),
    CALL(cudaInitDevice, 1, cudaDeviceScheduleSpin, cudaInitDeviceFlagsAreValid),
    CALL(cudaDeviceReset),
    CALL(cudaSetDeviceFlags, cudaDeviceScheduleSpin),
    CALL(cudaGetDeviceFlags, into<unsigned>()),
    CALL(cudaChooseDevice, into<int>(), &requested),
    CALL(cudaDeviceEnablePeerAccess, 1, 0),
    CALL(cudaDeviceDisablePeerAccess, 1),
    CALL(cudaDeviceSynchronize),
};

const runtime_call memory_calls[] = {
    CALL(cudaMalloc, into<void*>(), 64),
    CALL(cudaMallocManaged, into<void*>(), 64, cudaMemAttachGlobal),
    CALL(cudaMallocPitch, into<void*>(), &size_out, 64, 4),
    CALL(cudaMalloc3D, into<cudaPitchedPtr>(), extent),
    CALL(cudaFree, target),
    CALL(cudaMemcpy, target, source, 64, cudaMemcpyHostToDevice),
    CALL(cudaMemcpy, target, source, 64, cudaMemcpyDeviceToHost),
    CALL(cudaMemcpy, target, source, 64, cudaMemcpyDeviceToDevice),
    CALL(cudaMemcpy, target, source, 64, cudaMemcpyHostToHost),
    CALL(cudaMemcpyAsync, target, source, 64, cudaMemcpyHostToDevice, nullptr),
    CALL(cudaMemcpyAsync, target, source, 64, cudaMemcpyDeviceToHost, nullptr),
    CALL(cudaMemcpyAsync, target, source, 64, cudaMemcpyDeviceToDevice, nullptr),
    CALL(cudaMemcpyAsync, target, source, 64, cudaMemcpyDefault, nullptr),
    CALL(cudaMemcpyPeer, target, 0, source, 1, 64),
    CALL(cudaMemcpyPeerAsync, target, 0, source, 1, 64, nullptr),
    CALL(cudaMemcpyToArray, array, 4, 0, source, 64, to_device),
    CALL(cudaMemcpyFromArray, target, array, 4, 0, 64, cudaMemcpyDeviceToHost),
    CALL(cudaMemcpyToArrayAsync, array, 4, 0, source, 64, to_device, nullptr),
    CALL(cudaMemcpyFromArrayAsync, target, array, 4, 0, 64, cudaMemcpyDeviceToHost, nullptr),
    CALL(cudaMemcpy2D, target, 64, source, 64, 64, 2, to_device),
    CALL(cudaMemcpy2DAsync, target, 64, source, 64, 64, 2, to_device, nullptr),
    CALL(cudaMemcpy2DArrayToArray, array, 0, 0, array_copy, 0, 0, 8, 2, cudaMemcpyDeviceToDevice),
    CALL(cudaMemcpy3D, &copy),
    CALL(cudaMemcpy3DAsync, &copy, nullptr),
    CALL(cudaMemcpy3DPeer, &peer_copy),
    CALL(cudaMemcpy3DPeerAsync, &peer_copy, nullptr),
    CALL(cudaPointerGetAttributes, into<cudaPointerAttributes>(), target),
    CALL(cudaMemset, target, 1, 64),
    CALL(cudaMemsetAsync, target, 1, 64, nullptr),
    CALL(cudaMemset2D, target, 64, 1, 64, 2),
    CALL(cudaMemset2DAsync, target, 64, 1, 64, 2, nullptr),
    CALL(cudaMemset3D, {target, 64, 64, 4}, 1, extent),
    CALL(cudaMemset3DAsync, {target, 64, 64, 4}, 1, extent, nullptr),
};

const runtime_call code_calls[] = {
    CALL(cudaFuncGetAttributes, into<cudaFuncAttributes>(), a_kernel()),
    CALL(cudaFuncSetAttribute, a_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, 64),
    CALL(cudaFuncSetCacheConfig, a_kernel(), cudaFuncCachePreferL1),
    CALL(cudaFuncSetSharedMemConfig, a_kernel(), cudaSharedMemBankSizeEightByte),
    CALL(cudaFuncGetParamInfo, a_kernel(), 0, &size_out, into<std::size_t>()),
    CALL(cudaFuncGetParamCount, a_kernel(), into<std::size_t>()),
    CALL(cudaFuncGetName, into<const char*>(), a_kernel()),
    CALL(cudaGetKernel, into<cudaKernel_t>(), &stub),
    CALL(cudaGetFuncBySymbol, into<cudaFunction_t>(), &stub),
    CALL(cudaLaunchKernel, &stub, 1, 1, nullptr, 0, nullptr),
    CALL(cudaLaunchKernelExC, &launch_config, &stub, nullptr),
    CALL(cudaLaunchCooperativeKernel, &stub, 1, 1, nullptr, 0, nullptr),
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor, into<int>(), a_kernel(), 32, 0),
    CALL(cudaOccupancyAvailableDynamicSMemPerBlock, into<std::size_t>(), a_kernel(), 1, 32),
    CALL(cudaOccupancyMaxPotentialClusterSize, into<int>(), a_kernel(), &launch_config),
    CALL(cudaOccupancyMaxActiveClusters, into<int>(), a_kernel(), &launch_config),
    CALL(cudaGetSymbolAddress, into<void*>(), &variable),
    CALL(cudaGetSymbolSize, into<std::size_t>(), &variable),
    CALL(cudaMemcpyToSymbol, &variable, source, 8, 0, to_device),
    CALL(cudaMemcpyFromSymbol, target, &variable, 8, 0, cudaMemcpyDeviceToHost),
    CALL(cudaStreamCreate, into<cudaStream_t>()),
    CALL(cudaEventCreate, into<cudaEvent_t>()),
};

const runtime_call graph_calls[] = {
    CALL(cudaGraphAddNode, &node, nullptr, nullptr, nullptr, 0, &any_node),
    CALL(cudaGraphAddNode, &node, nullptr, nullptr, nullptr, 0, &copy_node),
    CALL(cudaGraphAddNode, &node, nullptr, nullptr, nullptr, 0, &fill_node),
    CALL(cudaGraphNodeSetParams, nullptr, &any_node),
    CALL(cudaGraphExecNodeSetParams, nullptr, nullptr, &copy_node),
    CALL(cudaGraphNodeGetParams, nullptr, into<cudaGraphNodeParams>()),
    CALL(cudaGraphConditionalHandleCreate, into<cudaGraphConditionalHandle>(), nullptr, 0, 0),
    CALL(cudaGraphAddKernelNode, &node, nullptr, nullptr, 0, &kernel_node),
    CALL(cudaGraphKernelNodeSetParams, nullptr, &kernel_node),
    CALL(cudaGraphExecKernelNodeSetParams, nullptr, nullptr, &kernel_node),
    CALL(cudaGraphAddMemcpyNode, &node, nullptr, nullptr, 0, &copy),
    CALL(cudaGraphAddMemcpyNode1D, &node, nullptr, nullptr, 0, target, source, 8, to_device),
    CALL(cudaGraphMemcpyNodeGetParams, nullptr, into<cudaMemcpy3DParms>()),
    CALL(cudaGraphMemcpyNodeSetParams, nullptr, &copy),
    CALL(cudaGraphMemcpyNodeSetParams1D, nullptr, target, source, 8, to_device),
    CALL(cudaGraphExecMemcpyNodeSetParams, nullptr, nullptr, &copy),
    CALL(cudaGraphExecMemcpyNodeSetParams1D, nullptr, nullptr, target, source, 8, to_device),
    CALL(cudaGraphAddMemsetNode, &node, nullptr, nullptr, 0, &fill),
    CALL(cudaGraphExecMemsetNodeSetParams, nullptr, nullptr, &fill),
    CALL(cudaGraphMemFreeNodeGetParams, nullptr, into<void*>()),
    CALL(cudaGraphMemcpyNodeSetParamsToSymbol, nullptr, &variable, source, 8, 0, to_device),
};

const runtime_call texture_calls[] = {
    CALL(cudaMallocArray, into<cudaArray_t>(), &format, 8, 8, 0),
    CALL(cudaMalloc3DArray, into<cudaArray_t>(), &format, extent, 0),
    CALL(cudaMallocMipmappedArray, into<cudaMipmappedArray_t>(), &format, extent, 1, 0),
    CALL(cudaGetMipmappedArrayLevel, into<cudaArray_t>(), nullptr, 0),
    CALL(cudaArrayGetInfo, into<cudaChannelFormatDesc>(), nullptr, nullptr, array),
    CALL(cudaGetChannelDesc, into<cudaChannelFormatDesc>(), array),
    CALL(cudaDeviceGetTexture1DLinearMaxWidth, into<std::size_t>(), &format, 0),
    CALL(cudaCreateTextureObject, into<cudaTextureObject_t>(), &resource, &texture, nullptr),
    CALL(cudaGetTextureObjectResourceDesc, into<cudaResourceDesc>(), 5),
    CALL(cudaGetTextureObjectTextureDesc, into<cudaTextureDesc>(), 5),
    CALL(cudaCreateSurfaceObject, into<cudaSurfaceObject_t>(), &resource),
    CALL(cudaGetSurfaceObjectResourceDesc, into<cudaResourceDesc>(), 5),
    CALL(cudaGetDriverEntryPointByVersion, "cuInit", into<void*>(), 13000, 0, nullptr),
};

#undef CALL

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
