// SPDX-License-Identifier: Apache-2.0
// Which attributes kernel nodes have, and their values when nobody set them.
#include "emulator/graph/node_attributes.hpp"

#include <algorithm>
#include <iterator>

namespace halfwarp::emulator {
namespace {

constexpr CUlaunchAttributeID of_kernel_nodes[] = {
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
    CU_LAUNCH_ATTRIBUTE_PRIORITY,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
    CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
    CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
    CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE,
    CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE,
};

}  // namespace

bool node_attributes::is_known(CUlaunchAttributeID id) noexcept {
  return std::ranges::find(of_kernel_nodes, id) != std::end(of_kernel_nodes);
}

CUlaunchAttributeValue node_attributes::get(CUlaunchAttributeID id) const noexcept {
  const auto found = set_.find(id);
  if (found != set_.end()) return found->second;
  CUlaunchAttributeValue none{};
  if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) none.memSyncDomainMap = {0, 1};
  if (id == CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) none.sharedMemCarveout = ~0u;
  return none;
}

}  // namespace halfwarp::emulator
