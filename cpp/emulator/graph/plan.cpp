// SPDX-License-Identifier: Apache-2.0
// Creates plans and enqueues their steps.
#include "emulator/graph/plan.hpp"

#include <algorithm>
#include <utility>

#include "emulator/work/operations.hpp"

namespace halfwarp::emulator {
namespace {

// Number of instructions that one iteration of a while node counts as.
constexpr std::uint64_t iteration_cost = 1 << 16;

// The operation of a conditional node: reads the value of its handle when it executes and enqueues
// the selected body graph. A while node repeats this after the body completes.
class conditional_operation final : public operation {
 public:
  conditional_operation(const plan_step& step, launch_scope scope)
      : operation{operation_kind::bookkeeping},
        branches_{step.work.branches},
        bodies_{step.bodies},
        scope_{std::move(scope)} {}

  failure execute(stream& target) override {
    driver& d = the_driver();
    if (target.owner().is_broken()) return {};
    const auto* const body = select_body();
    if (!body || (++iterations_ > 1 && branches_->type != CU_GRAPH_COND_TYPE_WHILE)) return {};
    if (iterations_ > d.settings.step_limit / iteration_cost) return endless_loop(target);
    pending_ = enqueue(d, *body, scope_, {});
    return {};
  }

  std::vector<stream_point> unfinished() override { return std::exchange(pending_, {}); }

 private:
  const plan* select_body() const {
    const auto value = branches_->selector->value.load(std::memory_order_relaxed);
    std::size_t index = value;
    if (branches_->type == CU_GRAPH_COND_TYPE_WHILE) index = value ? 0 : bodies_.size();
    if (branches_->type == CU_GRAPH_COND_TYPE_IF) index = value ? 0 : 1;
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

  std::shared_ptr<const node_branches> branches_;
  std::vector<std::shared_ptr<const plan>> bodies_;
  launch_scope scope_;
  std::uint64_t iterations_ = 0;
  std::vector<stream_point> pending_;
};

// Returns the operation of a step, and adds its further waits to `waits`.
std::shared_ptr<operation> operation_of(const plan_step& step, const launch_scope& scope,
                                        stream& target, std::vector<stream_point>& waits) {
  const auto& work = step.work;
  switch (work.type) {
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return std::make_shared<record_event>(
          work.event->record_at({target.as_shared(), target.enqueued() + 1}));
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: {
      auto wait = make_wait(*work.event, waits, true);
      return wait ? wait : std::make_shared<marker>();
    }
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return make_activation(work.memory);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return make_deactivation(work.memory, scope.site);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return std::make_shared<conditional_operation>(step, scope);
    default:
      return work.operation ? work.operation : std::make_shared<marker>();
  }
}

stream& stream_for(driver& d, const plan_step& step, const launch_scope& scope) {
  const bool uses_node_priority =
      scope.uses_node_priorities && step.work.type == CU_GRAPH_NODE_TYPE_KERNEL;
  const int priority = uses_node_priority ? step.work.attributes.priority() : scope.priority;
  auto& match = scope.streams->get(d, step.branch,
                                   step.work.context ? step.work.context : scope.context, priority);
  match.shown_number = scope.number;
  return match;
}

class planner {
 public:
  explicit planner(std::size_t& branches) : branches_{branches} {}

  // Adds the steps of a graph, whose roots depend on `dependencies`; returns the leaves.
  std::vector<std::size_t> flatten(const graph& source,
                                   const std::vector<std::size_t>& dependencies) {
    std::map<const graph_node*, std::vector<std::size_t>> dependency_steps;
    std::map<const graph_node*, std::vector<graph_node*>> dependents;
    for (const auto& e : source.edges()) dependents[e.from].push_back(e.to);
    std::vector<std::size_t> leaves;
    for (auto* const node : source.topological_order()) {
      auto node_dependencies = std::move(dependency_steps[node]);
      if (node_dependencies.empty()) node_dependencies = dependencies;
      auto work = node->is_enabled ? node->work : node_work{};
      if (work.child) {
        node_dependencies = flatten(*work.child, node_dependencies);
        work = {};  // joins the leaves of the child graph
      }
      const auto index = add(std::move(work), std::move(node_dependencies));
      for (auto* const each : dependents[node]) dependency_steps[each].push_back(index);
      if (dependents[node].empty()) leaves.push_back(index);
    }
    return leaves.empty() ? dependencies : leaves;
  }

  // Adds a step. It continues the branch of the first dependency that is the tail of its branch.
  std::size_t add(node_work work, std::vector<std::size_t> dependencies) {
    const auto index = result_.steps.size();
    const auto tail = std::ranges::find_if(dependencies, [&](std::size_t dependency) {
      return tails_[result_.steps[dependency].branch] == dependency;
    });
    const auto branch = tail == dependencies.end() ? branches_++ : result_.steps[*tail].branch;
    tails_[branch] = index;
    plan_step step{std::move(work), std::move(dependencies), branch, {}};
    if (step.work.branches) {
      for (const auto& body : step.work.branches->bodies) step.bodies.push_back(plan_body(*body));
    }
    result_.steps.push_back(std::move(step));
    return index;
  }

  plan take(std::vector<std::size_t> leaves) {
    result_.leaves = std::move(leaves);
    return std::move(result_);
  }

 private:
  // Gives an empty body one step, so that an empty loop yields to other streams.
  std::shared_ptr<const plan> plan_body(const graph& source) {
    planner inner{branches_};
    auto leaves = inner.flatten(source, {});
    if (leaves.empty()) leaves.push_back(inner.add({}, {}));
    return std::make_shared<const plan>(inner.take(std::move(leaves)));
  }

  std::size_t& branches_;
  std::map<std::size_t, std::size_t> tails_;  // last step of each branch
  plan result_;
};

}  // namespace

std::shared_ptr<const plan> make_plan(const graph& source, std::size_t& branches) {
  planner builder{branches};
  auto leaves = builder.flatten(source, {});
  return std::make_shared<const plan>(builder.take(std::move(leaves)));
}

stream& branch_streams::get(driver& d, std::size_t branch, const std::shared_ptr<context>& owner,
                            int priority) {
  auto& entry = streams_[{branch, owner->id(), priority}];
  if (!entry) {
    entry = d.objects.make<stream>(owner, stream_role::created, CU_STREAM_NON_BLOCKING, priority);
    entry->is_library_owned = true;
    if (is_closed_) d.objects.remove(*entry);
  }
  return *entry;
}

void branch_streams::close(driver& d) {
  is_closed_ = true;
  for (const auto& [key, each] : streams_) d.objects.remove(*each);
}

std::vector<stream_point> enqueue(driver& d, const plan& source, const launch_scope& scope,
                                  const stream_point& start) {
  std::vector<stream_point> reached;
  for (const auto& step : source.steps) {
    auto& target = stream_for(d, step, scope);
    std::vector<stream_point> waits;
    for (const auto dependency : step.dependencies) waits.push_back(reached[dependency]);
    if (waits.empty()) waits.push_back(start);
    auto work = operation_of(step, scope, target, waits);
    reached.push_back(d.streams.enqueue(target, std::move(work), std::move(waits)));
  }
  std::vector<stream_point> ends;
  for (const auto leaf : source.leaves) ends.push_back(reached[leaf]);
  return ends;
}

}  // namespace halfwarp::emulator
