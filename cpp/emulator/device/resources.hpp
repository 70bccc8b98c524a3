// SPDX-License-Identifier: Apache-2.0
// Parts of a device that green contexts are made of: how multiprocessors are split, and what may go
// together.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <span>

#include "emulator/device/device.hpp"

namespace halfwarp::emulator {

// All multiprocessors of a device.
CUdevResource all_multiprocessors(const device& of);

// The multiprocessors of a green context: what it was given, to be split anew.
CUdevResource as_source(const CUdevResource& given);

CUdevResource default_workqueue(const device& of);
CUdevResource shared_workqueue(const device& of);

// What cuDevSmResourceSplitByCount writes: groups of one size, and the rest. Refuses with the codes
// of the driver.
struct equal_split {
  unsigned group_size = 0, possible = 0;
};
equal_split plan_equal_split(const device& of, const CUdevResource& input, unsigned flags,
                             unsigned minimum);

// Divides `input` into groups of the sizes named, from its first multiprocessor on. `alignments`
// has one for each group. What is left goes to `remainder`, which may be null.
void write_split(const CUdevResource& input, std::span<const unsigned> sizes,
                 std::span<const unsigned> alignments, CUdevResource* groups,
                 CUdevResource* remainder);

// The sizes for cuDevSmResourceSplit, written to `wanted`; only asked about where `is_dry`.
void plan_structured_split(const device& of, const CUdevResource& input,
                           std::span<CU_DEV_SM_RESOURCE_GROUP_PARAMS> wanted, bool is_dry);

// The ordinal of the device that a resource is of; refuses one that no call of ours gave.
CUdevice device_of(const CUdevResource& resource);

// What a green context gets of the resources that are named together.
struct provision {
  CUdevice device = 0;
  CUdevResource sm{}, workqueue{};
};
provision combine(std::span<const CUdevResource> named, const device& of);

}  // namespace halfwarp::emulator
