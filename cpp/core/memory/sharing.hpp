// SPDX-License-Identifier: Apache-2.0
// Pools, memory and events shared with other processes.
#pragma once

#include <cstddef>

#include "core/event.hpp"
#include "core/memory/free_order.hpp"
#include "core/memory/pool.hpp"

namespace halfwarp::core {

// Returns a file descriptor of a pool for another process. The caller owns it.
[[nodiscard]] int export_pool(const pool_ref& pool);
// Imports a pool by the descriptor of another process. The caller keeps the descriptor.
[[nodiscard]] pool_handle import_pool(int descriptor, CUdevice device);

[[nodiscard]] CUmemPoolPtrExportData export_memory(CUdeviceptr pointer);

// Maps memory of another process. The driver maps memory once per process, so a repeated import
// adds a user to the same address; the free of the last user unmaps it.
[[nodiscard]] CUdeviceptr import_memory(const pool_ref& pool, const CUmemPoolPtrExportData& data);
// Returns whether the address is imported memory; sets `export_data` if it is not null.
[[nodiscard]] bool is_imported(CUdeviceptr pointer, CUmemPoolPtrExportData* export_data) noexcept;
// Releases one user of imported memory in the order `order`. Frees memory that was not imported.
[[nodiscard]] free_result release_imported(CUdeviceptr pointer, const free_order& order) noexcept;

// Returns a file descriptor of the physical memory that is mapped at an address of cuMemMap. The
// caller owns it.
[[nodiscard]] int export_mapping(CUdeviceptr address);

// Returns the number of bytes from an address to the end of its allocation.
[[nodiscard]] std::size_t extent_of(CUdeviceptr pointer);

[[nodiscard]] CUipcEventHandle export_event(const event_ref& event);
// Imports an event of another process into the current context.
[[nodiscard]] event_handle import_event(const CUipcEventHandle& handle, unsigned flags);

}  // namespace halfwarp::core
