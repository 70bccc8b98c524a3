// SPDX-License-Identifier: Apache-2.0
// Creates and selects memory pools; pool attributes and access.
#include "emulator/driver/pools.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/api/sharing/sharing_call.hpp"
#include "emulator/sharing/process.hpp"

namespace halfwarp::emulator::api {
namespace {

std::shared_ptr<memory_pool> find_pool(const call& c, CUmemoryPool raw) {
  return c.find<memory_pool>(raw, CUDA_ERROR_INVALID_VALUE);
}

bool is_host(CUmemLocationType type) {
  return type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
         type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

// Checks the location of a pool: a device or the host; managed memory may have no location.
void require_location(const call& c, const CUmemLocation& location, CUmemAllocationType type) {
  require(type == CU_MEM_ALLOCATION_TYPE_PINNED || type == CU_MEM_ALLOCATION_TYPE_MANAGED,
          CUDA_ERROR_INVALID_VALUE, "the allocation type is neither pinned nor managed");
  const bool is_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (is_device) c.device_of(location.id);
  const bool is_anywhere =
      location.type == CU_MEM_LOCATION_TYPE_NONE && type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  require(is_device || is_host(location.type) || is_anywhere, CUDA_ERROR_INVALID_VALUE,
          "a pool must be on a device or on the host");
  require(location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA || location.id == 0,
          CUDA_ERROR_INVALID_VALUE, "the emulator has only NUMA node 0");
}

// Creates the file behind a shareable pool; returns null for other pools.
std::shared_ptr<memory::shared_file> file_for(const CUmemPoolProps& properties) {
  if (properties.handleTypes == CU_MEM_HANDLE_TYPE_NONE) return nullptr;
  require(properties.handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
          CUDA_ERROR_NOT_SUPPORTED, "the emulator shares pools by file descriptors only");
  const bool is_shareable = properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
                            (properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
                             properties.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA);
  require(is_shareable, CUDA_ERROR_INVALID_VALUE,
          "a shareable pool must be on a device or on a NUMA node of the host");
  const auto self = sharing::this_process();
  auto file = memory::shared_file::make({properties.location.type, properties.location.id,
                                         properties.allocType, self.number, self.started});
  if (!file) refuse_by_system("the memory of a pool");
  return file;
}

using counter = std::uint64_t memory_pool::*;
using reuse_switch = bool memory_pool::*;

reuse_switch switch_of(CUmemPool_attribute attribute) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      return &memory_pool::follows_event_dependencies;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      return &memory_pool::allows_opportunistic;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return &memory_pool::allows_internal_dependencies;
    default:
      return nullptr;
  }
}

counter counter_of(CUmemPool_attribute attribute) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return &memory_pool::threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return &memory_pool::reserved;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return &memory_pool::reserved_high;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return &memory_pool::used;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return &memory_pool::used_high;
    default:
      return nullptr;
  }
}

// Returns a creation property of a pool.
int property_of(const CUmemPoolProps& properties, CUmemPool_attribute attribute) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_ALLOCATION_TYPE:
      return properties.allocType;
    case CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES:
      return properties.handleTypes;
    case CU_MEMPOOL_ATTR_LOCATION_ID:
      return properties.location.id;
    case CU_MEMPOOL_ATTR_LOCATION_TYPE:
      return properties.location.type;
    case CU_MEMPOOL_ATTR_HW_DECOMPRESS_ENABLED:
      return 0;
    case CU_MEMPOOL_ATTR_LOCALITY_DOMAIN_ID:
      return -1;  // the pool has memory of a whole device
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such pool attribute");
  }
}

template <class Value>
void store(void* out, Value value) {
  std::memcpy(out, &value, sizeof value);
}

template <class Value>
Value load(const void* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Sets the threshold, or resets a high-water mark to the current value.
void set_counter(memory_pool& pool, CUmemPool_attribute attribute, cuuint64_t value) {
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
    pool.threshold = value;
    return;
  }
  require(value == 0, CUDA_ERROR_INVALID_VALUE, "a high-water mark can only be set to 0");
  if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) {
    pool.reserved_high = pool.reserved;
  } else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
    pool.used_high = pool.used;
  } else {
    refuse(CUDA_ERROR_INVALID_VALUE, "this attribute cannot be set");
  }
}

std::shared_ptr<memory_pool>& selected(driver& d, const CUmemLocation& location,
                                       CUmemAllocationType type) {
  if (type == CU_MEM_ALLOCATION_TYPE_MANAGED) {
    const int home = location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : 0;
    return d.devices[static_cast<std::size_t>(home)]->current_managed_pool;
  }
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
    return d.devices[static_cast<std::size_t>(location.id)]->current_pool;
  }
  return d.current_host_pool;
}

std::shared_ptr<memory_pool> selected_or_default(driver& d, const CUmemLocation& location,
                                                 CUmemAllocationType type) {
  auto& chosen = selected(d, location, type);
  return chosen && !chosen->is_destroyed ? chosen : default_pool(d, location, type);
}

}  // namespace

std::shared_ptr<memory_pool> current_pool(driver& d, device& owner) {
  return selected_or_default(d, {CU_MEM_LOCATION_TYPE_DEVICE, {owner.ordinal()}},
                             CU_MEM_ALLOCATION_TYPE_PINNED);
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pool, poolProps);
    require_location(c, poolProps->location, poolProps->allocType);
    const bool is_device = poolProps->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    const auto created = c.d.objects.make<memory_pool>(
        *poolProps, is_device ? poolProps->location.id : 0, file_for(*poolProps));
    c.d.pools.push_back(created);
    *pool = created->handle_as<CUmemoryPool>();
  });
}

// Destroys the handle at once; allocations stay valid until they are freed.
CUresult cuMemPoolDestroy(CUmemoryPool pool) noexcept {
  return run_locked([&](call& c) {
    const auto target = find_pool(c, pool);
    require(!target->is_library_owned, CUDA_ERROR_INVALID_VALUE,
            "a default pool cannot be destroyed");
    target->is_destroyed = true;
    c.d.objects.remove(*target);
    trim_pools(c.d);
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) noexcept {
  return run_locked([&](call& c) {
    require_outputs(value);
    const auto target = find_pool(c, pool);
    if (const auto member = switch_of(attr)) return store<int>(value, target.get()->*member);
    if (const auto member = counter_of(attr))
      return store<cuuint64_t>(value, target.get()->*member);
    if (attr == CU_MEMPOOL_ATTR_MAX_POOL_SIZE) {
      return store<cuuint64_t>(value, target->properties().maxSize);
    }
    store<int>(value, property_of(target->properties(), attr));
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) noexcept {
  return run_locked([&](call& c) {
    require_outputs(value);
    const auto target = find_pool(c, pool);
    if (const auto member = switch_of(attr)) {
      target.get()->*member = load<int>(value) != 0;
      return;
    }
    require(counter_of(attr) != nullptr, CUDA_ERROR_INVALID_VALUE, "this attribute cannot be set");
    set_counter(*target, attr, load<cuuint64_t>(value));
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) noexcept {
  return run_locked([&](call& c) {
    const auto target = find_pool(c, pool);
    require_safe_in_captures(c.d);
    target->trim(minBytesToKeep);
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool memPool,
                            CUmemLocation* location) noexcept {
  return run_locked([&](call& c) {
    require_outputs(flags, location);
    const auto target = find_pool(c, memPool);
    if (location->type == CU_MEM_LOCATION_TYPE_DEVICE) c.device_of(location->id);
    *flags = target->access_from(*location);
  });
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count) noexcept {
  return run_locked([&](call& c) {
    const auto target = find_pool(c, pool);
    require(map != nullptr || count == 0, CUDA_ERROR_INVALID_VALUE, "the access list is null");
    for (std::size_t i = 0; i < count; ++i) {
      require(map[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE,
              "only devices can get access to a pool");
      c.device_of(map[i].location.id);
      require(map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                  map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
              CUDA_ERROR_INVALID_VALUE, "the access to a pool must be none or read-write");
      const bool is_own = target->is_device_pool() && map[i].location.id == target->home();
      require(!is_own || map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE, CUDA_ERROR_INVALID_DEVICE,
              "a device cannot lose access to its own pool");
    }
    for (std::size_t i = 0; i < count; ++i) {
      target->set_access(c.d.memory, map[i].location.id, map[i].flags);
    }
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pool_out);
    const CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, {c.device_of(dev).ordinal()}};
    *pool_out =
        default_pool(c.d, location, CU_MEM_ALLOCATION_TYPE_PINNED)->handle_as<CUmemoryPool>();
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pool);
    *pool = current_pool(c.d, c.device_of(dev))->handle_as<CUmemoryPool>();
  });
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) noexcept {
  return run_locked([&](call& c) {
    auto& device = c.device_of(dev);
    const auto chosen = find_pool(c, pool);
    require(!chosen->is_imported(), CUDA_ERROR_INVALID_VALUE,
            "an imported pool cannot be selected, since it allows no allocation");
    require(chosen->is_device_pool() && chosen->home() == device.ordinal(),
            CUDA_ERROR_INVALID_VALUE, "the pool belongs to another device");
    device.current_pool = chosen;
  });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool_out, CUmemLocation* location,
                                CUmemAllocationType type) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pool_out, location);
    require_location(c, *location, type);
    *pool_out = default_pool(c.d, *location, type)->handle_as<CUmemoryPool>();
  });
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location,
                         CUmemAllocationType type) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pool, location);
    require_location(c, *location, type);
    *pool = selected_or_default(c.d, *location, type)->handle_as<CUmemoryPool>();
  });
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type,
                         CUmemoryPool pool) noexcept {
  return run_locked([&](call& c) {
    require_outputs(location);
    require_location(c, *location, type);
    const auto chosen = find_pool(c, pool);
    require(chosen->properties().allocType == type, CUDA_ERROR_INVALID_VALUE,
            "the pool has another allocation type");
    selected(c.d, *location, type) = chosen;
  });
}

}  // namespace halfwarp::emulator::api
