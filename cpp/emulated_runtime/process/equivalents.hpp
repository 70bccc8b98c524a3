// SPDX-License-Identifier: Apache-2.0
// Runtime types that equal driver types of another name.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace halfwarp::emulated_runtime {

// True for enums with equal values, structs with equal fields, and names of one opaque type.
template <class Runtime, class Driver>
inline constexpr bool are_equivalent = false;

template <>
inline constexpr bool are_equivalent<cudaArray, CUarray_st> = true;
template <>
inline constexpr bool are_equivalent<cudaMipmappedArray, CUmipmappedArray_st> = true;

// devices and contexts
template <>
inline constexpr bool are_equivalent<cudaDeviceAttr, CUdevice_attribute> = true;
template <>
inline constexpr bool are_equivalent<cudaDeviceP2PAttr, CUdevice_P2PAttribute> = true;
template <>
inline constexpr bool are_equivalent<cudaAtomicOperation, CUatomicOperation> = true;
template <>
inline constexpr bool are_equivalent<cudaLimit, CUlimit> = true;
template <>
inline constexpr bool are_equivalent<cudaFuncCache, CUfunc_cache> = true;
template <>
inline constexpr bool are_equivalent<cudaSharedMemConfig, CUsharedconfig> = true;

// streams and launches
template <>
inline constexpr bool are_equivalent<cudaStreamCaptureMode, CUstreamCaptureMode> = true;
template <>
inline constexpr bool are_equivalent<cudaStreamCaptureStatus, CUstreamCaptureStatus> = true;
template <>
inline constexpr bool are_equivalent<cudaLaunchAttributeID, CUlaunchAttributeID> = true;
template <>
inline constexpr bool are_equivalent<cudaLaunchAttributeValue, CUlaunchAttributeValue> = true;

// code
template <>
inline constexpr bool are_equivalent<cudaJitOption, CUjit_option> = true;
template <>
inline constexpr bool are_equivalent<cudaLibraryOption, CUlibraryOption> = true;
template <>
inline constexpr bool are_equivalent<cudaFuncAttribute, CUfunction_attribute> = true;

// memory
template <>
inline constexpr bool are_equivalent<cudaMemLocation, CUmemLocation> = true;
template <>
inline constexpr bool are_equivalent<cudaMemAllocationType, CUmemAllocationType> = true;
template <>
inline constexpr bool are_equivalent<cudaMemPoolProps, CUmemPoolProps> = true;
template <>
inline constexpr bool are_equivalent<cudaMemPoolAttr, CUmemPool_attribute> = true;
template <>
inline constexpr bool are_equivalent<cudaMemAccessFlags, CUmemAccess_flags> = true;
template <>
inline constexpr bool are_equivalent<cudaMemAccessDesc, CUmemAccessDesc> = true;
template <>
inline constexpr bool are_equivalent<cudaMemoryAdvise, CUmem_advise> = true;
template <>
inline constexpr bool are_equivalent<cudaMemRangeAttribute, CUmem_range_attribute> = true;
template <>
inline constexpr bool are_equivalent<cudaMemcpyAttributes, CUmemcpyAttributes> = true;
template <>
inline constexpr bool are_equivalent<cudaMemcpy3DBatchOp, CUDA_MEMCPY3D_BATCH_OP> = true;
template <>
inline constexpr bool are_equivalent<cudaArraySparseProperties, CUDA_ARRAY_SPARSE_PROPERTIES> =
    true;
template <>
inline constexpr bool are_equivalent<cudaArrayMemoryRequirements, CUDA_ARRAY_MEMORY_REQUIREMENTS> =
    true;

// between processes
template <>
inline constexpr bool are_equivalent<cudaIpcMemHandle_st, CUipcMemHandle> = true;
template <>
inline constexpr bool are_equivalent<cudaIpcEventHandle_st, CUipcEventHandle> = true;
template <>
inline constexpr bool are_equivalent<cudaMemPoolPtrExportData, CUmemPoolPtrExportData> = true;

template <>
inline constexpr bool are_equivalent<cudaMemAllocationHandleType, CUmemAllocationHandleType> = true;

// textures
template <>
inline constexpr bool are_equivalent<cudaResourceViewFormat, CUresourceViewFormat> = true;
template <>
inline constexpr bool are_equivalent<cudaResourceViewDesc, CUDA_RESOURCE_VIEW_DESC> = true;
template <>
inline constexpr bool are_equivalent<cudaTextureAddressMode, CUaddress_mode> = true;
template <>
inline constexpr bool are_equivalent<cudaTextureFilterMode, CUfilter_mode> = true;

// graphs
template <>
inline constexpr bool are_equivalent<cudaGraphEdgeData, CUgraphEdgeData> = true;
template <>
inline constexpr bool are_equivalent<cudaGraphNodeType, CUgraphNodeType> = true;
template <>
inline constexpr bool are_equivalent<cudaGraphMemAttributeType, CUgraphMem_attribute> = true;
template <>
inline constexpr bool are_equivalent<cudaMemsetParams, CUDA_MEMSET_NODE_PARAMS> = true;
template <>
inline constexpr bool are_equivalent<cudaHostNodeParams, CUDA_HOST_NODE_PARAMS> = true;
template <>
inline constexpr bool are_equivalent<cudaMemAllocNodeParams, CUDA_MEM_ALLOC_NODE_PARAMS> = true;
template <>
inline constexpr bool are_equivalent<cudaGraphInstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS> =
    true;
template <>
inline constexpr bool are_equivalent<cudaGraphExecUpdateResultInfo, CUgraphExecUpdateResultInfo> =
    true;

}  // namespace halfwarp::emulated_runtime
