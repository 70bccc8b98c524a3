// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: memory, addresses, and mappings of one to the other.
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

void require_whole(std::size_t size, const char* what) {
  if (size > 0 && size % granularity == 0) return;
  refuse(CUDA_ERROR_INVALID_VALUE, std::string{what} + " is a multiple of the granularity, " +
                                       std::to_string(granularity) + ", got " +
                                       std::to_string(size));
}

CUmemLocation require_place(const call& c, const CUmemLocation& where) {
  switch (where.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return {where.type, {c.device_of(where.id).ordinal()}};
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return {where.type, {0}};
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      require(where.id == 0, CUDA_ERROR_INVALID_VALUE, "the emulator has the NUMA node 0 only");
      return where;
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "memory lies on a device or on the host");
  }
}

CUmemAllocationProp require_properties(const call& c, const CUmemAllocationProp* given) {
  require_outputs(given);
  require(given->type != CU_MEM_ALLOCATION_TYPE_MANAGED, CUDA_ERROR_NOT_SUPPORTED,
          "the emulator has no managed physical memory");
  require(given->type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE,
          "the type of physical memory is pinned");
  const auto types = static_cast<unsigned>(given->requestedHandleTypes);
  require((types & ~unsigned{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}) == 0,
          CUDA_ERROR_NOT_SUPPORTED, "the emulator exports memory as file descriptors only");
  require(given->allocFlags.gpuDirectRDMACapable == 0, CUDA_ERROR_NOT_SUPPORTED,
          "the emulator has no other devices on a bus");
  CUmemAllocationProp checked = *given;
  checked.location = require_place(c, given->location);
  return checked;
}

std::shared_ptr<physical_memory> find_memory(const call& c, CUmemGenericAllocationHandle raw) {
  return c.find<physical_memory>(reinterpret_cast<void*>(raw), CUDA_ERROR_INVALID_VALUE);
}

CUmemGenericAllocationHandle raw_of(const physical_memory& of) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(of.handle_as<void*>());
}

std::shared_ptr<address_reservation> reservation_around(const call& c, CUdeviceptr at,
                                                        std::size_t size) {
  std::shared_ptr<address_reservation> found;
  c.d.objects.for_each(object_kind::address_reservation, [&](const object& each) {
    const auto& candidate = static_cast<const address_reservation&>(each);
    const bool holds = at >= candidate.base && size <= candidate.size &&
                       at - candidate.base <= candidate.size - size;
    if (holds) found = c.d.objects.find<address_reservation>(each.handle_as<void*>());
  });
  require(found != nullptr, CUDA_ERROR_INVALID_VALUE, "the range lies in no reservation");
  return found;
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
      refuse(CUDA_ERROR_INVALID_VALUE, "the access is none, read, or read and write");
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

// Device ordinal, or -1 for the host.
int accessor_of(const call& c, const CUmemLocation& where) {
  const auto place = require_place(c, where);
  return place.type == CU_MEM_LOCATION_TYPE_DEVICE ? place.id : memory::host_access;
}

}  // namespace

CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags) noexcept {
  return answer([&](call& c) {
    require_outputs(ptr);
    require(flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags are not zero");
    require_whole(size, "the size of a reservation");
    require((alignment & (alignment - 1)) == 0, CUDA_ERROR_INVALID_VALUE,
            "the alignment is a power of two");
    const auto at =
        c.d.memory.reserve_virtual(size, std::max<std::size_t>(alignment, granularity), addr);
    require(at.has_value(), CUDA_ERROR_OUT_OF_MEMORY, "there is no free range of that size");
    c.d.objects.make<address_reservation>(*at, size);
    *ptr = *at;
  });
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) noexcept {
  return answer([&](call& c) {
    const auto found = reservation_around(c, ptr, size);
    require(found->base == ptr && found->size == size, CUDA_ERROR_INVALID_VALUE,
            "the range is part of a reservation; it is freed as it was reserved");
    require(!c.d.memory.has_mapping(ptr, size), CUDA_ERROR_INVALID_VALUE,
            "memory is still mapped there");
    c.d.memory.free_virtual(ptr, size);
    c.d.objects.remove(*found);
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size,
                     const CUmemAllocationProp* prop, unsigned long long flags) noexcept {
  return answer([&](call& c) {
    require_outputs(handle);
    require(flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags are not zero");
    const auto properties = require_properties(c, prop);
    require(prop->location.type != CU_MEM_LOCATION_TYPE_HOST || prop->requestedHandleTypes == 0,
            CUDA_ERROR_INVALID_VALUE, "Value of requestedHandleTypes for HOST memory must be 0");
    require(prop->location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, CUDA_ERROR_INVALID_VALUE,
            "Value of prop->location.type is not valid: must be DEVICE, HOST_NUMA, or HOST");
    require_whole(size, "the size of physical memory");
    auto content = make_memory_file(c.d.memory, size, properties);
    require(content != nullptr, CUDA_ERROR_OUT_OF_MEMORY,
            "the device has not that much free; the emulator's option `memory` sets the size");
    *handle = raw_of(*c.d.objects.make<physical_memory>(std::move(content)));
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) noexcept {
  return answer([&](call& c) {
    const auto found = find_memory(c, handle);
    if (--found->references == 0) c.d.objects.remove(*found);
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* addr) noexcept {
  return answer([&](call& c) {
    require_outputs(handle);
    const auto content = c.d.memory.mapped_content(reinterpret_cast<CUdeviceptr>(addr));
    require(content != nullptr, CUDA_ERROR_INVALID_VALUE, "no memory is mapped at this address");
    std::shared_ptr<physical_memory> known;
    c.d.objects.for_each(object_kind::physical_memory, [&](const object& each) {
      const auto& candidate = static_cast<const physical_memory&>(each);
      if (candidate.content == content)
        known = c.d.objects.find<physical_memory>(each.handle_as<void*>());
    });
    if (known) {
      ++known->references;
    } else {
      known = c.d.objects.make<physical_memory>(std::static_pointer_cast<memory_file>(content));
    }
    *handle = raw_of(*known);
  });
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) noexcept {
  return answer([&](call& c) {
    const auto found = find_memory(c, handle);
    require(flags == 0 && offset == 0, CUDA_ERROR_INVALID_VALUE,
            "the flags and the offset of a mapping are zero");
    require(size == found->content->size() && ptr % granularity == 0, CUDA_ERROR_INVALID_VALUE,
            "physical memory is mapped as a whole, at a multiple of the granularity");
    reservation_around(c, ptr, size);
    require(!c.d.memory.has_mapping(ptr, size), CUDA_ERROR_INVALID_VALUE,
            "memory is mapped there already");
    const auto& content = found->content;
    const bool done =
        c.d.memory.map(ptr, {size, content->file(), content, content->is_on_device(),
                             content->is_on_device() ? content->location().id : 0, call_site()});
    require(done, CUDA_ERROR_OUT_OF_MEMORY, "the host cannot map that much");
  });
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) noexcept {
  return answer([&](call& c) {
    require(c.d.memory.is_exactly_mapped(ptr, size), CUDA_ERROR_INVALID_VALUE,
            "the range is not made of whole mappings");
    c.d.memory.unmap(ptr, size);
  });
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc* desc,
                        size_t count) noexcept {
  return answer([&](call& c) {
    require_outputs(desc);
    require(count > 0 && c.d.memory.is_exactly_mapped(ptr, size), CUDA_ERROR_INVALID_VALUE,
            "access is set for whole mappings");
    const std::span given{desc, count};
    for (const auto& each : given) {
      access_of(each.flags);
      const bool is_host = accessor_of(c, each.location) == memory::host_access;
      require(!is_host || !c.d.memory.has_device_mapping(ptr, size), CUDA_ERROR_NOT_SUPPORTED,
              "the host cannot reach device memory");
    }
    for (const auto& each : given) {
      c.d.memory.set_mapping_access(ptr, size, accessor_of(c, each.location),
                                    access_of(each.flags));
    }
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr ptr) noexcept {
  return answer([&](call& c) {
    require_outputs(flags, location);
    const int accessor = accessor_of(c, *location);
    require(c.d.memory.mapped_content(ptr) != nullptr, CUDA_ERROR_INVALID_VALUE,
            "no memory is mapped at this address");
    *flags = flags_of(c.d.memory.access_to_mapping(ptr, accessor));
  });
}

CUresult cuMemGetAllocationGranularity(size_t* out, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option) noexcept {
  return answer([&](call& c) {
    require_outputs(out);
    require(option == CU_MEM_ALLOC_GRANULARITY_MINIMUM ||
                option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
            CUDA_ERROR_INVALID_VALUE, "the granularity is the minimum or the recommended one");
    require_properties(c, prop);
    *out = granularity;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                CUmemGenericAllocationHandle handle) noexcept {
  return answer([&](call& c) {
    require_outputs(prop);
    *prop = find_memory(c, handle)->content->properties();
  });
}

CUresult cuMemExportToShareableHandle(void* shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType,
                                      unsigned long long flags) noexcept {
  return answer([&](call& c) {
    require_outputs(shareableHandle);
    const auto found = find_memory(c, handle);
    require(flags == 0 && handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
                (found->content->properties().requestedHandleTypes & handleType) != 0,
            CUDA_ERROR_INVALID_VALUE, "the memory was not made for handles of this type");
    const int copy = fcntl(found->content->file(), F_DUPFD_CLOEXEC, 0);
    require(copy >= 0, CUDA_ERROR_OPERATING_SYSTEM, "the process has no file descriptor left");
    std::memcpy(shareableHandle, &copy, sizeof copy);
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* osHandle,
                                        CUmemAllocationHandleType shHandleType) noexcept {
  return answer([&](call& c) {
    require_outputs(handle);
    require(shHandleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED,
            "the emulator exports memory as file descriptors only");
    const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(osHandle));
    auto content = open_memory_file(c.d.memory, file);
    require(content != nullptr, CUDA_ERROR_INVALID_VALUE,
            "the file descriptor is not one of exported memory");
    require_place(c, content->location());
    *handle = raw_of(*c.d.objects.make<physical_memory>(std::move(content)));
  });
}

}  // namespace halfwarp::emulator::api
