// SPDX-License-Identifier: Apache-2.0
// Instantiation and launch.
#include "emulator/graph/graph_exec.hpp"

#include <algorithm>
#include <map>

#include "emulator/work/operations.hpp"

namespace halfwarp::emulator {

graph_exec::graph_exec(driver&, std::shared_ptr<graph> source, unsigned long long flags)
    : object{kind_of}, source_{std::move(source)}, flags_{flags} {
  source_->is_library_owned = true;
  leaves_ = flatten(*source_, {});
  streams_.resize(branches_);
}

graph_node* graph_exec::twin_of(const graph_node& node) const noexcept {
  const auto found = std::ranges::find(source_->nodes(), node.id(), &graph_node::original);
  return found == source_->nodes().end() ? nullptr : found->get();
}

// A step goes on in the branch of its first dependency when nothing else has yet.
std::size_t graph_exec::add_step(graph_node* node, std::vector<std::size_t> after) {
  const auto index = steps_.size();
  const auto free = std::ranges::find_if(
      after, [&](std::size_t earlier) { return tails_[steps_[earlier].branch] == earlier; });
  const auto in = free == after.end() ? branches_++ : steps_[*free].branch;
  tails_.resize(branches_);
  tails_[in] = index;
  steps_.push_back({node, std::move(after), in});
  return index;
}

// The steps of a graph whose roots wait for others; the last ones come back.
std::vector<std::size_t> graph_exec::flatten(const graph& of,
                                             const std::vector<std::size_t>& after) {
  std::map<const graph_node*, std::size_t> made;
  for (auto* const node : of.in_order()) {
    std::vector<std::size_t> earlier;
    for (const auto& e : of.edges_to(*node)) earlier.push_back(made[e.from]);
    if (earlier.empty()) earlier = after;
    if (node->work.child) {
      made[node] = add_step(nullptr, flatten(*node->work.child, earlier));
    } else {
      made[node] = add_step(node, std::move(earlier));
    }
  }
  std::vector<std::size_t> last;
  for (const auto& each : of.nodes()) {
    if (of.edges_from(*each).empty()) last.push_back(made[each.get()]);
  }
  return last.empty() ? after : last;
}

stream& graph_exec::branch(driver& d, std::size_t index, const std::shared_ptr<context>& where) {
  for (const auto& each : streams_[index]) {
    if (each->shared_owner() == where) return *each;
  }
  const auto made = d.objects.make<stream>(where, stream_role::created, CU_STREAM_NON_BLOCKING, 0);
  made->is_library_owned = true;
  return *streams_[index].emplace_back(made);
}

stream_point graph_exec::submit(driver& d, driver_guard& guard, const step& what, stream& to,
                                std::vector<stream_point> waits) {
  std::shared_ptr<operation> work;
  if (what.node) {
    const auto& node = what.node->work;
    work = node.done;
    if (node.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
      node.recorded->last =
          std::make_shared<event_record>(event_record{{to.as_shared(), to.enqueued() + 1}});
      work = std::make_shared<record_event>(node.recorded->last);
    } else if (node.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT && node.recorded->last) {
      waits.push_back(node.recorded->last->at);
    }
  }
  if (!work) work = std::make_shared<marker>();
  return d.streams.submit(guard, to, std::move(work), std::move(waits));
}

void graph_exec::launch(driver& d, driver_guard& guard, stream& in) {
  const auto start = d.streams.submit(guard, in, std::make_shared<marker>(), {last_});
  std::vector<stream_point> reached;
  for (const auto& each : steps_) {
    const auto& where = each.node ? each.node->work.where : nullptr;
    auto& to = branch(d, each.branch, where ? where : in.shared_owner());
    to.shown_number = in.number();
    std::vector<stream_point> waits;
    for (const auto earlier : each.after) waits.push_back(reached[earlier]);
    if (waits.empty()) waits.push_back(start);
    reached.push_back(submit(d, guard, each, to, std::move(waits)));
  }
  std::vector<stream_point> ends;
  for (const auto leaf : leaves_) ends.push_back(reached[leaf]);
  last_ = d.streams.submit(guard, in, std::make_shared<marker>(), std::move(ends));
}

// What is queued goes on: it holds what it needs.
void graph_exec::close(driver& d) {
  for (const auto& all : streams_) {
    for (const auto& each : all) d.objects.remove(*each);
  }
  source_->clear(d);
  d.objects.remove(*source_);
}

}  // namespace halfwarp::emulator
