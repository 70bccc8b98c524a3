// SPDX-License-Identifier: Apache-2.0
// Pairs the nodes of two graphs, compares every pair, then applies the changes.
#include "emulator/graph/graph_exec.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace halfwarp::emulator {
namespace {

struct node_pair {
  graph_node* current;
  graph_node* updated;
};

struct graph_pair {
  graph* current;
  const graph* updated;
};

std::vector<graph_node*> exits_of(const graph& source) {
  std::vector<graph_node*> exits;
  for (const auto& each : source.nodes()) {
    if (source.edges_from(*each).empty()) exits.push_back(each.get());
  }
  return exits;
}

class updater {
 public:
  explicit updater(unsigned long long flags) : flags_{flags} {}

  update_outcome compare(graph& current, const graph& updated) {
    graphs_.push_back({&current, &updated});
    const auto first = pairs_.size();
    if (current.nodes().size() != updated.nodes().size()) return changed();
    if (const auto problem = pair_exits(current, updated); problem.result) return problem;
    for (auto i = first; i < pairs_.size(); ++i) {
      const auto [node, other] = pairs_[i];
      if (const auto problem = pair_dependencies(current, *node, updated, *other); problem.result) {
        return problem;
      }
    }
    if (pairs_.size() - first != current.nodes().size()) return changed();
    for (auto i = first, end = pairs_.size(); i < end; ++i) {
      if (const auto problem = compare_nodes(*pairs_[i].current, *pairs_[i].updated);
          problem.result) {
        return problem;
      }
    }
    return {};
  }

  void apply(graph_exec& target) {
    for (const auto& [current, updated] : pairs_) {
      // The node keeps its graphs, whose nodes are updated too.
      const auto& graphs = current->work->graphs;
      current->work = graphs.empty() ? updated->work : updated->work->with_graphs(graphs);
    }
    for (const auto& [current, updated] : graphs_) {
      current->references = updated->references;
      current->conditions = updated->conditions;
    }
    target.invalidate_plan();
  }

 private:
  static update_outcome changed(const graph_node* node = nullptr,
                                const graph_node* from = nullptr) {
    return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, from};
  }

  update_outcome pair_exits(const graph& current, const graph& updated) {
    const auto current_exits = exits_of(current), updated_exits = exits_of(updated);
    if (updated_exits.size() > current_exits.size())
      return changed(updated_exits[current_exits.size()]);
    if (updated_exits.size() < current_exits.size()) return changed();
    for (std::size_t i = 0; i < current_exits.size(); ++i)
      pair(*current_exits[i], *updated_exits[i]);
    return {};
  }

  void pair(graph_node& current, graph_node& updated) {
    pairs_.push_back({&current, &updated});
    partners_[&current] = &updated;
    partners_[&updated] = &current;
  }

  update_outcome pair_dependencies(const graph& current, const graph_node& node,
                                   const graph& updated, const graph_node& other) {
    const auto current_edges = current.edges_to(node), updated_edges = updated.edges_to(other);
    if (current_edges.size() != updated_edges.size()) return changed(&other);
    for (std::size_t i = 0; i < current_edges.size(); ++i) {
      auto *const from = current_edges[i].from, *const updated_from = updated_edges[i].from;
      const auto match = partners_.find(from), updated_match = partners_.find(updated_from);
      const bool is_new = match == partners_.end() && updated_match == partners_.end();
      const bool is_paired = match != partners_.end() && match->second == updated_from;
      const bool has_same_data =
          std::memcmp(&current_edges[i].data, &updated_edges[i].data, sizeof(CUgraphEdgeData)) == 0;
      if (!has_same_data || (!is_new && !is_paired)) return changed(&other, updated_from);
      if (is_new) pair(*from, *updated_from);
    }
    return {};
  }

  update_outcome compare_nodes(graph_node& current, graph_node& updated) {
    if (const auto result = check_change(*current.work, *updated.work, flags_))
      return {result, &updated, {}};
    const auto &current_graphs = current.work->graphs, &updated_graphs = updated.work->graphs;
    for (std::size_t i = 0; i < current_graphs.size(); ++i) {
      if (const auto problem = compare(*current_graphs[i], *updated_graphs[i]); problem.result)
        return problem;
    }
    return {};
  }

  unsigned long long flags_;
  std::vector<node_pair> pairs_;
  std::vector<graph_pair> graphs_;
  std::map<const graph_node*, graph_node*> partners_;
};

update_outcome update_graph(graph_exec& target, graph& current, const graph& updated) {
  updater u{target.flags()};
  const auto outcome = u.compare(current, updated);
  if (outcome.result == CU_GRAPH_EXEC_UPDATE_SUCCESS) u.apply(target);
  return outcome;
}

}  // namespace

CUgraphExecUpdateResult check_change(const node_work& current, const node_work& updated,
                                     unsigned long long flags) {
  if (current.traits.type != updated.traits.type)
    return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  return current.compare(updated, flags);
}

update_outcome update(graph_exec& target, const graph& from) {
  return update_graph(target, *target.source(), from);
}

update_outcome update_child(graph_exec& target, graph_node& node, const graph& from) {
  return update_graph(target, *node.work->graphs.front(), from);
}

}  // namespace halfwarp::emulator
