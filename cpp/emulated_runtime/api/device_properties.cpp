// SPDX-License-Identifier: Apache-2.0
// Fills cudaDeviceProp from driver queries.
#include <cstring>

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

// An int field, or an element of an array field, and its attribute.
struct int_field {
  std::size_t offset;
  cudaDeviceAttr attribute;
};

// A size_t field whose attribute is an int.
struct size_field {
  std::size_t cudaDeviceProp::*field;
  cudaDeviceAttr attribute;
};

constexpr std::size_t element_offset(std::size_t field, std::size_t index) {
  return field + index * sizeof(int);
}

using prop = cudaDeviceProp;

constexpr int_field int_fields[] = {
    {offsetof(prop, regsPerBlock), cudaDevAttrMaxRegistersPerBlock},
    {offsetof(prop, warpSize), cudaDevAttrWarpSize},
    {offsetof(prop, maxThreadsPerBlock), cudaDevAttrMaxThreadsPerBlock},
    {element_offset(offsetof(prop, maxThreadsDim), 0), cudaDevAttrMaxBlockDimX},
    {element_offset(offsetof(prop, maxThreadsDim), 1), cudaDevAttrMaxBlockDimY},
    {element_offset(offsetof(prop, maxThreadsDim), 2), cudaDevAttrMaxBlockDimZ},
    {element_offset(offsetof(prop, maxGridSize), 0), cudaDevAttrMaxGridDimX},
    {element_offset(offsetof(prop, maxGridSize), 1), cudaDevAttrMaxGridDimY},
    {element_offset(offsetof(prop, maxGridSize), 2), cudaDevAttrMaxGridDimZ},
    {offsetof(prop, major), cudaDevAttrComputeCapabilityMajor},
    {offsetof(prop, minor), cudaDevAttrComputeCapabilityMinor},
    {offsetof(prop, multiProcessorCount), cudaDevAttrMultiProcessorCount},
    {offsetof(prop, integrated), cudaDevAttrIntegrated},
    {offsetof(prop, canMapHostMemory), cudaDevAttrCanMapHostMemory},
    {offsetof(prop, maxTexture1D), cudaDevAttrMaxTexture1DWidth},
    {offsetof(prop, maxTexture1DMipmap), cudaDevAttrMaxTexture1DMipmappedWidth},
    {element_offset(offsetof(prop, maxTexture2D), 0), cudaDevAttrMaxTexture2DWidth},
    {element_offset(offsetof(prop, maxTexture2D), 1), cudaDevAttrMaxTexture2DHeight},
    {element_offset(offsetof(prop, maxTexture2DMipmap), 0), cudaDevAttrMaxTexture2DMipmappedWidth},
    {element_offset(offsetof(prop, maxTexture2DMipmap), 1), cudaDevAttrMaxTexture2DMipmappedHeight},
    {element_offset(offsetof(prop, maxTexture2DLinear), 0), cudaDevAttrMaxTexture2DLinearWidth},
    {element_offset(offsetof(prop, maxTexture2DLinear), 1), cudaDevAttrMaxTexture2DLinearHeight},
    {element_offset(offsetof(prop, maxTexture2DLinear), 2), cudaDevAttrMaxTexture2DLinearPitch},
    {element_offset(offsetof(prop, maxTexture2DGather), 0), cudaDevAttrMaxTexture2DGatherWidth},
    {element_offset(offsetof(prop, maxTexture2DGather), 1), cudaDevAttrMaxTexture2DGatherHeight},
    {element_offset(offsetof(prop, maxTexture3D), 0), cudaDevAttrMaxTexture3DWidth},
    {element_offset(offsetof(prop, maxTexture3D), 1), cudaDevAttrMaxTexture3DHeight},
    {element_offset(offsetof(prop, maxTexture3D), 2), cudaDevAttrMaxTexture3DDepth},
    {element_offset(offsetof(prop, maxTexture3DAlt), 0), cudaDevAttrMaxTexture3DWidthAlt},
    {element_offset(offsetof(prop, maxTexture3DAlt), 1), cudaDevAttrMaxTexture3DHeightAlt},
    {element_offset(offsetof(prop, maxTexture3DAlt), 2), cudaDevAttrMaxTexture3DDepthAlt},
    {offsetof(prop, maxTextureCubemap), cudaDevAttrMaxTextureCubemapWidth},
    {element_offset(offsetof(prop, maxTexture1DLayered), 0), cudaDevAttrMaxTexture1DLayeredWidth},
    {element_offset(offsetof(prop, maxTexture1DLayered), 1), cudaDevAttrMaxTexture1DLayeredLayers},
    {element_offset(offsetof(prop, maxTexture2DLayered), 0), cudaDevAttrMaxTexture2DLayeredWidth},
    {element_offset(offsetof(prop, maxTexture2DLayered), 1), cudaDevAttrMaxTexture2DLayeredHeight},
    {element_offset(offsetof(prop, maxTexture2DLayered), 2), cudaDevAttrMaxTexture2DLayeredLayers},
    {element_offset(offsetof(prop, maxTextureCubemapLayered), 0),
     cudaDevAttrMaxTextureCubemapLayeredWidth},
    {element_offset(offsetof(prop, maxTextureCubemapLayered), 1),
     cudaDevAttrMaxTextureCubemapLayeredLayers},
    {offsetof(prop, maxSurface1D), cudaDevAttrMaxSurface1DWidth},
    {element_offset(offsetof(prop, maxSurface2D), 0), cudaDevAttrMaxSurface2DWidth},
    {element_offset(offsetof(prop, maxSurface2D), 1), cudaDevAttrMaxSurface2DHeight},
    {element_offset(offsetof(prop, maxSurface3D), 0), cudaDevAttrMaxSurface3DWidth},
    {element_offset(offsetof(prop, maxSurface3D), 1), cudaDevAttrMaxSurface3DHeight},
    {element_offset(offsetof(prop, maxSurface3D), 2), cudaDevAttrMaxSurface3DDepth},
    {element_offset(offsetof(prop, maxSurface1DLayered), 0), cudaDevAttrMaxSurface1DLayeredWidth},
    {element_offset(offsetof(prop, maxSurface1DLayered), 1), cudaDevAttrMaxSurface1DLayeredLayers},
    {element_offset(offsetof(prop, maxSurface2DLayered), 0), cudaDevAttrMaxSurface2DLayeredWidth},
    {element_offset(offsetof(prop, maxSurface2DLayered), 1), cudaDevAttrMaxSurface2DLayeredHeight},
    {element_offset(offsetof(prop, maxSurface2DLayered), 2), cudaDevAttrMaxSurface2DLayeredLayers},
    {offsetof(prop, maxSurfaceCubemap), cudaDevAttrMaxSurfaceCubemapWidth},
    {element_offset(offsetof(prop, maxSurfaceCubemapLayered), 0),
     cudaDevAttrMaxSurfaceCubemapLayeredWidth},
    {element_offset(offsetof(prop, maxSurfaceCubemapLayered), 1),
     cudaDevAttrMaxSurfaceCubemapLayeredLayers},
    {offsetof(prop, concurrentKernels), cudaDevAttrConcurrentKernels},
    {offsetof(prop, ECCEnabled), cudaDevAttrEccEnabled},
    {offsetof(prop, pciBusID), cudaDevAttrPciBusId},
    {offsetof(prop, pciDeviceID), cudaDevAttrPciDeviceId},
    {offsetof(prop, pciDomainID), cudaDevAttrPciDomainId},
    {offsetof(prop, tccDriver), cudaDevAttrTccDriver},
    {offsetof(prop, asyncEngineCount), cudaDevAttrAsyncEngineCount},
    {offsetof(prop, unifiedAddressing), cudaDevAttrUnifiedAddressing},
    {offsetof(prop, memoryBusWidth), cudaDevAttrGlobalMemoryBusWidth},
    {offsetof(prop, l2CacheSize), cudaDevAttrL2CacheSize},
    {offsetof(prop, persistingL2CacheMaxSize), cudaDevAttrMaxPersistingL2CacheSize},
    {offsetof(prop, maxThreadsPerMultiProcessor), cudaDevAttrMaxThreadsPerMultiProcessor},
    {offsetof(prop, streamPrioritiesSupported), cudaDevAttrStreamPrioritiesSupported},
    {offsetof(prop, globalL1CacheSupported), cudaDevAttrGlobalL1CacheSupported},
    {offsetof(prop, localL1CacheSupported), cudaDevAttrLocalL1CacheSupported},
    {offsetof(prop, regsPerMultiprocessor), cudaDevAttrMaxRegistersPerMultiprocessor},
    {offsetof(prop, managedMemory), cudaDevAttrManagedMemory},
    {offsetof(prop, isMultiGpuBoard), cudaDevAttrIsMultiGpuBoard},
    {offsetof(prop, multiGpuBoardGroupID), cudaDevAttrMultiGpuBoardGroupID},
    {offsetof(prop, hostNativeAtomicSupported), cudaDevAttrHostNativeAtomicSupported},
    {offsetof(prop, pageableMemoryAccess), cudaDevAttrPageableMemoryAccess},
    {offsetof(prop, concurrentManagedAccess), cudaDevAttrConcurrentManagedAccess},
    {offsetof(prop, computePreemptionSupported), cudaDevAttrComputePreemptionSupported},
    {offsetof(prop, canUseHostPointerForRegisteredMem),
     cudaDevAttrCanUseHostPointerForRegisteredMem},
    {offsetof(prop, cooperativeLaunch), cudaDevAttrCooperativeLaunch},
    {offsetof(prop, pageableMemoryAccessUsesHostPageTables),
     cudaDevAttrPageableMemoryAccessUsesHostPageTables},
    {offsetof(prop, directManagedMemAccessFromHost), cudaDevAttrDirectManagedMemAccessFromHost},
    {offsetof(prop, maxBlocksPerMultiProcessor), cudaDevAttrMaxBlocksPerMultiprocessor},
    {offsetof(prop, accessPolicyMaxWindowSize), cudaDevAttrMaxAccessPolicyWindowSize},
    {offsetof(prop, hostRegisterSupported), cudaDevAttrHostRegisterSupported},
    {offsetof(prop, sparseCudaArraySupported), cudaDevAttrSparseCudaArraySupported},
    {offsetof(prop, hostRegisterReadOnlySupported), cudaDevAttrHostRegisterReadOnlySupported},
    {offsetof(prop, timelineSemaphoreInteropSupported),
     cudaDevAttrTimelineSemaphoreInteropSupported},
    {offsetof(prop, memoryPoolsSupported), cudaDevAttrMemoryPoolsSupported},
    {offsetof(prop, gpuDirectRDMASupported), cudaDevAttrGPUDirectRDMASupported},
    {offsetof(prop, gpuDirectRDMAFlushWritesOptions), cudaDevAttrGPUDirectRDMAFlushWritesOptions},
    {offsetof(prop, gpuDirectRDMAWritesOrdering), cudaDevAttrGPUDirectRDMAWritesOrdering},
    {offsetof(prop, memoryPoolSupportedHandleTypes), cudaDevAttrMemoryPoolSupportedHandleTypes},
    {offsetof(prop, deferredMappingCudaArraySupported),
     cudaDevAttrDeferredMappingCudaArraySupported},
    {offsetof(prop, ipcEventSupported), cudaDevAttrIpcEventSupport},
    {offsetof(prop, clusterLaunch), cudaDevAttrClusterLaunch},
    {offsetof(prop, unifiedFunctionPointers),
     static_cast<cudaDeviceAttr>(CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS)},
    {offsetof(prop, deviceNumaConfig), cudaDevAttrNumaConfig},
    {offsetof(prop, deviceNumaId), cudaDevAttrNumaId},
    {offsetof(prop, mpsEnabled), cudaDevAttrMpsEnabled},
    {offsetof(prop, hostNumaId), cudaDevAttrHostNumaId},
    {offsetof(prop, gpuPciDeviceID), cudaDevAttrGpuPciDeviceId},
    {offsetof(prop, gpuPciSubsystemID), cudaDevAttrGpuPciSubsystemId},
    {offsetof(prop, hostNumaMultinodeIpcSupported), cudaDevAttrHostNumaMultinodeIpcSupported},
};

constexpr size_field size_fields[] = {
    {&prop::sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock},
    {&prop::memPitch, cudaDevAttrMaxPitch},
    {&prop::totalConstMem, cudaDevAttrTotalConstantMemory},
    {&prop::textureAlignment, cudaDevAttrTextureAlignment},
    {&prop::texturePitchAlignment, cudaDevAttrTexturePitchAlignment},
    {&prop::surfaceAlignment, cudaDevAttrSurfaceAlignment},
    {&prop::sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor},
    {&prop::sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin},
    {&prop::reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock},
};

// Returns 0 for an attribute that the driver does not support.
int attribute(int device, cudaDeviceAttr id) {
  int value = 0;
  return forward(table->cuDeviceGetAttribute, &value, id, device) == cudaSuccess ? value : 0;
}

void fill_from_attributes(cudaDeviceProp& out, int device) {
  for (const auto& each : int_fields) {
    const int value = attribute(device, each.attribute);
    std::memcpy(reinterpret_cast<char*>(&out) + each.offset, &value, sizeof value);
  }
  for (const auto& each : size_fields) {
    out.*each.field = static_cast<std::size_t>(attribute(device, each.attribute));
  }
}

}  // namespace

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) noexcept {
  if (!prop) return cudaErrorInvalidValue;
  cudaDeviceProp result{};
  if (const auto code =
          forward(table->cuDeviceGetName, result.name, int{sizeof result.name}, device)) {
    return code;
  }
  if (const auto code = forward(table->cuDeviceGetUuid, &result.uuid, device)) return code;
  if (const auto code = forward(table->cuDeviceTotalMem, &result.totalGlobalMem, device))
    return code;
  fill_from_attributes(result, device);
  *prop = result;
  return cudaSuccess;
}

}  // namespace halfwarp::emulated_runtime::api
