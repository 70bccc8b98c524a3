// SPDX-License-Identifier: Apache-2.0
// The graph memory of devices: attributes and trim.
#include <cstring>

#include "emulator/api/graph/graph_call.hpp"

namespace halfwarp::emulator::api {
namespace {

std::uint64_t& value_of(device& owner, CUgraphMem_attribute attribute) {
  auto& usage = owner.graph_memory;
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      return usage.cached;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      return usage.used_high;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      return usage.reserved_high;
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such attribute of graph memory");
  }
}

}  // namespace

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                      void* value) noexcept {
  return run_locked([&](call& c) {
    require_outputs(value);
    const auto result = value_of(c.device_of(device), attr);
    std::memcpy(value, &result, sizeof result);
  });
}

// Resets a high-water mark to the current value; other attributes cannot be set.
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                      void* value) noexcept {
  return run_locked([&](call& c) {
    require_outputs(value);
    auto& usage = c.device_of(device).graph_memory;
    cuuint64_t requested;
    std::memcpy(&requested, value, sizeof requested);
    const bool is_high =
        attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    require(is_high && requested == 0, CUDA_ERROR_INVALID_VALUE,
            "only high-water marks can be set, and only to 0");
    if (attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) usage.used_high = usage.cached;
    if (attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) usage.reserved_high = usage.cached;
  });
}

// Unmaps the memory of idle executable graphs; they map it again at the next launch.
CUresult cuDeviceGraphMemTrim(CUdevice device) noexcept {
  return run_locked([&](call& c) {
    auto& target = c.device_of(device);
    c.d.objects.for_each(object_kind::graph_exec, [&](const object& each) {
      c.d.objects.find<graph_exec>(each.handle_as<CUgraphExec>())->unmap_memory();
    });
    trim_graph_memory(c.d, target);
  });
}

}  // namespace halfwarp::emulator::api
