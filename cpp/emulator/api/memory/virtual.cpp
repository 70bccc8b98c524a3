// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: physical memory, address reservations and mappings.
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/device/physical_memory.hpp"
#include "emulator/memory/virtual_region.hpp"
#include "emulator/object/current_call.hpp"

namespace halfwarp::emulator::api {
namespace {

using memory::granularity;

void require_multiple(std::size_t size, const char* quantity) {
  if (size > 0 && size % granularity == 0) return;
  refuse(CUDA_ERROR_INVALID_VALUE,
         std::string{quantity} + " must be a multiple of the granularity, " +
             std::to_string(granularity) + ", got " + std::to_string(size));
}

CUmemLocation require_location(const call& c, const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return {location.type, {c.device_of(location.id).ordinal()}};
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return {location.type, {0}};
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      require(location.id == 0, CUDA_ERROR_INVALID_VALUE, "the emulator has only NUMA node 0");
      return location;
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "memory must be on a device or on the host");
  }
}

CUmemAllocationProp require_properties(const call& c, const CUmemAllocationProp* properties) {
  require_outputs(properties);
  require(properties->type != CU_MEM_ALLOCATION_TYPE_MANAGED, CUDA_ERROR_NOT_SUPPORTED,
          "the emulator does not support managed physical memory");
  require(properties->type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE,
          "the type of physical memory must be pinned");
  const auto types = static_cast<unsigned>(properties->requestedHandleTypes);
  require((types & ~unsigned{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}) == 0,
          CUDA_ERROR_NOT_SUPPORTED, "the emulator exports memory as file descriptors only");
  require(properties->allocFlags.gpuDirectRDMACapable == 0, CUDA_ERROR_NOT_SUPPORTED,
          "the emulator does not support GPUDirect RDMA");
  CUmemAllocationProp checked = *properties;
  checked.location = require_location(c, properties->location);
  return checked;
}

std::shared_ptr<physical_memory> find_memory(const call& c, CUmemGenericAllocationHandle raw) {
  return c.find<physical_memory>(reinterpret_cast<void*>(raw), CUDA_ERROR_INVALID_VALUE);
}

CUmemGenericAllocationHandle raw_of(const physical_memory& memory) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(memory.handle_as<void*>());
}

std::shared_ptr<address_reservation> reservation_around(const call& c, CUdeviceptr address,
                                                        std::size_t size) {
  std::shared_ptr<address_reservation> match;
  c.d.objects.for_each(object_kind::address_reservation, [&](const object& each) {
    const auto& candidate = static_cast<const address_reservation&>(each);
    const bool holds = address >= candidate.base && size <= candidate.size &&
                       address - candidate.base <= candidate.size - size;
    if (holds) match = c.d.objects.find<address_reservation>(each.handle_as<void*>());
  });
  require(match != nullptr, CUDA_ERROR_INVALID_VALUE, "the range is in no reservation");
  return match;
}

using memory::mapping_access;

mapping_access access_of(CUmemAccess_flags flags) {
  switch (flags) {
    case CU_MEM_ACCESS_FLAGS_PROT_NONE:
      return mapping_access::none;
    case CU_MEM_ACCESS_FLAGS_PROT_READ:
      return mapping_access::read;
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
      return mapping_access::read_write;
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "the access must be none, read or read-write");
  }
}

CUmemAccess_flags flags_of(mapping_access access) {
  switch (access) {
    case mapping_access::read:
      return CU_MEM_ACCESS_FLAGS_PROT_READ;
    case mapping_access::read_write:
      return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    default:
      return CU_MEM_ACCESS_FLAGS_PROT_NONE;
  }
}

// Returns a device ordinal, or -1 for the host.
int accessor_of(const call& c, const CUmemLocation& location) {
  const auto place = require_location(c, location);
  return place.type == CU_MEM_LOCATION_TYPE_DEVICE ? place.id : memory::host_access;
}

}  // namespace

CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(ptr);
    require(flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags are not zero");
    require_multiple(size, "the size of a reservation");
    require((alignment & (alignment - 1)) == 0, CUDA_ERROR_INVALID_VALUE,
            "the alignment must be a power of two");
    const auto address =
        c.d.memory.reserve_virtual(size, std::max<std::size_t>(alignment, granularity), addr);
    require(address.has_value(), CUDA_ERROR_OUT_OF_MEMORY, "there is no free range of that size");
    c.d.objects.make<address_reservation>(*address, size);
    *ptr = *address;
  });
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) noexcept {
  return run_locked([&](call& c) {
    const auto reservation = reservation_around(c, ptr, size);
    require(reservation->base == ptr && reservation->size == size, CUDA_ERROR_INVALID_VALUE,
            "the range is part of a reservation, which must be freed as a whole");
    require(!c.d.memory.has_mapping(ptr, size), CUDA_ERROR_INVALID_VALUE,
            "memory is still mapped in the range");
    c.d.memory.free_virtual(ptr, size);
    c.d.objects.remove(*reservation);
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size,
                     const CUmemAllocationProp* prop, unsigned long long flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(handle);
    require(flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags are not zero");
    const auto properties = require_properties(c, prop);
    require(prop->location.type != CU_MEM_LOCATION_TYPE_HOST || prop->requestedHandleTypes == 0,
            CUDA_ERROR_INVALID_VALUE, "Value of requestedHandleTypes for HOST memory must be 0");
    require(prop->location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, CUDA_ERROR_INVALID_VALUE,
            "Value of prop->location.type is not valid: must be DEVICE, HOST_NUMA, or HOST");
    require_multiple(size, "the size of physical memory");
    auto content = make_memory_file(c.d.memory, size, properties);
    require(content != nullptr, CUDA_ERROR_OUT_OF_MEMORY,
            "the device has too little free memory; the emulator's option `memory` sets the size");
    *handle = raw_of(*c.d.objects.make<physical_memory>(std::move(content)));
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) noexcept {
  return run_locked([&](call& c) {
    const auto memory = find_memory(c, handle);
    if (--memory->references == 0) c.d.objects.remove(*memory);
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* addr) noexcept {
  return run_locked([&](call& c) {
    require_outputs(handle);
    const auto content = c.d.memory.mapped_content(reinterpret_cast<CUdeviceptr>(addr));
    require(content != nullptr, CUDA_ERROR_INVALID_VALUE, "no memory is mapped at this address");
    std::shared_ptr<physical_memory> match;
    c.d.objects.for_each(object_kind::physical_memory, [&](const object& each) {
      const auto& candidate = static_cast<const physical_memory&>(each);
      if (candidate.content == content)
        match = c.d.objects.find<physical_memory>(each.handle_as<void*>());
    });
    if (match) {
      ++match->references;
    } else {
      match = c.d.objects.make<physical_memory>(std::static_pointer_cast<memory_file>(content));
    }
    *handle = raw_of(*match);
  });
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) noexcept {
  return run_locked([&](call& c) {
    const auto memory = find_memory(c, handle);
    require(flags == 0 && offset == 0, CUDA_ERROR_INVALID_VALUE,
            "the flags and the offset of a mapping must be zero");
    require(size == memory->content->size() && ptr % granularity == 0, CUDA_ERROR_INVALID_VALUE,
            "physical memory must be mapped as a whole, at a multiple of the granularity");
    reservation_around(c, ptr, size);
    require(!c.d.memory.has_mapping(ptr, size), CUDA_ERROR_INVALID_VALUE,
            "memory is already mapped in the range");
    const auto& content = memory->content;
    const bool is_mapped =
        c.d.memory.map(ptr, {size, content->file(), content, content->is_on_device(),
                             content->is_on_device() ? content->location().id : 0, call_site()});
    require(is_mapped, CUDA_ERROR_OUT_OF_MEMORY, "the host cannot map this size");
  });
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) noexcept {
  return run_locked([&](call& c) {
    require(c.d.memory.is_exactly_mapped(ptr, size), CUDA_ERROR_INVALID_VALUE,
            "the range does not consist of whole mappings");
    c.d.memory.unmap(ptr, size);
  });
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc* desc,
                        size_t count) noexcept {
  return run_locked([&](call& c) {
    require_outputs(desc);
    require(count > 0 && c.d.memory.is_exactly_mapped(ptr, size), CUDA_ERROR_INVALID_VALUE,
            "access can only be set for whole mappings");
    const std::span descriptors{desc, count};
    for (const auto& each : descriptors) {
      access_of(each.flags);
      const bool is_host = accessor_of(c, each.location) == memory::host_access;
      require(!is_host || !c.d.memory.has_device_mapping(ptr, size), CUDA_ERROR_NOT_SUPPORTED,
              "the host cannot access device memory");
    }
    for (const auto& each : descriptors) {
      c.d.memory.set_mapping_access(ptr, size, accessor_of(c, each.location),
                                    access_of(each.flags));
    }
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr ptr) noexcept {
  return run_locked([&](call& c) {
    require_outputs(flags, location);
    const int accessor = accessor_of(c, *location);
    require(c.d.memory.mapped_content(ptr) != nullptr, CUDA_ERROR_INVALID_VALUE,
            "no memory is mapped at this address");
    *flags = flags_of(c.d.memory.access_to_mapping(ptr, accessor));
  });
}

CUresult cuMemGetAllocationGranularity(size_t* out, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option) noexcept {
  return run_locked([&](call& c) {
    require_outputs(out);
    require(option == CU_MEM_ALLOC_GRANULARITY_MINIMUM ||
                option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
            CUDA_ERROR_INVALID_VALUE, "the granularity must be minimum or recommended");
    require_properties(c, prop);
    *out = granularity;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                CUmemGenericAllocationHandle handle) noexcept {
  return run_locked([&](call& c) {
    require_outputs(prop);
    *prop = find_memory(c, handle)->content->properties();
  });
}

CUresult cuMemExportToShareableHandle(void* shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType,
                                      unsigned long long flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(shareableHandle);
    const auto memory = find_memory(c, handle);
    require(flags == 0 && handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
                (memory->content->properties().requestedHandleTypes & handleType) != 0,
            CUDA_ERROR_INVALID_VALUE, "the memory was not created for handles of this type");
    require(!memory->is_import, CUDA_ERROR_INVALID_VALUE,
            "the memory was imported: only the process that created it exports it");
    const int copy = fcntl(memory->content->file(), F_DUPFD_CLOEXEC, 0);
    require(copy >= 0, CUDA_ERROR_OPERATING_SYSTEM, "the process is out of file descriptors");
    std::memcpy(shareableHandle, &copy, sizeof copy);
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* osHandle,
                                        CUmemAllocationHandleType shHandleType) noexcept {
  return run_locked([&](call& c) {
    require_outputs(handle);
    require(shHandleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED,
            "the emulator exports memory as file descriptors only");
    const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(osHandle));
    auto content = open_memory_file(c.d.memory, file);
    require(content != nullptr, CUDA_ERROR_INVALID_VALUE,
            "the file descriptor does not refer to exported memory");
    require_location(c, content->location());
    *handle = raw_of(*c.d.objects.make<physical_memory>(std::move(content), true));
  });
}

}  // namespace halfwarp::emulator::api
