// SPDX-License-Identifier: Apache-2.0
// The driver's memory pools: the current one of a device, and pools of our own.
#pragma once

#include <cstddef>

#include "core/handle.hpp"
#include "core/stream.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {

struct pool_facts {
  CUdevice device = -1;
};

struct pool_traits {
  using raw_type = CUmemoryPool;
  using parent_type = no_parent;
  using facts_type = pool_facts;
  static constexpr const char* destroyer = "cuMemPoolDestroy";
  static CUresult destroy(CUmemoryPool raw, const pool_facts&) noexcept {
    return driver::try_call(driver::table->cuMemPoolDestroy, raw);
  }
};

using pool_ref = handle_ref<pool_traits>;
using pool_handle = handle<pool_traits>;

// The pool that the device allocates from by default. Borrowed: it is the driver's.
[[nodiscard]] pool_handle current_pool(CUdevice device);

// A new pool of device memory; `max_size` in bytes, 0 for as much as the device has.
[[nodiscard]] pool_handle create_pool(CUdevice device, std::size_t max_size);

// The value of an attribute; integer attributes of four bytes are widened.
[[nodiscard]] cuuint64_t pool_attribute(const pool_ref& pool, CUmemPool_attribute attribute);
void set_pool_attribute(const pool_ref& pool, CUmemPool_attribute attribute, cuuint64_t value);

// Gives back to the device what is free beyond `bytes_to_keep`.
void trim_pool(const pool_ref& pool, std::size_t bytes_to_keep);

// Memory of the pool, usable on `stream` from here on; 0 when the stream records a graph, to which
// such memory would belong.
[[nodiscard]] CUdeviceptr allocate_from_pool(const pool_ref& pool, std::size_t size,
                                             const stream_ref& stream);

}  // namespace halfwarp::core
