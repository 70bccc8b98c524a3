// SPDX-License-Identifier: Apache-2.0
// Nodes that launch a kernel, and their launch attributes.
#include <cstring>

#include "emulator/api/graph/node_kinds.hpp"
#include "emulator/api/module/launch_limits.hpp"
#include "emulator/api/module/module_call.hpp"
#include "emulator/graph/dot/dot_rows.hpp"

namespace halfwarp::emulator::api {
namespace {

std::uint64_t number_of(const void* raw) { return reinterpret_cast<std::uint64_t>(raw); }

class kernel_node_work final : public operation_work {
 public:
  kernel_node_work(std::shared_ptr<operation> launch, std::shared_ptr<emulator::context> owner,
                   launch_attributes attributes, CUkernel kernel)
      : operation_work{kernel_kind.traits, std::move(launch), std::move(owner)},
        attributes{std::move(attributes)},
        kernel_{kernel} {}

  const launch_attributes attributes;

  std::optional<int> priority() const override { return attributes.priority(); }

  CUgraphExecUpdateResult compare(const node_work& other, unsigned long long flags) const override {
    if (context != other.context) return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    const auto& updated = static_cast<const kernel_node_work&>(other).attributes;
    const bool has_priorities = flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    const bool is_same = attributes.is_cooperative() == updated.is_cooperative() &&
                         (!has_priorities || attributes.priority() == updated.priority());
    return is_same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
  }

  node_referent referent() const override {
    return {object_kind::function, number_of(launch_params().func)};
  }

  std::string title() const override {
    const auto p = launch_params();
    const auto match = the_driver().objects.find<function>(p.func);
    const auto name = match ? match->code().name() : std::string{"unloaded"};
    return escaped(name + "<<<" + list_text({p.gridDimX, p.gridDimY, p.gridDimZ}) + ";" +
                   list_text({p.blockDimX, p.blockDimY, p.blockDimZ}) + ";" +
                   std::to_string(p.sharedMemBytes) + ">>>");
  }

  void write_rows(dot_rows& rows) const override {
    const auto p = launch_params();
    if (rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) rows.add_address("func handle", p.func);
    if (rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS)) {
      rows.add("gridDim", {p.gridDimX, p.gridDimY, p.gridDimZ});
      rows.add("blockDim", {p.blockDimX, p.blockDimY, p.blockDimZ});
      rows.add("sharedMemBytes", {p.sharedMemBytes});
    }
    if (rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES)) {
      const auto cluster = attributes.get(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
      rows.add("cooperative", {attributes.is_cooperative()});
      rows.add("clusterDim", {cluster.x, cluster.y, cluster.z});
      rows.add("priority", std::to_string(attributes.priority()));
    }
  }

 private:
  // Returns the parameters with the function, also if the program named a library kernel.
  CUDA_KERNEL_NODE_PARAMS_v3 launch_params() const {
    CUgraphNodeParams params{};
    operation_work::describe(params);
    return params.kernel;
  }

  void describe(CUgraphNodeParams& params) const override {
    operation_work::describe(params);
    params.kernel.ctx = context_handle();
    params.kernel.kern = kernel_;
    if (kernel_) params.kernel.func = nullptr;
  }

  CUkernel kernel_;  // the kernel that the parameters named, if not a function
};

const kernel_node_work& work_of(const graph_node& node) {
  return static_cast<const kernel_node_work&>(*node.work);
}

// The function and context of a kernel node. A library kernel runs in the context of the parameters
// or in the current context.
struct resolved_kernel {
  std::shared_ptr<emulator::function> function;
  std::shared_ptr<emulator::context> context;
  CUkernel kernel;
};

resolved_kernel resolve_kernel(call& c, const CUDA_KERNEL_NODE_PARAMS_v3& p, bool checks_context) {
  require(p.func || p.kern, CUDA_ERROR_INVALID_VALUE, "the kernel of the node is null");
  const auto raw = p.func ? p.func : reinterpret_cast<CUfunction>(p.kern);
  const bool is_kernel =
      handle::is_ours(number_of(raw)) && handle::kind_of(number_of(raw)) == object_kind::kernel;
  if (is_kernel) {
    auto owner = context_or_current(c, p.ctx);
    return {function_of(c, raw, owner), owner, reinterpret_cast<CUkernel>(raw)};
  }
  auto target = function_of(c, raw, nullptr);
  auto owner = c.context_of(
      reinterpret_cast<CUcontext>(handle::encode(object_kind::context, target->context_id())));
  require(!checks_context || !p.ctx || c.context_of(p.ctx) == owner, CUDA_ERROR_INVALID_CONTEXT,
          "the function was loaded in a context other than the node's");
  return {std::move(target), std::move(owner), nullptr};
}

launch_shape shape_of(const CUDA_KERNEL_NODE_PARAMS_v3& p, const launch_attributes& attributes) {
  launch_shape shape;
  shape.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  shape.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  shape.dynamic_shared = p.sharedMemBytes;
  shape.apply(attributes);
  return shape;
}

std::shared_ptr<node_work> create_with(const node_request& request, launch_attributes attributes) {
  auto& c = request.c;
  const auto& p = request.params.kernel;
  const bool checks_context = request.context_from == context_source::checked_parameters;
  auto [target, owner, kernel] = resolve_kernel(c, p, checks_context);
  auto launch = make_launch(c, *target, shape_of(p, attributes), 0, p.kernelParams, p.extra);
  return std::make_shared<kernel_node_work>(std::move(launch), std::move(owner),
                                            std::move(attributes), kernel);
}

// A changed node retains its attributes.
std::shared_ptr<node_work> create(const node_request& request) {
  if (!request.current) return create_with(request, {});
  return create_with(request, static_cast<const kernel_node_work*>(request.current)->attributes);
}

// The versions of the struct have the same members.
CUgraphNodeParams* convert(const CUDA_KERNEL_NODE_PARAMS* p,
                           CUgraphNodeParams&& params = params_of(CU_GRAPH_NODE_TYPE_KERNEL)) {
  static_assert(sizeof *p == sizeof params.kernel);
  if (!p) return nullptr;
  std::memcpy(&params.kernel, p, sizeof *p);
  return &params;
}

std::shared_ptr<graph_node> kernel_node_of(const call& c, CUgraphNode raw) {
  auto node = node_of(c, raw);
  require(node->type() == CU_GRAPH_NODE_TYPE_KERNEL, CUDA_ERROR_INVALID_VALUE,
          "the node is not a kernel node");
  return node;
}

void require_known(CUkernelNodeAttrID id) {
  require(launch_attributes::applies_to_nodes(id), CUDA_ERROR_INVALID_VALUE,
          "kernel nodes have no such attribute");
}

// Sets attributes and checks the launch again, since its cluster or size may not fit them.
void set_attributes(call& c, graph_node& node, launch_attributes attributes) {
  auto params = node.work->parameters();
  node.work = create_with({c, node.owner(), params}, std::move(attributes));
}

}  // namespace

constexpr node_kind kernel_kind{
    .traits = {.type = CU_GRAPH_NODE_TYPE_KERNEL,
               .name = "KERNEL",
               .can_be_disabled = true,
               .runs_in_device_launches = true,
               .runs_in_bodies = true},
    .create = create,
};

std::shared_ptr<node_work> kernel_work(std::shared_ptr<operation> launch,
                                       launch_attributes attributes, CUkernel kernel) {
  return std::make_shared<kernel_node_work>(std::move(launch), nullptr, std::move(attributes),
                                            kernel);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 const CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return add_node({phGraphNode, hGraph, dependencies, numDependencies}, convert(nodeParams));
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode,
                                       CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return read(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, [](const CUgraphNodeParams& params) {
    CUDA_KERNEL_NODE_PARAMS result;
    std::memcpy(&result, &params.kernel, sizeof result);
    return result;
  });
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode,
                                       const CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return set_node(hNode, convert(nodeParams));
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS* nodeParams) noexcept {
  return set_exec_node(hGraphExec, hNode, convert(nodeParams));
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue* value_out) noexcept {
  return run_locked([&](call& c) {
    require_outputs(value_out);
    const auto node = kernel_node_of(c, hNode);
    require_known(attr);
    *value_out = work_of(*node).attributes.get(attr);
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
    auto attributes = work_of(*node).attributes;
    attributes.set(attr, *value);
    set_attributes(c, *node, std::move(attributes));
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) noexcept {
  return run_locked([&](call& c) {
    const auto to = kernel_node_of(c, dst), from = kernel_node_of(c, src);
    set_attributes(c, *to, work_of(*from).attributes);
  });
}

}  // namespace halfwarp::emulator::api
