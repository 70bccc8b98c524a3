// SPDX-License-Identifier: Apache-2.0
// The driver's memory pools: the current pool of a device or location, and pools created here.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/handle.hpp"
#include "core/stream.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {

// Whether a pool is shared with other processes.
enum class pool_sharing : unsigned char { none, exportable, imported };

struct pool_facts {
  CUdevice device = -1;  // -1: memory not bound to one device
  pool_sharing sharing = pool_sharing::none;
  // Set once another device got access. The access must be revoked before the pool is destroyed:
  // a later pool may get the same handle, and would inherit it.
  mutable std::atomic<bool> had_peers{false};

  constexpr pool_facts() noexcept = default;
  explicit constexpr pool_facts(CUdevice device_id) noexcept : device{device_id} {}
  pool_facts(pool_facts&& other) noexcept
      : device{other.device},
        sharing{other.sharing},
        had_peers{other.had_peers.load(std::memory_order_relaxed)} {}
};

void revoke_peer_access(CUmemoryPool raw, CUdevice owner) noexcept;
// Serialized with imports of pools on other threads.
[[nodiscard]] CUresult destroy_shared_pool(CUmemoryPool raw) noexcept;

// The kind and location of a pool's memory.
struct pool_place {
  CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
  CUmemLocationType location = CU_MEM_LOCATION_TYPE_DEVICE;
  int id = 0;  // ordinal of the device or NUMA node
};

struct pool_traits {
  using raw_type = CUmemoryPool;
  using parent_type = no_parent;
  using facts_type = pool_facts;
  static constexpr const char* destroyer = "cuMemPoolDestroy";
  static CUresult destroy(CUmemoryPool raw, const pool_facts& facts) noexcept {
    if (facts.had_peers.load(std::memory_order_relaxed)) revoke_peer_access(raw, facts.device);
    if (facts.sharing != pool_sharing::none) return destroy_shared_pool(raw);
    return driver::try_call(driver::table->cuMemPoolDestroy, raw);
  }
};

using pool_ref = handle_ref<pool_traits>;
using pool_handle = handle<pool_traits>;

// Returns the device's current pool, which the driver owns.
[[nodiscard]] pool_handle current_pool(CUdevice device);

// Returns the driver's default pool for host or managed memory. Needs a CUDA 13 driver.
[[nodiscard]] pool_handle current_pool(const pool_place& place);

// Creates a pool of at most `max_size` bytes; 0 means no limit.
[[nodiscard]] pool_handle create_pool(const pool_place& place, std::size_t max_size,
                                      pool_sharing sharing = pool_sharing::none);
[[nodiscard]] inline pool_handle create_pool(CUdevice device, std::size_t max_size) {
  return create_pool(pool_place{.id = device}, max_size);
}

// Returns the value of an attribute; 4-byte attributes are widened.
[[nodiscard]] cuuint64_t pool_attribute(const pool_ref& pool, CUmemPool_attribute attribute);
void set_pool_attribute(const pool_ref& pool, CUmemPool_attribute attribute, cuuint64_t value);

// Frees unused memory of the pool beyond `min_bytes`.
void trim_pool(const pool_ref& pool, std::size_t min_bytes);

// Returns the access that a device has to the pool's memory.
[[nodiscard]] CUmemAccess_flags pool_access(const pool_ref& pool, CUdevice device);
// Grants all devices access to a host pool. Needed in each process that uses the pool.
void grant_device_access(const pool_ref& pool);
void set_pool_access(const pool_ref& pool, const CUmemAccessDesc* access, std::size_t count);

// Allocates in stream order. Returns 0 if the stream is being captured: the memory would belong to
// the graph.
[[nodiscard]] CUdeviceptr allocate_from_pool(const pool_ref& pool, std::size_t size,
                                             const stream_ref& stream);

}  // namespace halfwarp::core
