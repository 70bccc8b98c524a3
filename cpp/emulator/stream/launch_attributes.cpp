// SPDX-License-Identifier: Apache-2.0
// The objects, values and default of each launch attribute.
#include "emulator/stream/launch_attributes.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace halfwarp::emulator {
namespace {

enum scope : unsigned { launches = 1, nodes = 2, streams = 4 };

constexpr int unbounded = std::numeric_limits<int>::max();

// The range of an attribute of type int; attributes of other types are checked below.
struct row {
  CUlaunchAttributeID id;
  unsigned scopes;
  int minimum = -unbounded - 1, maximum = unbounded;
};

constexpr row rows[] = {
    {CU_LAUNCH_ATTRIBUTE_IGNORE, launches},
    {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, launches | nodes | streams},
    {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, launches | nodes},
    {CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, streams, CU_SYNC_POLICY_AUTO,
     CU_SYNC_POLICY_BLOCKING_SYNC},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, launches | nodes},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, launches | nodes,
     CU_CLUSTER_SCHEDULING_POLICY_DEFAULT, CU_CLUSTER_SCHEDULING_POLICY_RUBIN_DSMEM_LOCALITY},
    {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, launches},
    {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, launches},
    {CU_LAUNCH_ATTRIBUTE_PRIORITY, launches | nodes | streams},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, launches | nodes | streams},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, launches | nodes | streams,
     CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, launches | nodes},
    {CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, launches},
    {CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, launches | nodes, 0, 1},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, launches | nodes, 0, 100},
    {CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, launches | nodes | streams, 0, 1},
    {CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE, launches | nodes,
     CU_LAUNCH_PORTABLE_CLUSTER_MODE_DEFAULT, CU_LAUNCH_PORTABLE_CLUSTER_MODE_ALLOW_NON_PORTABLE},
    {CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE, launches | nodes, CU_SHARED_MEMORY_MODE_DEFAULT,
     CU_SHARED_MEMORY_MODE_PREFER_OVERSIZED_SHARED_MEMORY},
};

const row* find(CUlaunchAttributeID id) noexcept {
  const auto* const match = std::ranges::find(rows, id, &row::id);
  return match != std::end(rows) ? match : nullptr;
}

bool applies_to(CUlaunchAttributeID id, unsigned scope) noexcept {
  const row* const match = find(id);
  return match && (match->scopes & scope) != 0;
}

const char* window_refusal(const CUaccessPolicyWindow& window) noexcept {
  if (!(window.hitRatio >= 0 && window.hitRatio <= 1)) return "the hit ratio is not from 0 to 1";
  if (window.hitProp < CU_ACCESS_PROPERTY_NORMAL || window.hitProp > CU_ACCESS_PROPERTY_PERSISTING)
    return "the access property of a hit has no such value";
  if (window.missProp != CU_ACCESS_PROPERTY_NORMAL &&
      window.missProp != CU_ACCESS_PROPERTY_STREAMING)
    return "the access property of a miss is normal or streaming";
  return "";
}

}  // namespace

bool launch_attributes::applies_to_nodes(CUlaunchAttributeID id) noexcept {
  return applies_to(id, nodes);
}

bool launch_attributes::applies_to_streams(CUlaunchAttributeID id) noexcept {
  return applies_to(id, streams);
}

bool launch_attributes::applies_to_launches(CUlaunchAttributeID id) noexcept {
  return applies_to(id, launches);
}

std::string launch_attributes::refusal(CUlaunchAttributeID id,
                                       const CUlaunchAttributeValue& value) {
  if (id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
    return window_refusal(value.accessPolicyWindow);
  const row* const match = find(id);
  const bool is_good = match && (match->maximum == unbounded || (value.priority >= match->minimum &&
                                                                 value.priority <= match->maximum));
  if (is_good) return {};
  return "launch attribute " + std::to_string(id) + " has no value " +
         std::to_string(value.priority);
}

void launch_attributes::set(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  set_[id] = value;
}

void launch_attributes::merge(const launch_attributes& other) {
  for (const auto& [id, value] : other.set_) set_[id] = value;
}

CUlaunchAttributeValue launch_attributes::get(CUlaunchAttributeID id) const noexcept {
  const auto match = set_.find(id);
  if (match != set_.end()) return match->second;
  CUlaunchAttributeValue result{};
  if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) result.memSyncDomainMap = {0, 1};
  if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) result.syncPolicy = CU_SYNC_POLICY_AUTO;
  return result;
}

}  // namespace halfwarp::emulator
