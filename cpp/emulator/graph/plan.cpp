// SPDX-License-Identifier: Apache-2.0
// Creates plans and enqueues their steps.
#include "emulator/graph/plan.hpp"

#include <algorithm>
#include <utility>

#include "emulator/work/operations.hpp"

namespace halfwarp::emulator {
namespace {

stream& stream_for(driver& d, const plan_step& step, const launch_scope& scope) {
  std::optional<int> priority;
  if (scope.uses_node_priorities && step.work) priority = step.work->priority();
  const auto& owner = step.work && step.work->context ? step.work->context : scope.context;
  auto& match = scope.streams->get(d, step.branch, owner, priority.value_or(scope.priority));
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
      auto work = node->is_enabled ? node->work : nullptr;
      if (work && !work->graphs.empty() && !work->selector()) {
        node_dependencies = flatten(*work->graphs.front(), node_dependencies);
        work = nullptr;  // joins the leaves of the child graph
      }
      const auto index = add(std::move(work), std::move(node_dependencies));
      for (auto* const each : dependents[node]) dependency_steps[each].push_back(index);
      if (dependents[node].empty()) leaves.push_back(index);
    }
    return leaves.empty() ? dependencies : leaves;
  }

  // Adds a step. It continues the branch of the first dependency that is the tail of its branch.
  std::size_t add(std::shared_ptr<const node_work> work, std::vector<std::size_t> dependencies) {
    const auto index = result_.steps.size();
    const auto tail = std::ranges::find_if(dependencies, [&](std::size_t dependency) {
      return tails_[result_.steps[dependency].branch] == dependency;
    });
    const auto branch = tail == dependencies.end() ? branches_++ : result_.steps[*tail].branch;
    tails_[branch] = index;
    plan_step step{std::move(work), std::move(dependencies), branch, {}};
    if (step.work) {
      for (const auto& body : step.work->graphs) step.bodies.push_back(plan_body(*body));
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

std::shared_ptr<operation> node_work::make_operation(const node_launch&) const {
  return std::make_shared<marker>();
}

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
    auto work = step.work ? step.work->make_operation({scope, step.bodies, target, waits})
                          : std::make_shared<marker>();
    reached.push_back(d.streams.enqueue(target, std::move(work), std::move(waits)));
  }
  std::vector<stream_point> ends;
  for (const auto leaf : source.leaves) ends.push_back(reached[leaf]);
  return ends;
}

}  // namespace halfwarp::emulator
