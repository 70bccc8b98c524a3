// SPDX-License-Identifier: Apache-2.0
// Shared by the memory functions: lookup of allocations, checks of areas, copies.
#pragma once

#include <span>

#include "emulator/api/call.hpp"
#include "emulator/work/memory_operations.hpp"

namespace halfwarp::emulator::api {

// Returns the live allocation that begins at an address; refuses one whose free is queued.
memory::allocation require_base(const call& c, CUdeviceptr address);

// Return the operations of copy, memset and batch memory nodes, after the checks of the
// corresponding calls.
std::shared_ptr<operation> make_copy(call& c, const CUDA_MEMCPY3D& params, int device);
std::shared_ptr<operation> make_fill(call& c, const CUDA_MEMSET_NODE_PARAMS& params, int device);
std::shared_ptr<operation> make_values(const call& c, const CUDA_BATCH_MEM_OP_NODE_PARAMS& params,
                                       int device);

// Returns the pool from which cuMemAllocAsync allocates.
std::shared_ptr<memory_pool> current_pool(driver& d, device& owner);

// Checks an area against the current allocations, and sets `is_pageable`.
void admit_area(const call& c, memory_area& area, bool is_write);

// Returns the device of memory of cuMemAlloc or of a variable, which copies and graph nodes reach
// without peer access; `fallback` for other memory.
int home_of(const call& c, CUdeviceptr address, int fallback);
// Checks one side of a copy.
void admit_side(const call& c, memory_area& area, bool is_write);
// Refuses pageable host memory and memory of host pools where a call requires device memory. The
// area must have been checked.
void require_device_memory(const call& c, const memory_area& area);

// Returns the device whose access a single copy needs: the device of the current context. Memsets
// and copies with attributes use the device of the stream.
int copying_device(const stream& target);

// Returns whether CU_POINTER_ATTRIBUTE_SYNC_MEMOPS is set for the memory.
bool has_sync_memops(const call& c, CUdeviceptr address);

memory_area range(CUdeviceptr first, std::size_t bytes, int device);

// Returns whether the host can access an area, which must have been checked.
bool is_on_host(const call& c, const memory_area& area);

enum class wait_mode : std::uint8_t {
  always,         // the call returns after the copy
  for_host_only,  // as `always`, unless both sides are device memory
  if_needed,      // waits only if the target is pageable
};

// Returns the stream of a batch call; refuses the legacy default stream.
std::shared_ptr<stream> require_batch_stream(const call& c, CUstream raw);
// Checks the first indices of the entries of a batch.
void require_batch_indices(std::span<const std::size_t> from, std::size_t entries,
                           std::size_t count);

// The sides of a copy that must be device memory. Drivers do not check the other side:
// cuMemcpyDtoH also writes to device memory.
struct device_sides {
  bool to = false, from = false;
};

// Checks both areas, which have equal shape, and copies between them.
CUresult copy_area_in(call& c, stream& target, memory_area to, memory_area from, wait_mode mode,
                      device_sides required = {});

}  // namespace halfwarp::emulator::api
