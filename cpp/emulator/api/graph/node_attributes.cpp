// SPDX-License-Identifier: Apache-2.0
// The launch attributes of kernel nodes.
#include "emulator/stream/launch_attributes.hpp"

#include "emulator/api/graph/graph_call.hpp"

namespace halfwarp::emulator::api {
namespace {

std::shared_ptr<graph_node> kernel_node_of(const call& c, CUgraphNode raw) {
  auto node = node_of(c, raw);
  require(node->work.type == CU_GRAPH_NODE_TYPE_KERNEL, CUDA_ERROR_INVALID_VALUE,
          "the node is not a kernel node");
  return node;
}

void require_known(CUkernelNodeAttrID id) {
  require(launch_attributes::applies_to_nodes(id), CUDA_ERROR_INVALID_VALUE,
          "kernel nodes have no such attribute");
}

// Sets attributes and checks the launch again, since its cluster or size may not fit them.
void set_attributes(call& c, graph_node& node, launch_attributes attributes) {
  node.work = kernel_work(c, parameters_of(node).kernel, std::move(attributes));
}

}  // namespace

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue* value_out) noexcept {
  return run_locked([&](call& c) {
    require_outputs(value_out);
    const auto node = kernel_node_of(c, hNode);
    require_known(attr);
    *value_out = node->work.attributes.get(attr);
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       const CUkernelNodeAttrValue* value) noexcept {
  return run_locked([&](call& c) {
    require_outputs(value);
    const auto node = kernel_node_of(c, hNode);
    require_known(attr);
    if (const auto reason = launch_attributes::refusal(attr, *value); !reason.empty()) {
      refuse(CUDA_ERROR_INVALID_VALUE, reason);
    }
    require(attr != CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, CUDA_ERROR_NOT_SUPPORTED,
            "the emulator does not support device-updatable nodes");
    auto attributes = node->work.attributes;
    attributes.set(attr, *value);
    set_attributes(c, *node, std::move(attributes));
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) noexcept {
  return run_locked([&](call& c) {
    const auto to = kernel_node_of(c, dst), from = kernel_node_of(c, src);
    set_attributes(c, *to, from->work.attributes);
  });
}

}  // namespace halfwarp::emulator::api
