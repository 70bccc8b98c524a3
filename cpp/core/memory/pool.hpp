// SPDX-License-Identifier: Apache-2.0
// The driver's memory pools: the current one of a device, and pools of our own.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/handle.hpp"
#include "core/stream.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {

// What a pool has to do with other processes.
enum class pool_sharing : unsigned char { none, exportable, imported };

struct pool_facts {
  CUdevice device = -1;  // -1: memory that is not tied to one device
  pool_sharing sharing = pool_sharing::none;
  // Whether another device was ever let in; in such a pool the access has to be taken back, since
  // the next pool may get the same handle, and has inherited it then.
  mutable std::atomic<bool> had_peers{false};

  constexpr pool_facts() noexcept = default;
  explicit constexpr pool_facts(CUdevice of) noexcept : device{of} {}
  pool_facts(pool_facts&& other) noexcept
      : device{other.device},
        sharing{other.sharing},
        had_peers{other.had_peers.load(std::memory_order_relaxed)} {}
};

void take_access_back(CUmemoryPool raw, CUdevice owner) noexcept;
// Not while another thread imports a pool.
[[nodiscard]] CUresult destroy_shared_pool(CUmemoryPool raw) noexcept;

// What kind of memory a pool has, and where.
struct pool_place {
  CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
  CUmemLocationType location = CU_MEM_LOCATION_TYPE_DEVICE;
  int id = 0;  // of the device or the NUMA node
};

struct pool_traits {
  using raw_type = CUmemoryPool;
  using parent_type = no_parent;
  using facts_type = pool_facts;
  static constexpr const char* destroyer = "cuMemPoolDestroy";
  static CUresult destroy(CUmemoryPool raw, const pool_facts& facts) noexcept {
    if (facts.had_peers.load(std::memory_order_relaxed)) take_access_back(raw, facts.device);
    if (facts.sharing != pool_sharing::none) return destroy_shared_pool(raw);
    return driver::try_call(driver::table->cuMemPoolDestroy, raw);
  }
};

using pool_ref = handle_ref<pool_traits>;
using pool_handle = handle<pool_traits>;

// The pool that the device allocates from by default. Borrowed: it is the driver's.
[[nodiscard]] pool_handle current_pool(CUdevice device);

// The pool of another kind of memory that is there without being made; of drivers of CUDA 13.
[[nodiscard]] pool_handle current_pool(const pool_place& place);

// A new pool; `max_size` in bytes, 0 for as much as there is.
[[nodiscard]] pool_handle create_pool(const pool_place& place, std::size_t max_size,
                                      pool_sharing sharing = pool_sharing::none);
[[nodiscard]] inline pool_handle create_pool(CUdevice device, std::size_t max_size) {
  return create_pool(pool_place{.id = device}, max_size);
}

// The value of an attribute; integer attributes of four bytes are widened.
[[nodiscard]] cuuint64_t pool_attribute(const pool_ref& pool, CUmemPool_attribute attribute);
void set_pool_attribute(const pool_ref& pool, CUmemPool_attribute attribute, cuuint64_t value);

// Gives back to the device what is free beyond `bytes_to_keep`.
void trim_pool(const pool_ref& pool, std::size_t bytes_to_keep);

// Who may use the memory of a pool.
[[nodiscard]] CUmemAccess_flags pool_access(const pool_ref& pool, CUdevice from);
// For a pool of the host, in each process that has it.
void let_devices_use(const pool_ref& pool);
void set_pool_access(const pool_ref& pool, const CUmemAccessDesc* who, std::size_t count);

// Memory of the pool, usable on `stream` from here on; 0 when the stream records a graph, to which
// such memory would belong.
[[nodiscard]] CUdeviceptr allocate_from_pool(const pool_ref& pool, std::size_t size,
                                             const stream_ref& stream);

}  // namespace halfwarp::core
