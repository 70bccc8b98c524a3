// SPDX-License-Identifier: Apache-2.0
// Functions with structures that CUDA 13 has enlarged or cut.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "emulated_runtime_12/later.hpp"
#include "emulated_runtime_12/structures.hpp"

namespace halfwarp::emulated_runtime_12 {
namespace {

constexpr size_t bytes_of_11 = offsetof(device_properties, hostRegisterSupported);

// Members that both structures have with the same distances.
struct run {
  size_t earlier, later, bytes;
};

// The members from one to another, at their offsets in both structures. Distances that differ give
// no bytes.
consteval run between(size_t first, size_t last, size_t last_bytes, size_t later_first,
                      size_t later_last) {
  const bool is_same = last - first == later_last - later_first;
  return {first, later_first, is_same ? last - first + last_bytes : 0};
}

using earlier = device_properties;
using later = cudaDeviceProp;

constexpr run common_members[] = {
    between(offsetof(earlier, name), offsetof(earlier, maxGridSize), sizeof earlier::maxGridSize,
            offsetof(later, name), offsetof(later, maxGridSize)),
    between(offsetof(earlier, totalConstMem), offsetof(earlier, texturePitchAlignment),
            sizeof earlier::texturePitchAlignment, offsetof(later, totalConstMem),
            offsetof(later, texturePitchAlignment)),
    between(offsetof(earlier, multiProcessorCount), offsetof(earlier, multiProcessorCount),
            sizeof earlier::multiProcessorCount, offsetof(later, multiProcessorCount),
            offsetof(later, multiProcessorCount)),
    between(offsetof(earlier, integrated), offsetof(earlier, canMapHostMemory),
            sizeof earlier::canMapHostMemory, offsetof(later, integrated),
            offsetof(later, canMapHostMemory)),
    between(offsetof(earlier, maxTexture1D), offsetof(earlier, maxTexture1DMipmap),
            sizeof earlier::maxTexture1DMipmap, offsetof(later, maxTexture1D),
            offsetof(later, maxTexture1DMipmap)),
    between(offsetof(earlier, maxTexture2D), offsetof(earlier, maxSurfaceCubemapLayered),
            sizeof earlier::maxSurfaceCubemapLayered, offsetof(later, maxTexture2D),
            offsetof(later, maxSurfaceCubemapLayered)),
    between(offsetof(earlier, surfaceAlignment), offsetof(earlier, unifiedAddressing),
            sizeof earlier::unifiedAddressing, offsetof(later, surfaceAlignment),
            offsetof(later, unifiedAddressing)),
    between(offsetof(earlier, memoryBusWidth), offsetof(earlier, localL1CacheSupported),
            sizeof earlier::localL1CacheSupported, offsetof(later, memoryBusWidth),
            offsetof(later, localL1CacheSupported)),
    between(offsetof(earlier, sharedMemPerMultiprocessor),
            offsetof(earlier, hostNativeAtomicSupported), sizeof earlier::hostNativeAtomicSupported,
            offsetof(later, sharedMemPerMultiprocessor),
            offsetof(later, hostNativeAtomicSupported)),
    between(offsetof(earlier, pageableMemoryAccess), offsetof(earlier, cooperativeLaunch),
            sizeof earlier::cooperativeLaunch, offsetof(later, pageableMemoryAccess),
            offsetof(later, cooperativeLaunch)),
    between(offsetof(earlier, sharedMemPerBlockOptin), offsetof(earlier, accessPolicyMaxWindowSize),
            sizeof earlier::accessPolicyMaxWindowSize, offsetof(later, sharedMemPerBlockOptin),
            offsetof(later, accessPolicyMaxWindowSize)),
    between(offsetof(earlier, reservedSharedMemPerBlock),
            offsetof(earlier, unifiedFunctionPointers), sizeof earlier::unifiedFunctionPointers,
            offsetof(later, reservedSharedMemPerBlock), offsetof(later, unifiedFunctionPointers)),
};
static_assert(std::ranges::all_of(common_members, &run::bytes));

void copy_common(device_properties& to, const cudaDeviceProp& from) {
  for (const run& each : common_members) {
    std::memcpy(reinterpret_cast<char*>(&to) + each.earlier,
                reinterpret_cast<const char*>(&from) + each.later, each.bytes);
  }
}

void copy_common(cudaDeviceProp& to, const device_properties& from) {
  for (const run& each : common_members) {
    std::memcpy(reinterpret_cast<char*>(&to) + each.later,
                reinterpret_cast<const char*>(&from) + each.earlier, each.bytes);
  }
}

// Adds the members that CUDA 13 has only as attributes.
void add_attributes(device_properties& properties, int device) {
  const struct {
    int* member;
    cudaDeviceAttr attribute;
  } members[] = {
      {&properties.clockRate, cudaDevAttrClockRate},
      {&properties.deviceOverlap, cudaDevAttrGpuOverlap},
      {&properties.kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout},
      {&properties.computeMode, cudaDevAttrComputeMode},
      {&properties.maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth},
      {&properties.memoryClockRate, cudaDevAttrMemoryClockRate},
      {&properties.singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio},
  };
  for (const auto& each : members) cudaDeviceGetAttribute(each.member, each.attribute, device);
}

// Writes the first `bytes` of the structure, which is longer in CUDA 12 than in CUDA 11.
cudaError_t write_properties(void* target, size_t bytes, int device) {
  if (!target) return later_cudaGetDeviceProperties(nullptr, device);
  cudaDeviceProp source;
  if (const cudaError_t code = later_cudaGetDeviceProperties(&source, device)) return code;
  device_properties result{};
  copy_common(result, source);
  add_attributes(result, device);
  std::memcpy(target, &result, bytes);
  return cudaSuccess;
}

}  // namespace
}  // namespace halfwarp::emulated_runtime_12

using namespace halfwarp::emulated_runtime_12;

// The exported names.
asm(".irp name, "
    "cudaGetDeviceProperties_v2, cudaGetDeviceProperties, cudaChooseDevice, "
    "cudaPointerGetAttributes"
    "\n.globl \\name\n.type \\name, %function\n.set \\name, earlier_\\name\n.endr");

#pragma GCC visibility push(default)

extern "C" {

cudaError_t earlier_cudaGetDeviceProperties_v2(device_properties* properties, int device) {
  return write_properties(properties, sizeof *properties, device);
}

// Programs of CUDA 12 call the function above; this name has the structure of CUDA 11.
cudaError_t earlier_cudaGetDeviceProperties(void* properties, int device) {
  return write_properties(properties, bytes_of_11, device);
}

cudaError_t earlier_cudaChooseDevice(int* device, const device_properties* request) {
  if (!request) return later_cudaChooseDevice(device, nullptr);
  cudaDeviceProp properties{};
  copy_common(properties, *request);
  return later_cudaChooseDevice(device, &properties);
}

cudaError_t earlier_cudaPointerGetAttributes(pointer_attributes* attributes, const void* address) {
  if (!attributes) return later_cudaPointerGetAttributes(nullptr, address);
  cudaPointerAttributes source;
  const cudaError_t code = later_cudaPointerGetAttributes(&source, address);
  if (!code) *attributes = {source.type, source.device, source.devicePointer, source.hostPointer};
  return code;
}

}  // extern "C"
