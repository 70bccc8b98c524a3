// SPDX-License-Identifier: Apache-2.0
// Queries the attributes of an address.
#include "emulated_runtime/api.hpp"
#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

struct pointer_facts {
  unsigned type = 0;  // CUmemorytype; 0: not the driver's memory
  bool is_managed = false;
  int device = cudaInvalidDeviceId;
  void* on_device = nullptr;
  void* on_host = nullptr;
};

cudaError_t query(pointer_facts* facts, const void* ptr) {
  CUpointer_attribute attributes[] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
      CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* values[] = {&facts->type, &facts->is_managed, &facts->device, &facts->on_device,
                    &facts->on_host};
  return forward(table->cuPointerGetAttributes, unsigned{std::size(attributes)}, attributes, values,
                 ptr);
}

cudaMemoryType type_of(const pointer_facts& facts) {
  if (facts.type == 0) return cudaMemoryTypeUnregistered;
  if (facts.is_managed) return cudaMemoryTypeManaged;
  return facts.type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
}

}  // namespace

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr) noexcept {
  if (!attributes) return cudaErrorInvalidValue;
  pointer_facts facts;
  if (const cudaError_t code = query(&facts, ptr)) return code;
  *attributes = {};
  attributes->type = type_of(facts);
  attributes->device = facts.type == 0 ? cudaInvalidDeviceId : facts.device;
  attributes->devicePointer = facts.on_device;
  // Memory unknown to the driver is ordinary host memory.
  attributes->hostPointer = facts.type == 0 ? const_cast<void*>(ptr) : facts.on_host;
  attributes->localityDomainOrdinal = -1;
  return cudaSuccess;
}

}  // namespace halfwarp::emulated_runtime::api
