// SPDX-License-Identifier: Apache-2.0
// Nodes and edges of graphs.
#include "emulator/graph/graph.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "emulator/settings/refusal.hpp"

namespace halfwarp::emulator {

graph_node& graph::add(driver& d, node_work work, std::span<graph_node* const> after,
                       std::span<const CUgraphEdgeData> data, const graph_node* original) {
  for (const auto* each : after) {
    require(&each->in() == this, CUDA_ERROR_INVALID_VALUE, "a dependency is in another graph");
  }
  nodes_.push_back(d.objects.make<graph_node>(*this, std::move(work), original));
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

void graph::disconnect(graph_node& from, graph_node& to) {
  const auto gone = std::ranges::find_if(
      edges_, [&](const graph_edge& e) { return e.from == &from && e.to == &to; });
  require(gone != edges_.end(), CUDA_ERROR_INVALID_VALUE, "there is no such dependency");
  edges_.erase(gone);
}

void graph::remove(driver& d, graph_node& gone) {
  std::erase_if(edges_, [&](const graph_edge& e) { return e.from == &gone || e.to == &gone; });
  d.objects.remove(gone);
  if (gone.work.child) {
    gone.work.child->clear(d);
    d.objects.remove(*gone.work.child);
  }
  std::erase_if(nodes_, [&](const auto& each) { return each.get() == &gone; });
}

void graph::clear(driver& d) {
  while (!nodes_.empty()) remove(d, *nodes_.back());
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
  std::vector<graph_node*> found;
  for (const auto& each : nodes_) {
    const auto has_dependency = [&](const graph_edge& e) { return e.to == each.get(); };
    if (std::ranges::none_of(edges_, has_dependency)) found.push_back(each.get());
  }
  return found;
}

std::vector<graph_node*> graph::in_order() const {
  std::map<const graph_node*, std::size_t> missing;
  for (const auto& e : edges_) ++missing[e.to];
  auto order = roots();
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const auto& e : edges_) {
      if (e.from == order[next] && --missing[e.to] == 0) order.push_back(e.to);
    }
  }
  require(order.size() == nodes_.size(), CUDA_ERROR_INVALID_VALUE,
          "the dependencies of the graph form a cycle");
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

std::shared_ptr<graph> clone(driver& d, const graph& of) {
  const auto made = d.objects.make<graph>(&of);
  std::map<const graph_node*, graph_node*> twins;
  for (const auto& each : of.nodes()) {
    auto work = each->work;
    if (work.child) {
      work.child = clone(d, *work.child);
      work.child->is_child = work.child->is_library_owned = true;
    }
    twins[each.get()] = &made->add(d, std::move(work), {}, {}, each.get());
  }
  for (const auto& e : of.edges()) made->connect(*twins[e.from], *twins[e.to], e.data);
  return made;
}

}  // namespace halfwarp::emulator
