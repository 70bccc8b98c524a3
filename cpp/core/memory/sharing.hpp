// SPDX-License-Identifier: Apache-2.0
// Pools, their memory, and events that other processes have as well.
#pragma once

#include <cstddef>

#include "core/event.hpp"
#include "core/memory/free_order.hpp"
#include "core/memory/pool.hpp"

namespace halfwarp::core {

// A file descriptor that names a pool, for another process; the caller owns it.
[[nodiscard]] int export_pool(const pool_ref& pool);
// The pool of a descriptor of another process, which keeps it.
[[nodiscard]] pool_handle import_pool(int descriptor, CUdevice device);

[[nodiscard]] CUmemPoolPtrExportData export_memory(CUdeviceptr pointer);

// Memory of another process, mapped into this one. The driver maps it once, so who imports it again
// becomes one more user of the same address; the last one's free unmaps it.
[[nodiscard]] CUdeviceptr import_memory(const pool_ref& into, const CUmemPoolPtrExportData& from);
// Whether there is such memory at an address, and what it was imported by.
[[nodiscard]] bool is_imported(CUdeviceptr pointer, CUmemPoolPtrExportData* by) noexcept;
// One user less, behind what `order` says. Memory that nobody imported is freed.
[[nodiscard]] free_result let_go(CUdeviceptr pointer, const free_order& order) noexcept;

// Bytes from an address to the end of its allocation.
[[nodiscard]] std::size_t extent_of(CUdeviceptr pointer);

[[nodiscard]] CUipcEventHandle export_event(const event_ref& event);
// An event of another process, in the context that is current.
[[nodiscard]] event_handle import_event(const CUipcEventHandle& from, unsigned flags);

}  // namespace halfwarp::core
