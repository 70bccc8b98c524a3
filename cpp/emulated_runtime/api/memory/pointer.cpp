// SPDX-License-Identifier: Apache-2.0
// What is known of an address.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

struct known {
  unsigned type = 0;  // CUmemorytype; 0: not the driver's memory
  bool is_managed = false;
  int device = cudaInvalidDeviceId;
  void* on_device = nullptr;
  void* on_host = nullptr;
};

cudaError_t ask(known* of, const void* ptr) {
  CUpointer_attribute attributes[] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
      CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* values[] = {&of->type, &of->is_managed, &of->device, &of->on_device, &of->on_host};
  return forward(table->cuPointerGetAttributes, unsigned{std::size(attributes)}, attributes, values,
                 ptr);
}

cudaMemoryType type_of(const known& of) {
  if (of.type == 0) return cudaMemoryTypeUnregistered;
  if (of.is_managed) return cudaMemoryTypeManaged;
  return of.type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
}

}  // namespace

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr) noexcept {
  if (!attributes) return cudaErrorInvalidValue;
  known found;
  if (const cudaError_t code = ask(&found, ptr)) return code;
  *attributes = {};
  attributes->type = type_of(found);
  attributes->device = found.type == 0 ? cudaInvalidDeviceId : found.device;
  attributes->devicePointer = found.on_device;
  // Memory that is not the driver's is the program's own.
  attributes->hostPointer = found.type == 0 ? const_cast<void*>(ptr) : found.on_host;
  attributes->localityDomainOrdinal = -1;
  return cudaSuccess;
}

}  // namespace halfwarp::emulated_runtime::api
