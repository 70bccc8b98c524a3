// SPDX-License-Identifier: Apache-2.0
// Adds, removes, connects and clones nodes of graphs.
#include "emulator/graph/graph.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "emulator/settings/refusal.hpp"

namespace halfwarp::emulator {
namespace {

// Returns whether a node appears twice, which would duplicate an edge.
bool has_duplicate(std::span<graph_node* const> nodes) {
  const std::set<const graph_node*> different{nodes.begin(), nodes.end()};
  return different.size() != nodes.size();
}

// Returns the work of a cloned node. A node owns its graphs, so the clone owns clones of them.
std::shared_ptr<const node_work> clone(driver& d, std::shared_ptr<const node_work> work,
                                       const graph& outer) {
  if (work->graphs.empty()) return work;
  graph_list clones;
  for (const auto& each : work->graphs) {
    clones.push_back(clone(d, *each));
    clones.back()->assign_to_node(each->owner(), outer);
  }
  return work->with_graphs(std::move(clones));
}

}  // namespace

void destroy_graphs(driver& d, const node_work& work) {
  for (const auto& each : work.graphs) {
    each->clear(d);
    d.objects.remove(*each);
  }
}

void graph::require_dependencies(std::span<graph_node* const> dependencies) const {
  for (const auto* each : dependencies) {
    require(&each->owner() == this, CUDA_ERROR_INVALID_VALUE, "a dependency is in another graph");
  }
  require(!has_duplicate(dependencies), CUDA_ERROR_INVALID_VALUE, "a dependency is named twice");
}

graph_node& graph::add(driver& d, std::shared_ptr<const node_work> work,
                       std::span<graph_node* const> dependencies,
                       std::span<const CUgraphEdgeData> data, const graph_node* original) {
  require_dependencies(dependencies);
  nodes_.push_back(d.objects.make<graph_node>(*this, next_local_id_++, std::move(work), original));
  auto& node = *nodes_.back();
  for (std::size_t i = 0; i < dependencies.size(); ++i) {
    edges_.push_back({dependencies[i], &node, data.empty() ? CUgraphEdgeData{} : data[i]});
  }
  return node;
}

void graph::connect(graph_node& from, graph_node& to, const CUgraphEdgeData& data) {
  require(&from.owner() == this && &to.owner() == this, CUDA_ERROR_INVALID_VALUE,
          "a node is in another graph");
  const bool is_known = std::ranges::any_of(
      edges_, [&](const graph_edge& e) { return e.from == &from && e.to == &to; });
  require(!is_known && &from != &to, CUDA_ERROR_INVALID_VALUE,
          "the dependency already exists, or connects a node with itself");
  edges_.push_back({&from, &to, data});
}

void graph::disconnect(graph_node& from, graph_node& to, const CUgraphEdgeData* data) {
  const auto edge = std::ranges::find_if(edges_, [&](const graph_edge& e) {
    const bool is_same = !data || std::memcmp(data, &e.data, sizeof e.data) == 0;
    return e.from == &from && e.to == &to && is_same;
  });
  require(edge != edges_.end(), CUDA_ERROR_INVALID_VALUE, "there is no such dependency");
  edges_.erase(edge);
}

void graph::remove(driver& d, graph_node& node) {
  std::erase_if(edges_, [&](const graph_edge& e) { return e.from == &node || e.to == &node; });
  node.is_removed = true;
  if (const auto selector = node.work->selector()) selector->has_node = false;
  d.objects.remove(node);
  destroy_graphs(d, *node.work);
  std::erase_if(nodes_, [&](const auto& each) { return each.get() == &node; });
}

void graph::clear(driver& d) {
  edges_.clear();
  for (const auto& each : std::exchange(nodes_, {})) {
    each->is_removed = true;
    d.objects.remove(*each);
    destroy_graphs(d, *each->work);
    if (const auto memory = each->work->freed_memory()) clear_free(*memory);
  }
  conditions.clear();
  references.clear();
}

// Permits another graph to free memory that this graph would have freed.
void graph::clear_free(graph_memory& memory) const noexcept {
  if (memory.freed_in == id() && memory.allocated_in != id()) memory.freed_in = 0;
}

std::vector<graph_edge> graph::edges_to(const graph_node& node) const {
  std::vector<graph_edge> edges;
  std::ranges::copy_if(edges_, std::back_inserter(edges),
                       [&](const graph_edge& e) { return e.to == &node; });
  return edges;
}

std::vector<graph_edge> graph::edges_from(const graph_node& node) const {
  std::vector<graph_edge> edges;
  std::ranges::copy_if(edges_, std::back_inserter(edges),
                       [&](const graph_edge& e) { return e.from == &node; });
  return edges;
}

std::vector<graph_node*> graph::roots() const {
  std::set<const graph_node*> dependent;
  for (const auto& e : edges_) dependent.insert(e.to);
  std::vector<graph_node*> result;
  for (const auto& each : nodes_) {
    if (!dependent.contains(each.get())) result.push_back(each.get());
  }
  return result;
}

std::vector<graph_node*> graph::topological_order() const {
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
  for (const auto& node : nodes_) {
    for (const auto& each : node->work->graphs) {
      visit(*each);
      each->for_each_inner(visit);
    }
  }
}

bool graph::has_nodes_of(CUgraphNodeType type) const {
  const auto has = [type](const graph& source) {
    return std::ranges::any_of(source.nodes_, [&](const auto& n) { return n->type() == type; });
  };
  bool result = has(*this);
  for_each_inner([&](const graph& inner) { result = result || has(inner); });
  return result;
}

void graph::assign_to_node(graph_owner owner, const graph& outer) noexcept {
  owner_ = owner;
  outer_ = &outer;
  is_library_owned = true;
}

bool graph::is_in_condition() const noexcept {
  return owner_ == graph_owner::conditional_node || (outer_ && outer_->is_in_condition());
}

bool graph::has_handle(const conditional& handle) const {
  const graph* top = this;
  while (top->outer_) top = top->outer_;
  const auto has = [&](const graph& source) {
    return std::ranges::any_of(source.conditions,
                               [&](const auto& each) { return each->handle().get() == &handle; });
  };
  bool result = has(*top);
  top->for_each_inner([&](const graph& inner) { result = result || has(inner); });
  return result;
}

void graph::copy_edges(const graph& source,
                       const std::map<const graph_node*, graph_node*>& clones) {
  for (const auto& e : source.edges_)
    edges_.push_back({clones.at(e.from), clones.at(e.to), e.data});
}

std::shared_ptr<graph> clone(driver& d, const graph& source) {
  const auto result = d.objects.make<graph>(&source);
  result->references = source.references;
  result->conditions = source.conditions;
  std::map<const graph_node*, graph_node*> clones;
  for (const auto& each : source.nodes()) {
    clones[each.get()] = &result->add(d, clone(d, each->work, *result), {}, {}, each.get());
    clones[each.get()]->is_enabled = each->is_enabled;
  }
  result->copy_edges(source, clones);
  return result;
}

}  // namespace halfwarp::emulator
