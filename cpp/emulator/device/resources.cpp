// SPDX-License-Identifier: Apache-2.0
// How multiprocessors are split, and which resources may go together.
#include "emulator/device/resources.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "emulator/settings/refusal.hpp"

namespace halfwarp::emulator {
namespace {

// Kept in what a resource has inside: which multiprocessors it is.
struct origin {
  static constexpr std::uint64_t mark = 0x68616c6677617270;  // "halfwarp"
  std::uint64_t marked = mark;
  std::uint64_t split = 0;  // the call that made it; 0: asked of a device or a context
  std::int32_t device = 0;
  std::uint32_t first = 0;
  std::uint32_t is_group = 0;
  CUdevSmResource seen{};  // what the program may read of it, and not change
};
static_assert(sizeof(origin) <= sizeof(CUdevResource::_internal_padding));

void set_origin(CUdevResource& of, origin from) {
  if (of.type == CU_DEV_RESOURCE_TYPE_SM) from.seen = of.sm;
  std::memcpy(of._internal_padding, &from, sizeof from);
}

origin origin_of(const CUdevResource& resource) {
  origin from;
  std::memcpy(&from, resource._internal_padding, sizeof from);
  require(from.marked == origin::mark, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
          "the resource was not filled in by the driver: ask the device or a context for one");
  const bool is_changed = resource.type == CU_DEV_RESOURCE_TYPE_SM &&
                          std::memcmp(&from.seen, &resource.sm, sizeof from.seen) != 0;
  require(!is_changed, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
          "the resource is not as the driver filled it in: its fields are to be read only");
  return from;
}

std::string count(unsigned of) { return std::to_string(of) + " multiprocessors"; }

[[noreturn]] void refuse_configuration(const std::string& why) {
  refuse(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, why);
}

// On a device too small to be split by its architecture's unit, the smallest unit holds.
unsigned unless_too_large(unsigned unit, const device& of) {
  const auto all = static_cast<unsigned>(of.attributes()[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT]);
  return unit * 2 <= all ? unit : std::min(2u, all);
}

unsigned usual_alignment(const device& of) {
  return unless_too_large(of.kind().major >= 9 ? 8 : 2, of);
}

unsigned smallest_partition(const device& of) {
  const int major = of.kind().major;
  return unless_too_large(major >= 9 ? 8 : major == 8 ? 4 : 2, of);
}

void require_multiprocessors(const CUdevResource& input) {
  require(input.type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE,
          "only multiprocessors can be split");
  require(origin_of(input).is_group == 0, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
          "a group that a split made cannot be split again: make a green context of it, and ask "
          "that for its multiprocessors");
}

CUdevResource part_of(const CUdevResource& input, unsigned first, unsigned size, unsigned alignment,
                      const origin& from) {
  CUdevResource made = input;
  made.sm.smCount = size;
  made.sm.smCoscheduledAlignment = alignment;
  made.nextResource = nullptr;
  origin here = from;
  here.first += first;
  set_origin(made, here);
  return made;
}

void require_group(const device& of, const CU_DEV_SM_RESOURCE_GROUP_PARAMS& wanted,
                   unsigned together, unsigned input) {
  constexpr unsigned known = CU_DEV_SM_RESOURCE_GROUP_BACKFILL |
                             CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID |
                             CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_SUPPLEMENTAL_SMS;
  require((wanted.flags & ~known) == 0, CUDA_ERROR_INVALID_VALUE, "these are no flags of a group");
  const unsigned most = of.kind().major >= 9 ? 32 : 2;
  if (together > most || together % 2 != 0) {
    refuse_configuration("coscheduledSmCount is " + std::to_string(together) +
                         "; it is even, and at most " + std::to_string(most) + " here");
  }
  const unsigned preferred = wanted.preferredCoscheduledSmCount;
  if (preferred % together != 0) {
    refuse_configuration("preferredCoscheduledSmCount is no multiple of coscheduledSmCount");
  }
  if (wanted.smCount == 1 || wanted.smCount > input || wanted.smCount % 2 != 0) {
    refuse_configuration("a group of " + count(wanted.smCount) +
                         "; it has an even number of 2 to " + std::to_string(input) +
                         ", or 0 to be told how many there are");
  }
  const bool is_filled = (wanted.flags & CU_DEV_SM_RESOURCE_GROUP_BACKFILL) != 0;
  if (wanted.smCount % together != 0 && !is_filled) {
    refuse_configuration("a group of " + count(wanted.smCount) + " is no multiple of the " +
                         std::to_string(together) +
                         " that are scheduled together; ask for fewer of these, or for backfill");
  }
  const bool has_domain = (wanted.flags & CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID) != 0;
  if (has_domain && wanted.localityDomainId != 0 &&
      wanted.localityDomainId != CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID_ANY) {
    refuse_configuration("the device has one locality domain, number 0");
  }
}

void join(provision& into, const CUdevResource& next, bool is_first) {
  if (is_first) {
    into.sm = next;
    return;
  }
  const origin known = origin_of(into.sm), added = origin_of(next);
  if (known.split == 0 || known.split != added.split) {
    refuse_configuration("multiprocessors that go together come from one split");
  }
  if (into.sm.sm.smCoscheduledAlignment != next.sm.smCoscheduledAlignment) {
    refuse_configuration("multiprocessors that go together have one co-scheduling alignment");
  }
  into.sm.sm.smCount += next.sm.smCount;
  set_origin(into.sm, known);
}

}  // namespace

CUdevResource all_multiprocessors(const device& of) {
  CUdevResource all{};
  all.type = CU_DEV_RESOURCE_TYPE_SM;
  all.sm.smCount = static_cast<unsigned>(of.attributes()[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT]);
  all.sm.minSmPartitionSize = smallest_partition(of);
  all.sm.smCoscheduledAlignment = usual_alignment(of);
  origin from;
  from.device = of.ordinal();
  set_origin(all, from);
  return all;
}

CUdevResource as_source(const CUdevResource& given) {
  CUdevResource made = given;
  origin from = origin_of(given);
  from.split = 0;
  from.is_group = 0;
  set_origin(made, from);
  return made;
}

CUdevResource default_workqueue(const device& of) {
  constexpr unsigned usual_connections = 8;
  CUdevResource made{};
  made.type = CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG;
  made.wqConfig = {of.ordinal(), usual_connections, CU_WORKQUEUE_SCOPE_DEVICE_CTX};
  origin from;
  from.device = of.ordinal();
  set_origin(made, from);
  return made;
}

CUdevResource shared_workqueue(const device& of) {
  CUdevResource made = default_workqueue(of);
  made.type = CU_DEV_RESOURCE_TYPE_WORKQUEUE;
  made.wq = {};
  return made;
}

equal_split plan_equal_split(const device& of, const CUdevResource& input, unsigned flags,
                             unsigned minimum) {
  require_multiprocessors(input);
  constexpr unsigned known = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                             CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  require((flags & ~known) == 0, CUDA_ERROR_INVALID_VALUE, "these are no flags of a split");
  require(minimum <= input.sm.smCount, CUDA_ERROR_INVALID_VALUE,
          "the groups are to have more multiprocessors than there are");
  const bool is_fine = (flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0;
  const unsigned unit = is_fine ? 2 : usual_alignment(of);
  const unsigned least = is_fine ? 2 : smallest_partition(of);
  const unsigned size = (std::max(minimum, least) + unit - 1) / unit * unit;
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
  const CUdevResource source = input;  // the output may be the same place
  origin from = origin_of(source);
  from.split = splits.fetch_add(1, std::memory_order_relaxed) + 1;
  from.is_group = 1;
  unsigned taken = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    groups[i] = part_of(source, taken, sizes[i], alignments[i], from);
    taken += sizes[i];
  }
  if (remainder == nullptr) return;
  const unsigned left = source.sm.smCount - taken;
  from.is_group = 0;
  *remainder = part_of(source, taken, left, source.sm.smCoscheduledAlignment, from);
  if (left == 0) *remainder = CUdevResource{};
}

void plan_structured_split(const device& of, const CUdevResource& input,
                           std::span<CU_DEV_SM_RESOURCE_GROUP_PARAMS> wanted, bool is_dry) {
  require_multiprocessors(input);
  unsigned left = input.sm.smCount;
  for (auto& group : wanted) {
    const unsigned together =
        group.coscheduledSmCount != 0 ? group.coscheduledSmCount : usual_alignment(of);
    require_group(of, group, together, input.sm.smCount);
    const bool is_filled = (group.flags & CU_DEV_SM_RESOURCE_GROUP_BACKFILL) != 0;
    const unsigned unit = is_filled ? 2 : together;
    if (group.smCount == 0) group.smCount = left / unit * unit;
    if (group.smCount > left) {
      refuse_configuration("a group of " + count(group.smCount) + ", of which " +
                           std::to_string(left) + " are left");
    }
    if (!is_dry && (group.smCount == 0 || group.smCount < together)) {
      refuse_configuration("a group ends up with " + count(group.smCount) +
                           ", fewer than are scheduled together");
    }
    left -= group.smCount;
  }
}

CUdevice device_of(const CUdevResource& resource) { return origin_of(resource).device; }

provision combine(std::span<const CUdevResource> named, const device& of) {
  provision made{of.ordinal(), all_multiprocessors(of), default_workqueue(of)};
  int multiprocessors = 0, workqueues = 0;
  for (const auto& each : named) {
    if (device_of(each) != of.ordinal()) refuse_configuration("the resources are of two devices");
    switch (each.type) {
      case CU_DEV_RESOURCE_TYPE_SM:
        join(made, each, multiprocessors++ == 0);
        break;
      case CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG:
        if (workqueues++ != 0) refuse_configuration("there are two workqueues");
        made.workqueue = each;
        break;
      case CU_DEV_RESOURCE_TYPE_WORKQUEUE:
        if (workqueues++ != 0) refuse_configuration("there are two workqueues");
        break;
      default:
        refuse(CUDA_ERROR_INVALID_RESOURCE_TYPE, "a resource is of no known type");
    }
  }
  return made;
}

}  // namespace halfwarp::emulator
