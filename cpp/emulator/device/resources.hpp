// SPDX-License-Identifier: Apache-2.0
// Resources of a device for green contexts: splits of multiprocessors and their combinations.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <span>

#include "emulator/device/device.hpp"

namespace halfwarp::emulator {

// All multiprocessors of a device.
CUdevResource all_multiprocessors(const device& d);

// Returns the multiprocessors of a green context as a resource that can be split.
CUdevResource as_source(const CUdevResource& resource);

CUdevResource default_workqueue(const device& d);
CUdevResource shared_workqueue(const device& d);

// Computes the group size and count of cuDevSmResourceSplitByCount. Throws the driver's codes.
struct equal_split {
  unsigned group_size = 0, possible = 0;
};
equal_split plan_equal_split(const device& d, const CUdevResource& input, unsigned flags,
                             unsigned minimum);

// Divides `input` into groups of the given sizes, from its first multiprocessor on. `alignments`
// has one entry per group. Writes the unused multiprocessors to `remainder`, which may be null.
void write_split(const CUdevResource& input, std::span<const unsigned> sizes,
                 std::span<const unsigned> alignments, CUdevResource* groups,
                 CUdevResource* remainder);

// Computes the sizes for cuDevSmResourceSplit in `groups`; `is_dry` means a query without a split.
void plan_structured_split(const device& d, const CUdevResource& input,
                           std::span<CU_DEV_SM_RESOURCE_GROUP_PARAMS> groups, bool is_dry);

// Returns the device of a resource; refuses a resource that the driver did not fill in.
CUdevice device_of(const CUdevResource& resource);

// The resources of a green context.
struct provision {
  CUdevice device = 0;
  CUdevResource sm{}, workqueue{};
};
// Combines resources, with the defaults of the device for types that are absent.
provision combine(std::span<const CUdevResource> named, const device& d);

}  // namespace halfwarp::emulator
