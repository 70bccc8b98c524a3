// SPDX-License-Identifier: Apache-2.0
// Nodes and edges of graphs.
#include "emulator/graph/graph.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "emulator/settings/refusal.hpp"

namespace halfwarp::emulator {
namespace {

// Ends the graph of a node.
void end(driver& d, graph& inner) {
  inner.clear(d);
  d.objects.remove(inner);
}

void end_inner(driver& d, const node_work& of) {
  if (of.child) end(d, *of.child);
  if (of.branches) {
    for (const auto& each : of.branches->bodies) end(d, *each);
  }
}

// A node that appears twice would be two edges between the same nodes.
bool has_twice(std::span<graph_node* const> nodes) {
  const std::set<const graph_node*> different{nodes.begin(), nodes.end()};
  return different.size() != nodes.size();
}

std::shared_ptr<graph> clone_inner(driver& d, const graph& of, graph_owner owner, const graph& in) {
  auto made = clone(d, of);
  made->give_to_node(owner, in);
  return made;
}

// The graphs of a node belong to it alone.
void part(driver& d, node_work& cloned, const graph& in) {
  if (cloned.child) cloned.child = clone_inner(d, *cloned.child, graph_owner::child_node, in);
  if (!cloned.branches) return;
  auto own = std::make_shared<node_branches>(*cloned.branches);
  own->handles.clear();
  for (auto& each : own->bodies) {
    each = clone_inner(d, *each, graph_owner::conditional_node, in);
    own->handles.push_back(each->handle_as<CUgraph>());
  }
  cloned.branches = std::move(own);
}

}  // namespace

void graph::require_dependencies(std::span<graph_node* const> after) const {
  for (const auto* each : after) {
    require(&each->in() == this, CUDA_ERROR_INVALID_VALUE, "a dependency is in another graph");
  }
  require(!has_twice(after), CUDA_ERROR_INVALID_VALUE, "a dependency is named twice");
}

graph_node& graph::add(driver& d, node_work work, std::span<graph_node* const> after,
                       std::span<const CUgraphEdgeData> data, const graph_node* original) {
  require_dependencies(after);
  nodes_.push_back(d.objects.make<graph_node>(*this, places_++, std::move(work), original));
  auto& made = *nodes_.back();
  for (std::size_t i = 0; i < after.size(); ++i) {
    edges_.push_back({after[i], &made, data.empty() ? CUgraphEdgeData{} : data[i]});
  }
  return made;
}

void graph::connect(graph_node& from, graph_node& to, const CUgraphEdgeData& data) {
  require(&from.in() == this && &to.in() == this, CUDA_ERROR_INVALID_VALUE,
          "a node is in another graph");
  const bool is_known = std::ranges::any_of(
      edges_, [&](const graph_edge& e) { return e.from == &from && e.to == &to; });
  require(!is_known && &from != &to, CUDA_ERROR_INVALID_VALUE,
          "the dependency is there already, or of a node on itself");
  edges_.push_back({&from, &to, data});
}

void graph::disconnect(graph_node& from, graph_node& to, const CUgraphEdgeData* data) {
  const auto gone = std::ranges::find_if(edges_, [&](const graph_edge& e) {
    const bool is_same = !data || std::memcmp(data, &e.data, sizeof e.data) == 0;
    return e.from == &from && e.to == &to && is_same;
  });
  require(gone != edges_.end(), CUDA_ERROR_INVALID_VALUE, "there is no such dependency");
  edges_.erase(gone);
}

void graph::remove(driver& d, graph_node& gone) {
  std::erase_if(edges_, [&](const graph_edge& e) { return e.from == &gone || e.to == &gone; });
  gone.is_removed = true;
  if (gone.work.branches) gone.work.branches->decides->has_node = false;
  d.objects.remove(gone);
  end_inner(d, gone.work);
  std::erase_if(nodes_, [&](const auto& each) { return each.get() == &gone; });
}

void graph::clear(driver& d) {
  edges_.clear();
  for (const auto& each : std::exchange(nodes_, {})) {
    each->is_removed = true;
    d.objects.remove(*each);
    end_inner(d, each->work);
    if (each->work.type == CU_GRAPH_NODE_TYPE_MEM_FREE) forget_free(*each->work.memory);
  }
  conditions.clear();
  references.clear();
}

// Another graph may free what a graph that is gone would have.
void graph::forget_free(graph_memory& of) const noexcept {
  if (of.freed_in == id() && of.allocated_in != id()) of.freed_in = 0;
}

std::vector<graph_edge> graph::edges_to(const graph_node& node) const {
  std::vector<graph_edge> found;
  std::ranges::copy_if(edges_, std::back_inserter(found),
                       [&](const graph_edge& e) { return e.to == &node; });
  return found;
}

std::vector<graph_edge> graph::edges_from(const graph_node& node) const {
  std::vector<graph_edge> found;
  std::ranges::copy_if(edges_, std::back_inserter(found),
                       [&](const graph_edge& e) { return e.from == &node; });
  return found;
}

std::vector<graph_node*> graph::roots() const {
  std::set<const graph_node*> dependent;
  for (const auto& e : edges_) dependent.insert(e.to);
  std::vector<graph_node*> found;
  for (const auto& each : nodes_) {
    if (!dependent.contains(each.get())) found.push_back(each.get());
  }
  return found;
}

std::vector<graph_node*> graph::in_order() const {
  struct place {
    std::size_t missing = 0;
    std::vector<graph_node*> next = {};
  };
  std::map<const graph_node*, place> places;
  for (const auto& e : edges_) {
    ++places[e.to].missing;
    places[e.from].next.push_back(e.to);
  }
  auto order = roots();
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (auto* const each : places[order[i]].next) {
      if (--places[each].missing == 0) order.push_back(each);
    }
  }
  return order;
}

bool graph::leads_to(const graph_node& earlier, std::span<graph_node* const> later) const {
  std::set<const graph_node*> seen{later.begin(), later.end()};
  std::vector<const graph_node*> todo{later.begin(), later.end()};
  while (!todo.empty()) {
    const auto* const next = todo.back();
    todo.pop_back();
    if (next == &earlier) return true;
    for (const auto& e : edges_) {
      if (e.to == next && seen.insert(e.from).second) todo.push_back(e.from);
    }
  }
  return false;
}

void graph::for_each_inner(const std::function<void(const graph&)>& visit) const {
  const auto enter = [&](const graph& inner) {
    visit(inner);
    inner.for_each_inner(visit);
  };
  for (const auto& each : nodes_) {
    if (each->work.child) enter(*each->work.child);
    if (!each->work.branches) continue;
    for (const auto& body : each->work.branches->bodies) enter(*body);
  }
}

bool graph::has_nodes_of(CUgraphNodeType type) const {
  const auto has = [type](const graph& in) {
    return std::ranges::any_of(in.nodes_, [&](const auto& n) { return n->work.type == type; });
  };
  bool found = has(*this);
  for_each_inner([&](const graph& inner) { found = found || has(inner); });
  return found;
}

void graph::give_to_node(graph_owner of, const graph& in) noexcept {
  owner_ = of;
  outer_ = &in;
  is_library_owned = true;
}

bool graph::is_in_condition() const noexcept {
  return owner_ == graph_owner::conditional_node || (outer_ && outer_->is_in_condition());
}

bool graph::knows(const conditional& handle) const {
  const graph* top = this;
  while (top->outer_) top = top->outer_;
  const auto has = [&](const graph& in) {
    return std::ranges::any_of(in.conditions,
                               [&](const auto& each) { return each->of().get() == &handle; });
  };
  bool found = has(*top);
  top->for_each_inner([&](const graph& inner) { found = found || has(inner); });
  return found;
}

void graph::take_edges(const graph& of, const std::map<const graph_node*, graph_node*>& twins) {
  for (const auto& e : of.edges_) edges_.push_back({twins.at(e.from), twins.at(e.to), e.data});
}

std::shared_ptr<graph> clone(driver& d, const graph& of) {
  const auto made = d.objects.make<graph>(&of);
  made->references = of.references;
  made->conditions = of.conditions;
  std::map<const graph_node*, graph_node*> twins;
  for (const auto& each : of.nodes()) {
    auto work = each->work;
    part(d, work, *made);
    twins[each.get()] = &made->add(d, std::move(work), {}, {}, each.get());
    twins[each.get()]->is_enabled = each->is_enabled;
  }
  made->take_edges(of, twins);
  return made;
}

}  // namespace halfwarp::emulator
