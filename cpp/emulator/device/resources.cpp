// SPDX-License-Identifier: Apache-2.0
// Splits of multiprocessors and combinations of resources.
#include "emulator/device/resources.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "emulator/settings/refusal.hpp"

namespace halfwarp::emulator {
namespace {

// The driver's record of the multiprocessors of a resource, stored in its padding.
struct origin {
  static constexpr std::uint64_t mark = 0x68616c6677617270;  // "halfwarp"
  std::uint64_t marked = mark;
  std::uint64_t split = 0;  // number of the split; 0 for a resource of a device or context
  std::int32_t device = 0;
  std::uint32_t first = 0;
  std::uint32_t is_group = 0;
  CUdevSmResource readable{};  // the public fields, which the program must not change
};
static_assert(sizeof(origin) <= sizeof(CUdevResource::_internal_padding));

void set_origin(CUdevResource& resource, origin record) {
  if (resource.type == CU_DEV_RESOURCE_TYPE_SM) record.readable = resource.sm;
  std::memcpy(resource._internal_padding, &record, sizeof record);
}

origin origin_of(const CUdevResource& resource) {
  origin record;
  std::memcpy(&record, resource._internal_padding, sizeof record);
  require(record.marked == origin::mark, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
          "the resource was not filled in by the driver: query the device or a context for one");
  const bool is_changed = resource.type == CU_DEV_RESOURCE_TYPE_SM &&
                          std::memcmp(&record.readable, &resource.sm, sizeof record.readable) != 0;
  require(!is_changed, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
          "the fields of a resource from the driver are read-only");
  return record;
}

std::string count(unsigned size) { return std::to_string(size) + " multiprocessors"; }

[[noreturn]] void refuse_configuration(const std::string& reason) {
  refuse(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, reason);
}

// Limits the split unit of an architecture on a device with fewer than two such units.
unsigned limit_unit(unsigned unit, const device& d) {
  const auto all = static_cast<unsigned>(d.attributes()[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT]);
  return unit * 2 <= all ? unit : std::min(2u, all);
}

unsigned default_alignment(const device& d) { return limit_unit(d.kind().major >= 9 ? 8 : 2, d); }

unsigned min_partition(const device& d) {
  const int major = d.kind().major;
  return limit_unit(major >= 9 ? 8 : major == 8 ? 4 : 2, d);
}

void require_multiprocessors(const CUdevResource& input) {
  require(input.type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE,
          "only multiprocessors can be split");
  require(origin_of(input).is_group == 0, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
          "a group of a split cannot be split: create a green context of it and query the context "
          "for its multiprocessors");
}

CUdevResource create_part(const CUdevResource& input, unsigned first, unsigned size,
                          unsigned alignment, const origin& from) {
  CUdevResource result = input;
  result.sm.smCount = size;
  result.sm.smCoscheduledAlignment = alignment;
  result.nextResource = nullptr;
  origin part_origin = from;
  part_origin.first += first;
  set_origin(result, part_origin);
  return result;
}

void require_group(const device& d, const CU_DEV_SM_RESOURCE_GROUP_PARAMS& group,
                   unsigned coscheduled, unsigned available) {
  constexpr unsigned known = CU_DEV_SM_RESOURCE_GROUP_BACKFILL |
                             CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID |
                             CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_SUPPLEMENTAL_SMS;
  require((group.flags & ~known) == 0, CUDA_ERROR_INVALID_VALUE, "invalid flags of a group");
  const unsigned max_coscheduled = d.kind().major >= 9 ? 32 : 2;
  if (coscheduled > max_coscheduled || coscheduled % 2 != 0) {
    refuse_configuration("coscheduledSmCount is " + std::to_string(coscheduled) +
                         "; it must be even and at most " + std::to_string(max_coscheduled));
  }
  const unsigned preferred = group.preferredCoscheduledSmCount;
  if (preferred % coscheduled != 0) {
    refuse_configuration("preferredCoscheduledSmCount is not a multiple of coscheduledSmCount");
  }
  if (group.smCount == 1 || group.smCount > available || group.smCount % 2 != 0) {
    refuse_configuration("a group of " + count(group.smCount) +
                         "; it must have an even number from 2 to " + std::to_string(available) +
                         ", or 0 to query the number");
  }
  const bool is_filled = (group.flags & CU_DEV_SM_RESOURCE_GROUP_BACKFILL) != 0;
  if (group.smCount % coscheduled != 0 && !is_filled) {
    refuse_configuration(
        "a group of " + count(group.smCount) + " is not a multiple of the " +
        std::to_string(coscheduled) +
        " that are co-scheduled; lower coscheduledSmCount or set the backfill flag");
  }
  const bool has_domain = (group.flags & CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID) != 0;
  if (has_domain && group.localityDomainId != 0 &&
      group.localityDomainId != CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID_ANY) {
    refuse_configuration("the device has only locality domain 0");
  }
}

void join(provision& result, const CUdevResource& next, bool is_first) {
  if (is_first) {
    result.sm = next;
    return;
  }
  const origin first = origin_of(result.sm), added = origin_of(next);
  if (first.split == 0 || first.split != added.split) {
    refuse_configuration("combined multiprocessors must come from one split");
  }
  if (result.sm.sm.smCoscheduledAlignment != next.sm.smCoscheduledAlignment) {
    refuse_configuration("combined multiprocessors must have the same co-scheduling alignment");
  }
  result.sm.sm.smCount += next.sm.smCount;
  set_origin(result.sm, first);
}

}  // namespace

CUdevResource all_multiprocessors(const device& d) {
  CUdevResource all{};
  all.type = CU_DEV_RESOURCE_TYPE_SM;
  all.sm.smCount = static_cast<unsigned>(d.attributes()[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT]);
  all.sm.minSmPartitionSize = min_partition(d);
  all.sm.smCoscheduledAlignment = default_alignment(d);
  origin record;
  record.device = d.ordinal();
  set_origin(all, record);
  return all;
}

CUdevResource as_source(const CUdevResource& resource) {
  CUdevResource result = resource;
  origin record = origin_of(resource);
  record.split = 0;
  record.is_group = 0;
  set_origin(result, record);
  return result;
}

CUdevResource default_workqueue(const device& d) {
  constexpr unsigned default_connections = 8;
  CUdevResource result{};
  result.type = CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG;
  result.wqConfig = {d.ordinal(), default_connections, CU_WORKQUEUE_SCOPE_DEVICE_CTX};
  origin record;
  record.device = d.ordinal();
  set_origin(result, record);
  return result;
}

CUdevResource shared_workqueue(const device& d) {
  CUdevResource result = default_workqueue(d);
  result.type = CU_DEV_RESOURCE_TYPE_WORKQUEUE;
  result.wq = {};
  return result;
}

equal_split plan_equal_split(const device& d, const CUdevResource& input, unsigned flags,
                             unsigned minimum) {
  require_multiprocessors(input);
  constexpr unsigned known = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                             CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  require((flags & ~known) == 0, CUDA_ERROR_INVALID_VALUE, "invalid flags of a split");
  require(minimum <= input.sm.smCount, CUDA_ERROR_INVALID_VALUE,
          "a group needs more multiprocessors than the input has");
  const bool is_fine = (flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0;
  const unsigned unit = is_fine ? 2 : default_alignment(d);
  const unsigned min_size = is_fine ? 2 : min_partition(d);
  const unsigned size = (std::max(minimum, min_size) + unit - 1) / unit * unit;
  if (size > input.sm.smCount) {
    refuse_configuration("groups of " + count(size) + " (" + std::to_string(minimum) +
                         ", rounded up) of " + std::to_string(input.sm.smCount));
  }
  return {size, input.sm.smCount / size};
}

void write_split(const CUdevResource& input, std::span<const unsigned> sizes,
                 std::span<const unsigned> alignments, CUdevResource* groups,
                 CUdevResource* remainder) {
  static constinit std::atomic<std::uint64_t> splits{0};
  const CUdevResource source = input;  // `groups` or `remainder` may alias it
  origin source_origin = origin_of(source);
  source_origin.split = splits.fetch_add(1, std::memory_order_relaxed) + 1;
  source_origin.is_group = 1;
  unsigned offset = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    groups[i] = create_part(source, offset, sizes[i], alignments[i], source_origin);
    offset += sizes[i];
  }
  if (remainder == nullptr) return;
  const unsigned remainder_size = source.sm.smCount - offset;
  source_origin.is_group = 0;
  *remainder =
      create_part(source, offset, remainder_size, source.sm.smCoscheduledAlignment, source_origin);
  if (remainder_size == 0) *remainder = CUdevResource{};
}

void plan_structured_split(const device& d, const CUdevResource& input,
                           std::span<CU_DEV_SM_RESOURCE_GROUP_PARAMS> groups, bool is_dry) {
  require_multiprocessors(input);
  unsigned remaining = input.sm.smCount;
  for (auto& group : groups) {
    const unsigned coscheduled =
        group.coscheduledSmCount != 0 ? group.coscheduledSmCount : default_alignment(d);
    require_group(d, group, coscheduled, input.sm.smCount);
    const bool is_filled = (group.flags & CU_DEV_SM_RESOURCE_GROUP_BACKFILL) != 0;
    const unsigned unit = is_filled ? 2 : coscheduled;
    if (group.smCount == 0) group.smCount = remaining / unit * unit;
    if (group.smCount > remaining) {
      refuse_configuration("a group of " + count(group.smCount) + ", but only " +
                           std::to_string(remaining) + " remain");
    }
    if (!is_dry && (group.smCount == 0 || group.smCount < coscheduled)) {
      refuse_configuration("a group ends up with " + count(group.smCount) +
                           ", fewer than coscheduledSmCount");
    }
    remaining -= group.smCount;
  }
}

CUdevice device_of(const CUdevResource& resource) { return origin_of(resource).device; }

provision combine(std::span<const CUdevResource> named, const device& d) {
  provision result{d.ordinal(), all_multiprocessors(d), default_workqueue(d)};
  int multiprocessors = 0, workqueues = 0;
  for (const auto& each : named) {
    if (device_of(each) != d.ordinal()) refuse_configuration("the resources belong to two devices");
    switch (each.type) {
      case CU_DEV_RESOURCE_TYPE_SM:
        join(result, each, multiprocessors++ == 0);
        break;
      case CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG:
        if (workqueues++ != 0) refuse_configuration("there are two workqueues");
        result.workqueue = each;
        break;
      case CU_DEV_RESOURCE_TYPE_WORKQUEUE:
        if (workqueues++ != 0) refuse_configuration("there are two workqueues");
        break;
      default:
        refuse(CUDA_ERROR_INVALID_RESOURCE_TYPE, "a resource has an unknown type");
    }
  }
  return result;
}

}  // namespace halfwarp::emulator
