// SPDX-License-Identifier: Apache-2.0
// cudaDeviceProp: what the driver says of a device, in the fields of one struct.
#include <cstring>

#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

// An int of the struct, or one of an array in it, and the attribute that fills it.
struct int_field {
  std::size_t offset;
  cudaDeviceAttr attribute;
};

// A size_t that the driver states as an int.
struct size_field {
  std::size_t cudaDeviceProp::*field;
  cudaDeviceAttr attribute;
};

constexpr std::size_t at(std::size_t field, std::size_t index) {
  return field + index * sizeof(int);
}

using prop = cudaDeviceProp;

constexpr int_field int_fields[] = {
    {offsetof(prop, regsPerBlock), cudaDevAttrMaxRegistersPerBlock},
    {offsetof(prop, warpSize), cudaDevAttrWarpSize},
    {offsetof(prop, maxThreadsPerBlock), cudaDevAttrMaxThreadsPerBlock},
    {at(offsetof(prop, maxThreadsDim), 0), cudaDevAttrMaxBlockDimX},
    {at(offsetof(prop, maxThreadsDim), 1), cudaDevAttrMaxBlockDimY},
    {at(offsetof(prop, maxThreadsDim), 2), cudaDevAttrMaxBlockDimZ},
    {at(offsetof(prop, maxGridSize), 0), cudaDevAttrMaxGridDimX},
    {at(offsetof(prop, maxGridSize), 1), cudaDevAttrMaxGridDimY},
    {at(offsetof(prop, maxGridSize), 2), cudaDevAttrMaxGridDimZ},
    {offsetof(prop, major), cudaDevAttrComputeCapabilityMajor},
    {offsetof(prop, minor), cudaDevAttrComputeCapabilityMinor},
    {offsetof(prop, multiProcessorCount), cudaDevAttrMultiProcessorCount},
    {offsetof(prop, integrated), cudaDevAttrIntegrated},
    {offsetof(prop, canMapHostMemory), cudaDevAttrCanMapHostMemory},
    {offsetof(prop, maxTexture1D), cudaDevAttrMaxTexture1DWidth},
    {offsetof(prop, maxTexture1DMipmap), cudaDevAttrMaxTexture1DMipmappedWidth},
    {at(offsetof(prop, maxTexture2D), 0), cudaDevAttrMaxTexture2DWidth},
    {at(offsetof(prop, maxTexture2D), 1), cudaDevAttrMaxTexture2DHeight},
    {at(offsetof(prop, maxTexture2DMipmap), 0), cudaDevAttrMaxTexture2DMipmappedWidth},
    {at(offsetof(prop, maxTexture2DMipmap), 1), cudaDevAttrMaxTexture2DMipmappedHeight},
    {at(offsetof(prop, maxTexture2DLinear), 0), cudaDevAttrMaxTexture2DLinearWidth},
    {at(offsetof(prop, maxTexture2DLinear), 1), cudaDevAttrMaxTexture2DLinearHeight},
    {at(offsetof(prop, maxTexture2DLinear), 2), cudaDevAttrMaxTexture2DLinearPitch},
    {at(offsetof(prop, maxTexture2DGather), 0), cudaDevAttrMaxTexture2DGatherWidth},
    {at(offsetof(prop, maxTexture2DGather), 1), cudaDevAttrMaxTexture2DGatherHeight},
    {at(offsetof(prop, maxTexture3D), 0), cudaDevAttrMaxTexture3DWidth},
    {at(offsetof(prop, maxTexture3D), 1), cudaDevAttrMaxTexture3DHeight},
    {at(offsetof(prop, maxTexture3D), 2), cudaDevAttrMaxTexture3DDepth},
    {at(offsetof(prop, maxTexture3DAlt), 0), cudaDevAttrMaxTexture3DWidthAlt},
    {at(offsetof(prop, maxTexture3DAlt), 1), cudaDevAttrMaxTexture3DHeightAlt},
    {at(offsetof(prop, maxTexture3DAlt), 2), cudaDevAttrMaxTexture3DDepthAlt},
    {offsetof(prop, maxTextureCubemap), cudaDevAttrMaxTextureCubemapWidth},
    {at(offsetof(prop, maxTexture1DLayered), 0), cudaDevAttrMaxTexture1DLayeredWidth},
    {at(offsetof(prop, maxTexture1DLayered), 1), cudaDevAttrMaxTexture1DLayeredLayers},
    {at(offsetof(prop, maxTexture2DLayered), 0), cudaDevAttrMaxTexture2DLayeredWidth},
    {at(offsetof(prop, maxTexture2DLayered), 1), cudaDevAttrMaxTexture2DLayeredHeight},
    {at(offsetof(prop, maxTexture2DLayered), 2), cudaDevAttrMaxTexture2DLayeredLayers},
    {at(offsetof(prop, maxTextureCubemapLayered), 0), cudaDevAttrMaxTextureCubemapLayeredWidth},
    {at(offsetof(prop, maxTextureCubemapLayered), 1), cudaDevAttrMaxTextureCubemapLayeredLayers},
    {offsetof(prop, maxSurface1D), cudaDevAttrMaxSurface1DWidth},
    {at(offsetof(prop, maxSurface2D), 0), cudaDevAttrMaxSurface2DWidth},
    {at(offsetof(prop, maxSurface2D), 1), cudaDevAttrMaxSurface2DHeight},
    {at(offsetof(prop, maxSurface3D), 0), cudaDevAttrMaxSurface3DWidth},
    {at(offsetof(prop, maxSurface3D), 1), cudaDevAttrMaxSurface3DHeight},
    {at(offsetof(prop, maxSurface3D), 2), cudaDevAttrMaxSurface3DDepth},
    {at(offsetof(prop, maxSurface1DLayered), 0), cudaDevAttrMaxSurface1DLayeredWidth},
    {at(offsetof(prop, maxSurface1DLayered), 1), cudaDevAttrMaxSurface1DLayeredLayers},
    {at(offsetof(prop, maxSurface2DLayered), 0), cudaDevAttrMaxSurface2DLayeredWidth},
    {at(offsetof(prop, maxSurface2DLayered), 1), cudaDevAttrMaxSurface2DLayeredHeight},
    {at(offsetof(prop, maxSurface2DLayered), 2), cudaDevAttrMaxSurface2DLayeredLayers},
    {offsetof(prop, maxSurfaceCubemap), cudaDevAttrMaxSurfaceCubemapWidth},
    {at(offsetof(prop, maxSurfaceCubemapLayered), 0), cudaDevAttrMaxSurfaceCubemapLayeredWidth},
    {at(offsetof(prop, maxSurfaceCubemapLayered), 1), cudaDevAttrMaxSurfaceCubemapLayeredLayers},
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

// An attribute that the driver is too old for, or refuses, is absent: 0.
int attribute(int device, cudaDeviceAttr which) {
  int value = 0;
  return forward(table->cuDeviceGetAttribute, &value, which, device) == cudaSuccess ? value : 0;
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
  cudaDeviceProp made{};
  if (const auto code = forward(table->cuDeviceGetName, made.name, int{sizeof made.name}, device)) {
    return code;
  }
  if (const auto code = forward(table->cuDeviceGetUuid, &made.uuid, device)) return code;
  if (const auto code = forward(table->cuDeviceTotalMem, &made.totalGlobalMem, device)) return code;
  fill_from_attributes(made, device);
  *prop = made;
  return cudaSuccess;
}

}  // namespace halfwarp::emulated_runtime::api
