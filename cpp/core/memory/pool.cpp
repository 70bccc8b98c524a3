// SPDX-License-Identifier: Apache-2.0
// The driver's memory pools: the current pool of a device or location, and pools created here.
#include "core/memory/pool.hpp"

#include <limits>
#include <utility>

#include "core/memory/free_order.hpp"

namespace halfwarp::core {
namespace {

// At 0, the driver's default, a pool frees its memory at every synchronization. The next allocation
// then maps memory again, in milliseconds instead of microseconds. Leaves other values unchanged.
void raise_release_threshold(const pool_ref& pool) {
  if (pool_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) == 0) {
    set_pool_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                       std::numeric_limits<cuuint64_t>::max());
  }
}

constexpr CUmemLocation location_of(const pool_place& place) {
  return {place.location, {place.id}};
}

pool_facts facts_of(const pool_place& place) {
  return pool_facts{place.location == CU_MEM_LOCATION_TYPE_DEVICE ? place.id : -1};
}

constexpr bool is_pinned_host_memory(const pool_place& place) {
  return place.type == CU_MEM_ALLOCATION_TYPE_PINNED &&
         place.location != CU_MEM_LOCATION_TYPE_DEVICE;
}

constexpr bool is_four_bytes_wide(CUmemPool_attribute attribute) {
  return attribute == CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
         attribute == CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC ||
         attribute == CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

}  // namespace

pool_handle current_pool(CUdevice device) {
  const gil_release_if_held released;  // the first call creates the default pool
  const relaxed_capture_scope relaxed;
  CUmemoryPool raw = nullptr;
  driver::call(driver::table->cuDeviceGetMemPool, &raw, device);
  pool_handle pool = pool_handle::borrow(raw, {}, pool_facts{device});
  raise_release_threshold(pool);
  return pool;
}

pool_handle current_pool(const pool_place& place) {
  const gil_release_if_held released;
  const relaxed_capture_scope relaxed;
  CUmemoryPool raw = nullptr;
  CUmemLocation location = location_of(place);
  driver::call(driver::table->cuMemGetMemPool, &raw, &location, place.type);
  pool_handle pool = pool_handle::borrow(raw, {}, facts_of(place));
  if (is_pinned_host_memory(place)) grant_device_access(pool);
  raise_release_threshold(pool);
  return pool;
}

// A CUDA 13 driver grants devices no access to host pools, so a kernel or fill on one fails there.
// Skips devices that cannot get access; throws driver_error if none can.
void grant_device_access(const pool_ref& pool) {
  int devices = 0;
  int granted = 0;
  CUresult refusal = CUDA_ERROR_NO_DEVICE;
  driver::call(driver::table->cuDeviceGetCount, &devices);
  for (int i = 0; i < devices; ++i) {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, {i}},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const CUresult code =
        driver::try_call(driver::table->cuMemPoolSetAccess, pool.raw(), &access, 1);
    if (code == CUDA_SUCCESS) {
      ++granted;
    } else {
      refusal = code;
    }
  }
  if (granted == 0) {
    driver::fail(refusal, reinterpret_cast<const void*>(driver::table->cuMemPoolSetAccess));
  }
}

pool_handle create_pool(const pool_place& place, std::size_t max_size, pool_sharing sharing) {
  const gil_release_if_held released;
  const relaxed_capture_scope relaxed;
  CUmemPoolProps properties{};
  properties.allocType = place.type;
  properties.handleTypes = sharing == pool_sharing::none ? CU_MEM_HANDLE_TYPE_NONE
                                                         : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = location_of(place);
  properties.maxSize = max_size;
  pool_facts facts = facts_of(place);
  facts.sharing = sharing;
  pool_handle pool = pool_handle::own({}, std::move(facts), [&properties](CUmemoryPool* raw) {
    driver::call(driver::table->cuMemPoolCreate, raw, &properties);
  });
  if (is_pinned_host_memory(place)) grant_device_access(pool);
  raise_release_threshold(pool);
  return pool;
}

cuuint64_t pool_attribute(const pool_ref& pool, CUmemPool_attribute attribute) {
  if (is_four_bytes_wide(attribute)) {
    int value = 0;
    driver::call(driver::table->cuMemPoolGetAttribute, pool.raw(), attribute, &value);
    return static_cast<cuuint64_t>(value);
  }
  cuuint64_t value = 0;
  driver::call(driver::table->cuMemPoolGetAttribute, pool.raw(), attribute, &value);
  return value;
}

void set_pool_attribute(const pool_ref& pool, CUmemPool_attribute attribute, cuuint64_t value) {
  int narrow = static_cast<int>(value);
  void* source = is_four_bytes_wide(attribute) ? static_cast<void*>(&narrow) : &value;
  driver::call(driver::table->cuMemPoolSetAttribute, pool.raw(), attribute, source);
}

void trim_pool(const pool_ref& pool, std::size_t bytes_to_keep) {
  free_deferred_if_any();
  const relaxed_capture_scope relaxed;
  driver::call(driver::table->cuMemPoolTrimTo, pool.raw(), bytes_to_keep);
}

CUmemAccess_flags pool_access(const pool_ref& pool, CUdevice device) {
  CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, {device}};
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  driver::call(driver::table->cuMemPoolGetAccess, &flags, pool.raw(), &location);
  return flags;
}

void set_pool_access(const pool_ref& pool, const CUmemAccessDesc* access, std::size_t count) {
  const relaxed_capture_scope relaxed;
  driver::call(driver::table->cuMemPoolSetAccess, pool.raw(), access, count);
  pool.facts().had_peers.store(true, std::memory_order_relaxed);
}

void revoke_peer_access(CUmemoryPool raw, CUdevice owner) noexcept {
  constexpr int max_devices = 64;
  CUmemAccessDesc revoked[max_devices];
  int devices = 0;
  std::size_t count = 0;
  if (driver::try_call(driver::table->cuDeviceGetCount, &devices) != CUDA_SUCCESS) return;
  for (int i = 0; i < devices && i < max_devices; ++i) {
    CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, {i}};
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    const CUresult code =
        driver::try_call(driver::table->cuMemPoolGetAccess, &flags, raw, &location);
    if (i != owner && code == CUDA_SUCCESS && flags != CU_MEM_ACCESS_FLAGS_PROT_NONE) {
      revoked[count++] = {location, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    }
  }
  if (count != 0) {
    static_cast<void>(driver::try_call(driver::table->cuMemPoolSetAccess, raw, revoked, count));
  }
}

CUdeviceptr allocate_from_pool(const pool_ref& pool, std::size_t size, const stream_ref& stream) {
  const gil_release_if_held released;
  CUstreamCaptureStatus status{};
  driver::call(driver::table->cuStreamIsCapturing, stream.raw(), &status);
  if (status != CU_STREAM_CAPTURE_STATUS_NONE) return 0;
  free_deferred_if_any();
  CUdeviceptr pointer = 0;
  driver::call(driver::table->cuMemAllocFromPoolAsync, &pointer, size, pool.raw(), stream.raw());
  return pointer;
}

}  // namespace halfwarp::core
