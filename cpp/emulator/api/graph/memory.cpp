// SPDX-License-Identifier: Apache-2.0
// The memory that devices keep for graphs.
#include <cstring>

#include "emulator/api/graph/graph_call.hpp"

namespace halfwarp::emulator::api {
namespace {

std::uint64_t& value_of(device& of, CUgraphMem_attribute attribute) {
  auto& all = of.graph_memory;
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      return all.cached;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      return all.used_high;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      return all.reserved_high;
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such attribute of graph memory");
  }
}

}  // namespace

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                      void* value) noexcept {
  return answer([&](call& c) {
    require_outputs(value);
    const auto found = value_of(c.device_of(device), attr);
    std::memcpy(value, &found, sizeof found);
  });
}

// A high-water mark can only be set back to what is there now.
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                      void* value) noexcept {
  return answer([&](call& c) {
    require_outputs(value);
    auto& all = c.device_of(device).graph_memory;
    cuuint64_t wanted;
    std::memcpy(&wanted, value, sizeof wanted);
    const bool is_high =
        attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    require(is_high && wanted == 0, CUDA_ERROR_INVALID_VALUE,
            "the high-water marks alone can be set, to 0");
    if (attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) all.used_high = all.cached;
    if (attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) all.reserved_high = all.cached;
  });
}

// Executables that do not run now map their memory again at the next launch.
CUresult cuDeviceGraphMemTrim(CUdevice device) noexcept {
  return answer([&](call& c) {
    auto& trimmed = c.device_of(device);
    c.d.objects.for_each(object_kind::graph_exec, [&](const object& each) {
      c.d.objects.find<graph_exec>(each.handle_as<CUgraphExec>())->unmap_memory();
    });
    trim_graph_memory(c.d, trimmed);
  });
}

}  // namespace halfwarp::emulator::api
