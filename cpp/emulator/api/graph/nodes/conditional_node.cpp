// SPDX-License-Identifier: Apache-2.0
// Nodes that run one of their body graphs, which a conditional handle selects.
#include "emulator/api/graph/node_kinds.hpp"
#include "emulator/graph/dot/dot_rows.hpp"
#include "emulator/graph/plan.hpp"
#include "emulator/stream/schedule/hazards.hpp"

namespace halfwarp::emulator::api {
namespace {

// Number of instructions that one iteration of a while node counts as.
constexpr std::uint64_t iteration_cost = 1 << 16;

// The operation of a conditional node: reads the value of its handle when it executes and enqueues
// the selected body graph. A while node repeats this after the body completes.
class conditional_operation final : public operation {
 public:
  conditional_operation(std::shared_ptr<const conditional> selector,
                        CUgraphConditionalNodeType type, const node_launch& launch)
      : operation{operation_kind::bookkeeping},
        selector_{std::move(selector)},
        type_{type},
        bodies_{launch.bodies},
        scope_{launch.scope} {}

  failure execute(stream& target) override {
    driver& d = the_driver();
    if (target.owner().is_broken()) return {};
    const auto* const body = select_body();
    if (!body || (++iterations_ > 1 && type_ != CU_GRAPH_COND_TYPE_WHILE)) return {};
    if (iterations_ > d.settings.step_limit / iteration_cost) return endless_loop(target);
    const hazards::body_scope part{d.streams.hazards(), target, iterations_};
    pending_ = enqueue(d, *body, scope_, {});
    return {};
  }

  std::vector<stream_point> unfinished() override { return std::exchange(pending_, {}); }

 private:
  const plan* select_body() const {
    const auto value = selector_->value.load(std::memory_order_relaxed);
    std::size_t index = value;
    if (type_ == CU_GRAPH_COND_TYPE_WHILE) index = value ? 0 : bodies_.size();
    if (type_ == CU_GRAPH_COND_TYPE_IF) index = value ? 0 : 1;
    return index < bodies_.size() ? bodies_[index].get() : nullptr;
  }

  failure endless_loop(const stream& target) const {
    report::fault f;
    f.kind = report::fault_kind::step_limit;
    f.stream = target.number();
    f.detail =
        "a while node of a graph completed " + std::to_string(iterations_ - 1) + " iterations";
    f.hint = "look for a condition that no kernel sets to 0, or raise step_limit";
    f.seed = the_driver().settings.seed;
    return {report::code(f.kind), true, std::move(f)};
  }

  std::shared_ptr<const conditional> selector_;
  CUgraphConditionalNodeType type_;
  std::vector<std::shared_ptr<const plan>> bodies_;
  launch_scope scope_;
  std::uint64_t iterations_ = 0;
  std::vector<stream_point> pending_;
};

class conditional_work final : public node_work {
 public:
  conditional_work(std::shared_ptr<conditional> selector, CUgraphConditionalNodeType type,
                   std::shared_ptr<emulator::context> owner, graph_list bodies)
      : node_work{conditional_kind.traits, std::move(owner), std::move(bodies)},
        selector_{std::move(selector)},
        type_{type} {
    for (const auto& each : graphs) handles_.push_back(each->handle_as<CUgraph>());
  }

  std::shared_ptr<operation> make_operation(const node_launch& launch) const override {
    return std::make_shared<conditional_operation>(selector_, type_, launch);
  }

  CUgraphExecUpdateResult compare(const node_work& other, unsigned long long) const override {
    const auto& updated = static_cast<const conditional_work&>(other);
    const bool is_same = type_ == updated.type_ && graphs.size() == updated.graphs.size() &&
                         selector_->context() == updated.selector_->context();
    return is_same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  }

  std::shared_ptr<const node_work> with_graphs(graph_list list) const override {
    return std::make_shared<conditional_work>(selector_, type_, context, std::move(list));
  }

  std::shared_ptr<conditional> selector() const override { return selector_; }

  void write_rows(dot_rows& rows) const override {
    if (!rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS)) return;
    constexpr const char* names[] = {"IF", "WHILE", "SWITCH"};
    rows.add_address("handle", selector_->handle_as<std::uint64_t>());
    rows.add("type", names[type_]);
    rows.add("size", {graphs.size()});
  }

 private:
  void describe(CUgraphNodeParams& params) const override {
    params.conditional = {selector_->handle_as<CUgraphConditionalHandle>(), type_,
                          static_cast<unsigned>(graphs.size()), handles_.data(),
                          context->handle_as<CUcontext>()};
  }

  std::shared_ptr<conditional> selector_;
  CUgraphConditionalNodeType type_;
  mutable std::vector<CUgraph> handles_;  // of the bodies, for the program
};

bool is_size_of(CUgraphConditionalNodeType type, unsigned size) {
  switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
      return size == 1 || size == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
      return size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
      return size > 0;
    default:
      return false;
  }
}

constexpr unsigned most_bodies = 1u << 20;  // more would fill the memory of the host

std::shared_ptr<node_work> create(const node_request& request) {
  auto& [c, owner, params, current, context_from] = request;
  auto& p = params.conditional;
  const auto handle = c.find<conditional>(p.handle, CUDA_ERROR_INVALID_VALUE);
  require(owner.has_handle(*handle), CUDA_ERROR_INVALID_VALUE,
          "the conditional handle was created for another graph");
  require(!handle->has_node, CUDA_ERROR_INVALID_VALUE, "the conditional handle already has a node");
  require(is_size_of(p.type, p.size), CUDA_ERROR_INVALID_VALUE,
          "an if node has one or two bodies, a while node one, a switch node at least one");
  require(p.size <= most_bodies, CUDA_ERROR_OUT_OF_MEMORY,
          "the emulator creates at most 1,048,576 bodies for a node");
  const auto context_of_node = context_or_current(c, p.ctx);
  require(context_of_node->id() == handle->context(), CUDA_ERROR_INVALID_VALUE,
          "the conditional handle was created in another context");
  graph_list bodies;
  for (unsigned i = 0; i < p.size; ++i) {
    bodies.push_back(c.d.objects.make<graph>());
    bodies.back()->assign_to_node(graph_owner::conditional_node, owner);
  }
  handle->has_node = true;
  auto work =
      std::make_shared<conditional_work>(handle, p.type, context_of_node, std::move(bodies));
  p.phGraph_out = work->parameters().conditional.phGraph_out;
  return work;
}

}  // namespace

constexpr node_kind conditional_kind{
    .traits = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
               .name = "CONDITIONAL",
               .runs_in_bodies = true},
    .create = create,
    .has_fixed_parameters = true,
};

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* pHandle_out, CUgraph hGraph,
                                        CUcontext ctx, unsigned int defaultLaunchValue,
                                        unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pHandle_out);
    require(flags == 0 || flags == CU_GRAPH_COND_ASSIGN_DEFAULT, CUDA_ERROR_INVALID_VALUE,
            "the flags are 0 or CU_GRAPH_COND_ASSIGN_DEFAULT");
    const auto target = graph_of(c, hGraph);
    const auto launch_value = flags ? std::optional{defaultLaunchValue} : std::nullopt;
    auto handle = c.d.objects.make<conditional>(context_or_current(c, ctx)->id(), launch_value);
    handle->is_library_owned = true;  // destroyed with its graph
    *pHandle_out = handle->handle_as<CUgraphConditionalHandle>();
    target->conditions.push_back(std::make_shared<conditional_lease>(c.d, std::move(handle)));
  });
}

}  // namespace halfwarp::emulator::api
