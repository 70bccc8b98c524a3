// SPDX-License-Identifier: Apache-2.0
// Making plans, and enqueueing their steps.
#include "emulator/graph/plan.hpp"

#include <algorithm>
#include <utility>

#include "emulator/work/operations.hpp"

namespace halfwarp::emulator {
namespace {

// Thread-instructions that a turn of a loop counts as, for a loop of nothing.
constexpr std::uint64_t turn_cost = 1 << 16;

// A conditional node: reads the value of its handle when its turn comes, and enqueues the graph
// that this chooses; a loop does so again when that graph is done.
class choice final : public operation {
 public:
  choice(const plan_step& step, launch_scope in)
      : operation{operation_kind::bookkeeping},
        of_{step.work.branches},
        bodies_{step.bodies},
        in_{std::move(in)} {}

  failure execute(stream& at) override {
    driver& d = the_driver();
    if (at.owner().is_broken()) return {};
    const auto* const chosen = choose();
    if (!chosen || (++turns_ > 1 && of_->type != CU_GRAPH_COND_TYPE_WHILE)) return {};
    if (turns_ > d.settings.step_limit / turn_cost) return endless(at);
    ends_ = enqueue(d, *chosen, in_, {});
    return {};
  }

  std::vector<stream_point> unfinished() override { return std::exchange(ends_, {}); }

 private:
  const plan* choose() const {
    const auto value = of_->decides->value.load(std::memory_order_relaxed);
    std::size_t index = value;
    if (of_->type == CU_GRAPH_COND_TYPE_WHILE) index = value ? 0 : bodies_.size();
    if (of_->type == CU_GRAPH_COND_TYPE_IF) index = value ? 0 : 1;
    return index < bodies_.size() ? bodies_[index].get() : nullptr;
  }

  failure endless(const stream& at) const {
    report::fault f;
    f.kind = report::fault_kind::step_limit;
    f.stream = at.number();
    f.detail = "a while node of a graph went round " + std::to_string(turns_ - 1) + " times";
    f.hint = "look for a condition that no kernel sets to 0, or raise step_limit";
    f.seed = the_driver().settings.seed;
    return {report::code(f.kind), true, std::move(f)};
  }

  std::shared_ptr<const node_branches> of_;
  std::vector<std::shared_ptr<const plan>> bodies_;
  launch_scope in_;
  std::uint64_t turns_ = 0;
  std::vector<stream_point> ends_;
};

// The operation of a step, and what else it waits for.
std::shared_ptr<operation> operation_of(const plan_step& step, const launch_scope& in, stream& to,
                                        std::vector<stream_point>& waits) {
  const auto& work = step.work;
  switch (work.type) {
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return std::make_shared<record_event>(
          work.recorded->record_at({to.as_shared(), to.enqueued() + 1}));
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: {
      auto waiting = make_wait(*work.recorded, waits);
      return waiting ? waiting : std::make_shared<marker>();
    }
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return make_appearance(work.memory);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return make_disappearance(work.memory, in.site);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return std::make_shared<choice>(step, in);
    default:
      return work.done ? work.done : std::make_shared<marker>();
  }
}

stream& stream_for(driver& d, const plan_step& step, const launch_scope& in) {
  const bool has_own = in.uses_node_priorities && step.work.type == CU_GRAPH_NODE_TYPE_KERNEL;
  const int priority = has_own ? step.work.attributes.priority() : in.priority;
  auto& found =
      in.streams->of(d, step.branch, step.work.where ? step.work.where : in.where, priority);
  found.shown_number = in.number;
  return found;
}

class planner {
 public:
  explicit planner(std::size_t& branches) : branches_{branches} {}

  // The steps of a graph whose roots wait for others; the last ones come back.
  std::vector<std::size_t> flatten(const graph& of, const std::vector<std::size_t>& after) {
    std::map<const graph_node*, std::vector<std::size_t>> earlier;
    std::map<const graph_node*, std::vector<graph_node*>> later;
    for (const auto& e : of.edges()) later[e.from].push_back(e.to);
    std::vector<std::size_t> last;
    for (auto* const node : of.in_order()) {
      auto before = std::move(earlier[node]);
      if (before.empty()) before = after;
      auto work = node->is_enabled ? node->work : node_work{};
      if (work.child) {
        before = flatten(*work.child, before);
        work = {};  // joins what is in it
      }
      const auto index = add(std::move(work), std::move(before));
      for (auto* const each : later[node]) earlier[each].push_back(index);
      if (later[node].empty()) last.push_back(index);
    }
    return last.empty() ? after : last;
  }

  // A step goes on in the branch of its first dependency when nothing else has yet.
  std::size_t add(node_work work, std::vector<std::size_t> after) {
    const auto index = made_.steps.size();
    const auto free = std::ranges::find_if(
        after, [&](std::size_t earlier) { return tails_[made_.steps[earlier].branch] == earlier; });
    const auto in = free == after.end() ? branches_++ : made_.steps[*free].branch;
    tails_[in] = index;
    plan_step step{std::move(work), std::move(after), in, {}};
    if (step.work.branches) {
      for (const auto& body : step.work.branches->bodies) step.bodies.push_back(plan_body(*body));
    }
    made_.steps.push_back(std::move(step));
    return index;
  }

  plan take(std::vector<std::size_t> leaves) {
    made_.leaves = std::move(leaves);
    return std::move(made_);
  }

 private:
  // One turn of a loop takes at least one step, so that a loop of nothing gives way to others.
  std::shared_ptr<const plan> plan_body(const graph& of) {
    planner inner{branches_};
    auto leaves = inner.flatten(of, {});
    if (leaves.empty()) leaves.push_back(inner.add({}, {}));
    return std::make_shared<const plan>(inner.take(std::move(leaves)));
  }

  std::size_t& branches_;
  std::map<std::size_t, std::size_t> tails_;  // of each branch: its last step
  plan made_;
};

}  // namespace

std::shared_ptr<const plan> make_plan(const graph& of, std::size_t& branches) {
  planner one{branches};
  auto leaves = one.flatten(of, {});
  return std::make_shared<const plan>(one.take(std::move(leaves)));
}

stream& branch_streams::of(driver& d, std::size_t branch, const std::shared_ptr<context>& where,
                           int priority) {
  auto& found = made_[{branch, where->id(), priority}];
  if (!found) {
    found = d.objects.make<stream>(where, stream_role::created, CU_STREAM_NON_BLOCKING, priority);
    found->is_library_owned = true;
    if (is_closed_) d.objects.remove(*found);
  }
  return *found;
}

void branch_streams::close(driver& d) {
  is_closed_ = true;
  for (const auto& [key, each] : made_) d.objects.remove(*each);
}

std::vector<stream_point> enqueue(driver& d, const plan& what, const launch_scope& in,
                                  const stream_point& start) {
  std::vector<stream_point> reached;
  for (const auto& step : what.steps) {
    auto& to = stream_for(d, step, in);
    std::vector<stream_point> waits;
    for (const auto earlier : step.after) waits.push_back(reached[earlier]);
    if (waits.empty()) waits.push_back(start);
    auto work = operation_of(step, in, to, waits);
    reached.push_back(d.streams.enqueue(to, std::move(work), std::move(waits)));
  }
  std::vector<stream_point> ends;
  for (const auto leaf : what.leaves) ends.push_back(reached[leaf]);
  return ends;
}

}  // namespace halfwarp::emulator
