// SPDX-License-Identifier: Apache-2.0
// Splits the multiprocessors of a device and creates resource descriptors.
#include <algorithm>
#include <vector>

#include "emulator/api/call.hpp"
#include "emulator/stream/green_context.hpp"

namespace halfwarp::emulator::api {
namespace {

device& device_of(const call& c, const CUdevResource& resource) {
  return c.device_of(emulator::device_of(resource));
}

}  // namespace

CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned int* nbGroups,
                                     const CUdevResource* input, CUdevResource* remainder,
                                     unsigned int flags, unsigned int minCount) noexcept {
  return run_locked([&](call& c) {
    require_outputs(nbGroups, input);
    require(input->type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE,
            "only multiprocessors can be split");
    const auto plan = plan_equal_split(device_of(c, *input), *input, flags, minCount);
    if (result == nullptr) {
      *nbGroups = plan.possible;
      return;
    }
    *nbGroups = std::min(*nbGroups, plan.possible);
    const std::vector<unsigned> sizes(*nbGroups, plan.group_size);
    const std::vector<unsigned> alignments(*nbGroups, input->sm.smCoscheduledAlignment);
    write_split(*input, sizes, alignments, result, remainder);
  });
}

CUresult cuDevSmResourceSplit(CUdevResource* result, unsigned int nbGroups,
                              const CUdevResource* input, CUdevResource* remainder,
                              unsigned int flags,
                              CU_DEV_SM_RESOURCE_GROUP_PARAMS* groupParams) noexcept {
  return run_locked([&](call& c) {
    require_outputs(input, groupParams);
    require(flags == 0 && nbGroups > 0, CUDA_ERROR_INVALID_VALUE,
            "the flags must be 0, and there must be a group");
    require(input->type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE,
            "only multiprocessors can be split");
    auto& owner = device_of(c, *input);
    std::vector groups(groupParams, groupParams + nbGroups);
    plan_structured_split(owner, *input, groups, result == nullptr);
    std::vector<unsigned> sizes, alignments;
    for (const auto& each : groups) {
      sizes.push_back(each.smCount);
      alignments.push_back(each.coscheduledSmCount != 0 ? each.coscheduledSmCount
                                                        : input->sm.smCoscheduledAlignment);
    }
    std::vector<CUdevResource> split(nbGroups);
    write_split(*input, sizes, alignments, split.data(), remainder);
    if (result != nullptr) std::ranges::copy(split, result);
    std::ranges::copy(groups, groupParams);
  });
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* phDesc, CUdevResource* resources,
                                   unsigned int nbResources) noexcept {
  return run_locked([&](call& c) {
    require_outputs(phDesc, resources);
    require(nbResources > 0, CUDA_ERROR_INVALID_VALUE, "the list of resources is empty");
    const std::span<const CUdevResource> named{resources, nbResources};
    require(std::ranges::none_of(
                named, [](const auto& each) { return each.type == CU_DEV_RESOURCE_TYPE_INVALID; }),
            CUDA_ERROR_INVALID_RESOURCE_TYPE,
            "a resource has type INVALID, as an empty remainder has");
    const auto combined = combine(named, device_of(c, named.front()));
    *phDesc = c.d.objects.make<resource_descriptor>(combined)->handle_as<CUdevResourceDesc>();
  });
}

}  // namespace halfwarp::emulator::api
