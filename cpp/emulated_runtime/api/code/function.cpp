// SPDX-License-Identifier: Apache-2.0
// Kernels: their attributes, names and parameters.
#include "emulated_runtime/api/code/function.hpp"

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

// Runs a driver function that takes the function first.
template <class... Params, class... Arguments>
cudaError_t of_function(CUresult (*ask)(CUfunction, Params...), const void* func,
                        Arguments... arguments) {
  CUfunction found = nullptr;
  if (const cudaError_t code = find_function(func, &found)) return code;
  return forward(ask, found, arguments...);
}

struct size_field {
  size_t cudaFuncAttributes::*field;
  CUfunction_attribute attribute;
};

struct int_field {
  int cudaFuncAttributes::*field;
  CUfunction_attribute attribute;
};

using told = cudaFuncAttributes;

constexpr size_field size_fields[] = {
    {&told::sharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES},
    {&told::constSizeBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES},
    {&told::localSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES},
};

constexpr int_field int_fields[] = {
    {&told::maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {&told::numRegs, CU_FUNC_ATTRIBUTE_NUM_REGS},
    {&told::ptxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION},
    {&told::binaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION},
    {&told::cacheModeCA, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA},
    {&told::maxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES},
    {&told::preferredShmemCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT},
    {&told::clusterDimMustBeSet, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET},
    {&told::requiredClusterWidth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH},
    {&told::requiredClusterHeight, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT},
    {&told::requiredClusterDepth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH},
    {&told::clusterSchedulingPolicyPreference,
     CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE},
    {&told::nonPortableClusterSizeAllowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED},
};

// What this driver does not tell of a function is 0.
int attribute(CUfunction of, CUfunction_attribute which) {
  int value = 0;
  return table->cuFuncGetAttribute(&value, which, of) == CUDA_SUCCESS ? value : 0;
}

}  // namespace

cudaError_t find_function(const void* func, CUfunction* out) {
  if (!func) return cudaErrorInvalidDeviceFunction;
  const auto kernel = static_cast<cudaKernel_t>(const_cast<void*>(func));
  return forward(table->cuKernelGetFunction, out, kernel);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attr, const void* func) noexcept {
  CUfunction found = nullptr;
  if (!attr) return cudaErrorInvalidValue;
  if (const cudaError_t code = find_function(func, &found)) return code;
  *attr = {};
  for (const auto& each : size_fields) {
    attr->*each.field = static_cast<size_t>(attribute(found, each.attribute));
  }
  for (const auto& each : int_fields) attr->*each.field = attribute(found, each.attribute);
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* func, cudaFuncAttribute attr, int value) noexcept {
  return of_function(table->cuFuncSetAttribute, func, attr, value);
}

cudaError_t cudaFuncSetCacheConfig(const void* func, cudaFuncCache cacheConfig) noexcept {
  return of_function(table->cuFuncSetCacheConfig, func, cacheConfig);
}

cudaError_t cudaFuncSetSharedMemConfig(const void* func, cudaSharedMemConfig config) noexcept {
  return of_function(table->cuFuncSetSharedMemConfig, func, config);
}

cudaError_t cudaFuncGetParamInfo(const void* func, size_t paramIndex, size_t* paramOffset,
                                 size_t* paramSize) noexcept {
  return of_function(table->cuFuncGetParamInfo, func, paramIndex, paramOffset, paramSize);
}

cudaError_t cudaFuncGetParamCount(const void* func, size_t* paramCount) noexcept {
  return of_function(table->cuFuncGetParamCount, func, paramCount);
}

cudaError_t cudaFuncGetName(const char** name, const void* func) noexcept {
  CUfunction found = nullptr;
  if (const cudaError_t code = find_function(func, &found)) return code;
  return forward(table->cuFuncGetName, name, found);
}

// Of symbols of compiled programs only.
cudaError_t cudaGetKernel(cudaKernel_t* kernelPtr, const void*) noexcept {
  return kernelPtr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue;
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attr, int value,
                                            int device) noexcept {
  return forward(table->cuKernelSetAttribute, attr, value, kernel, device);
}

}  // namespace halfwarp::emulated_runtime::api
