// SPDX-License-Identifier: Apache-2.0
// What the bodies on memory share: finding allocations, classifying addresses.
#pragma once

#include <span>

#include "emulator/api/call.hpp"
#include "emulator/work/memory_operations.hpp"

namespace halfwarp::emulator::api {

// The live allocation that begins at an address and whose free is not queued yet.
memory::allocation require_base(const call& c, CUdeviceptr at);

// The operations that graph nodes stand for, after the checks of the calls of the same name.
std::shared_ptr<operation> make_copy(call& c, const CUDA_MEMCPY3D& given, int device);
std::shared_ptr<operation> make_fill(call& c, const CUDA_MEMSET_NODE_PARAMS& given, int device);

// The pool that cuMemAllocAsync takes from.
std::shared_ptr<memory_pool> current_pool(driver& d, device& of);

// Checks the addresses of an area against what is allocated now, and notes whether it is plain
// host memory.
void admit_area(const call& c, memory_area& area, bool is_write);

// The device of plain memory (of cuMemAlloc, or a variable), which copies and nodes of graphs reach
// without peer access; of other memory `otherwise`.
int home_of(const call& c, CUdeviceptr at, int otherwise);
// Admits one side of a copy.
void admit_side(const call& c, memory_area& area, bool is_write);
// Of an area that was admitted, and that the caller says to be memory of a device: refuses what is
// of the host and not page-locked for a device: plain memory, and memory of its pools.
void require_device_memory(const call& c, const memory_area& area);

// The device whose access counts for a single copy: that of the current context. Fills, and copies
// with attributes, go by that of the stream.
int copying_device(const stream& in);

// Whether synchronous calls on this memory wait even where they need not.
bool has_sync_memops(const call& c, CUdeviceptr at);

memory_area range(CUdeviceptr first, std::size_t bytes, int device);

// Of an area that was admitted: whether the host can see it.
bool is_on_host(const call& c, const memory_area& area);

enum class waiting : std::uint8_t {
  always,         // the call returns when the bytes are there
  for_host_only,  // the same, unless both sides are device memory
  if_needed,      // only where the host could see the difference
};

// The stream of a call that takes many items, which the legacy default stream does not do.
std::shared_ptr<stream> require_batch_stream(const call& c, CUstream raw);
// Entries that count from an index of the batch on, as its calls take them.
void require_batch_indices(std::span<const std::size_t> from, std::size_t entries,
                           std::size_t count);

// Which sides of a copy its name says to be memory of a device. Drivers do not take it at its word
// for the other side: cuMemcpyDtoH also writes to a device.
struct device_sides {
  bool to = false, from = false;
};

// Copies between areas of equal shape, after admitting both.
CUresult copy_area_in(call& c, stream& in, memory_area to, memory_area from, waiting when,
                      device_sides named = {});

}  // namespace halfwarp::emulator::api
