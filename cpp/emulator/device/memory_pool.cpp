// SPDX-License-Identifier: Apache-2.0
// Accounting of pools; their addresses come from the address space.
#include "emulator/device/memory_pool.hpp"

#include <algorithm>

#include "emulator/object/current_call.hpp"

namespace halfwarp::emulator {
namespace {

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t multiple) noexcept {
  return (bytes + multiple - 1) / multiple * multiple;
}

memory::allocation_kind kind_in(const CUmemPoolProps& properties) {
  if (properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED)
    return memory::allocation_kind::managed;
  return properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? memory::allocation_kind::pool
                                                                 : memory::allocation_kind::pinned;
}

// Returns the devices that can access the memory initially: none for host memory.
std::uint32_t initial_access(const CUmemPoolProps& properties, int home) {
  switch (kind_in(properties)) {
    case memory::allocation_kind::pool:
      return 1u << home;
    case memory::allocation_kind::pinned:
      return 0;
    default:
      return memory::every_device;
  }
}

}  // namespace

memory_pool::memory_pool(const CUmemPoolProps& properties, int home,
                         std::shared_ptr<memory::shared_file> file, bool is_imported)
    : object{kind_of},
      properties_{properties},
      home_{home},
      file_{std::move(file)},
      is_imported_{is_imported},
      accessible_from_{initial_access(properties, home)} {}

bool memory_pool::is_device_pool() const noexcept {
  return kind_in(properties_) == memory::allocation_kind::pool;
}

std::optional<memory::address> memory_pool::allocate(memory::address_space& space,
                                                     std::uint64_t bytes, std::uint64_t context,
                                                     std::uint64_t stream) {
  const std::uint64_t charged = round_up(bytes, memory::alignment);
  if (charged < bytes) return std::nullopt;
  const bool is_too_much = properties_.maxSize != 0 && used + charged > properties_.maxSize;
  if (is_too_much) return std::nullopt;
  memory::allocation_request request = request_for(bytes);
  request.context = context;
  request.stream = stream;
  const auto address = space.allocate(request);
  if (!address) return std::nullopt;
  grant_access(space, *address);
  used += charged;
  used_high = std::max(used_high, used);
  reserved = std::max(reserved, round_up(used, pool_segment));
  reserved_high = std::max(reserved_high, reserved);
  ++live;
  return address;
}

std::optional<memory::address> memory_pool::import(memory::address_space& space,
                                                   std::uint64_t offset, std::uint64_t bytes) {
  memory::allocation_request request = request_for(bytes);
  request.imported_from = offset;
  const auto address = space.allocate(request);
  if (!address) return std::nullopt;
  grant_access(space, *address);
  ++live;
  return address;
}

memory::allocation_request memory_pool::request_for(std::uint64_t bytes) const {
  memory::allocation_request request;
  request.size = bytes;
  request.kind = kind_in(properties_);
  request.device = home_;
  request.pool = id();
  request.created_at = call_site();
  request.backing = file_;
  return request;
}

bool memory_pool::has_own_access() const noexcept {
  return initial_access(properties_, home_) != memory::every_device;
}

void memory_pool::grant_access(memory::address_space& space, memory::address base) const {
  for (int i = 0; has_own_access() && i < space.devices(); ++i) {
    space.set_access(base, i, accessible_from_ >> i & 1);
  }
}

void memory_pool::deallocate(std::uint64_t bytes) noexcept {
  used -= std::min(used, round_up(bytes, memory::alignment));
  --live;
}

void memory_pool::trim(std::uint64_t keep) noexcept {
  const std::uint64_t needed = round_up(used, pool_segment);
  const std::uint64_t cached = keep >= reserved ? reserved : round_up(keep, pool_segment);
  reserved = std::min(reserved, std::max(needed, cached));
}

CUmemAccess_flags memory_pool::access_from(const CUmemLocation& location) const noexcept {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return is_device_pool() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  return accessible_from_ >> location.id & 1 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                             : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

void memory_pool::set_access(memory::address_space& space, int device, CUmemAccess_flags flags) {
  const bool enabled = flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
  accessible_from_ = enabled ? accessible_from_ | 1u << device : accessible_from_ & ~(1u << device);
  if (has_own_access()) space.set_pool_access(id(), device, enabled);
}

}  // namespace halfwarp::emulator
