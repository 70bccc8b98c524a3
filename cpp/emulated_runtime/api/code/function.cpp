// SPDX-License-Identifier: Apache-2.0
// Kernels: their attributes, names and parameters.
#include "emulated_runtime/api/code/function.hpp"

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/context.hpp"
#include "emulated_runtime/process/forward.hpp"
#include "emulated_runtime/program/registry.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

// Calls a driver function whose first parameter is the function.
template <class... Params, class... Arguments>
cudaError_t forward_for_function(CUresult (*query)(CUfunction, Params...), const void* func,
                                 Arguments... arguments) {
  CUfunction function = nullptr;
  if (const cudaError_t code = find_function(func, &function)) return code;
  return forward(query, function, arguments...);
}

struct size_field {
  size_t cudaFuncAttributes::*field;
  CUfunction_attribute attribute;
};

struct int_field {
  int cudaFuncAttributes::*field;
  CUfunction_attribute attribute;
};

using attributes = cudaFuncAttributes;

constexpr size_field size_fields[] = {
    {&attributes::sharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES},
    {&attributes::constSizeBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES},
    {&attributes::localSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES},
};

constexpr int_field int_fields[] = {
    {&attributes::maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {&attributes::numRegs, CU_FUNC_ATTRIBUTE_NUM_REGS},
    {&attributes::ptxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION},
    {&attributes::binaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION},
    {&attributes::cacheModeCA, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA},
    {&attributes::maxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES},
    {&attributes::preferredShmemCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT},
    {&attributes::clusterDimMustBeSet, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET},
    {&attributes::requiredClusterWidth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH},
    {&attributes::requiredClusterHeight, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT},
    {&attributes::requiredClusterDepth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH},
    {&attributes::clusterSchedulingPolicyPreference,
     CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE},
    {&attributes::nonPortableClusterSizeAllowed,
     CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED},
};

// Returns 0 for attributes that the driver does not support.
int attribute(CUfunction function_handle, CUfunction_attribute id) {
  int value = 0;
  return table->cuFuncGetAttribute(&value, id, function_handle) == CUDA_SUCCESS ? value : 0;
}

}  // namespace

cudaError_t find_function(const void* func, CUfunction* out) {
  CUkernel kernel = nullptr;
  if (const cudaError_t code = program::resolve(func, &kernel)) return code;
  return from_driver(table->cuKernelGetFunction(out, kernel));
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attr, const void* func) noexcept {
  CUfunction function = nullptr;
  if (!attr) return cudaErrorInvalidValue;
  if (const cudaError_t code = find_function(func, &function)) return code;
  *attr = {};
  for (const auto& each : size_fields) {
    attr->*each.field = static_cast<size_t>(attribute(function, each.attribute));
  }
  for (const auto& each : int_fields) attr->*each.field = attribute(function, each.attribute);
  return cudaSuccess;
}

// Sets the attribute of the kernel, whose value outlives a reset of the device.
cudaError_t cudaFuncSetAttribute(const void* func, cudaFuncAttribute attr, int value) noexcept {
  CUkernel kernel = nullptr;
  int device = 0;
  if (const cudaError_t code = program::resolve(func, &kernel)) return code;
  if (const cudaError_t code = current_device(&device)) return code;
  return forward(table->cuKernelSetAttribute, attr, value, kernel, device);
}

cudaError_t cudaFuncSetCacheConfig(const void* func, cudaFuncCache cacheConfig) noexcept {
  return forward_for_function(table->cuFuncSetCacheConfig, func, cacheConfig);
}

cudaError_t cudaFuncSetSharedMemConfig(const void* func, cudaSharedMemConfig config) noexcept {
  return forward_for_function(table->cuFuncSetSharedMemConfig, func, config);
}

cudaError_t cudaFuncGetParamInfo(const void* func, size_t paramIndex, size_t* paramOffset,
                                 size_t* paramSize) noexcept {
  return forward_for_function(table->cuFuncGetParamInfo, func, paramIndex, paramOffset, paramSize);
}

cudaError_t cudaFuncGetParamCount(const void* func, size_t* paramCount) noexcept {
  return forward_for_function(table->cuFuncGetParamCount, func, paramCount);
}

cudaError_t cudaFuncGetName(const char** name, const void* func) noexcept {
  CUfunction function = nullptr;
  if (const cudaError_t code = find_function(func, &function)) return code;
  return forward(table->cuFuncGetName, name, function);
}

// The result is the driver's kernel, which programs pass to driver functions.
cudaError_t cudaGetKernel(cudaKernel_t* kernelPtr, const void* entryFuncAddr) noexcept {
  CUkernel kernel = nullptr;
  if (!kernelPtr) return cudaErrorInvalidValue;
  if (!program::find_kernel(entryFuncAddr)) return cudaErrorInvalidDeviceFunction;
  if (const cudaError_t code = program::resolve(entryFuncAddr, &kernel)) return code;
  *kernelPtr = reinterpret_cast<cudaKernel_t>(kernel);
  return cudaSuccess;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* functionPtr, const void* symbolPtr) noexcept {
  return functionPtr ? find_function(symbolPtr, functionPtr) : cudaErrorInvalidValue;
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attr, int value,
                                            int device) noexcept {
  return forward(table->cuKernelSetAttribute, attr, value, kernel, device);
}

}  // namespace halfwarp::emulated_runtime::api
