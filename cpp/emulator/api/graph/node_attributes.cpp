// SPDX-License-Identifier: Apache-2.0
// The launch attributes of kernel nodes.
#include "emulator/stream/launch_attributes.hpp"

#include "emulator/api/graph/graph_call.hpp"

namespace halfwarp::emulator::api {
namespace {

std::shared_ptr<graph_node> kernel_node_of(const call& c, CUgraphNode raw) {
  auto found = node_of(c, raw);
  require(found->work.type == CU_GRAPH_NODE_TYPE_KERNEL, CUDA_ERROR_INVALID_VALUE,
          "the node is no kernel node");
  return found;
}

void require_known(CUkernelNodeAttrID id) {
  require(launch_attributes::is_of_nodes(id), CUDA_ERROR_INVALID_VALUE,
          "kernel nodes have no such attribute");
}

// The launch of the node is admitted anew: its cluster or its size may not fit the attributes.
void give(call& c, graph_node& to, launch_attributes attributes) {
  to.work = kernel_work(c, parameters_of(to).kernel, std::move(attributes));
}

}  // namespace

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue* value_out) noexcept {
  return answer([&](call& c) {
    require_outputs(value_out);
    const auto asked = kernel_node_of(c, hNode);
    require_known(attr);
    *value_out = asked->work.attributes.get(attr);
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       const CUkernelNodeAttrValue* value) noexcept {
  return answer([&](call& c) {
    require_outputs(value);
    const auto changed = kernel_node_of(c, hNode);
    require_known(attr);
    if (const auto why = launch_attributes::refusal(attr, *value); !why.empty()) {
      refuse(CUDA_ERROR_INVALID_VALUE, why);
    }
    require(attr != CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, CUDA_ERROR_NOT_SUPPORTED,
            "the emulator has no nodes that kernels update");
    auto attributes = changed->work.attributes;
    attributes.set(attr, *value);
    give(c, *changed, std::move(attributes));
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) noexcept {
  return answer([&](call& c) {
    const auto to = kernel_node_of(c, dst), from = kernel_node_of(c, src);
    give(c, *to, from->work.attributes);
  });
}

}  // namespace halfwarp::emulator::api
