// SPDX-License-Identifier: Apache-2.0
// Pairs the nodes of two graphs, compares each pair, and only then changes anything.
#include "emulator/graph/graph_exec.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace halfwarp::emulator {
namespace {

struct node_pair {
  graph_node* now;
  graph_node* then;
};

struct graph_pair {
  graph* now;
  const graph* then;
};

std::vector<graph_node*> exits_of(const graph& of) {
  std::vector<graph_node*> found;
  for (const auto& each : of.nodes()) {
    if (of.edges_from(*each).empty()) found.push_back(each.get());
  }
  return found;
}

CUgraphNodeParams described(const node_work& work) {
  CUgraphNodeParams known{};
  if (work.done) work.done->describe(known);
  return known;
}

int device_of(CUdeviceptr at) { return the_driver().memory.device_of(at); }

bool is_same_copy(const CUDA_MEMCPY3D& now, const CUDA_MEMCPY3D& then) {
  return now.srcMemoryType == then.srcMemoryType && now.dstMemoryType == then.dstMemoryType &&
         device_of(now.srcDevice) == device_of(then.srcDevice) &&
         device_of(now.dstDevice) == device_of(then.dstDevice);
}

bool is_same_fill(const CUDA_MEMSET_NODE_PARAMS_v2& now, const CUDA_MEMSET_NODE_PARAMS_v2& then) {
  if (device_of(now.dst) != device_of(then.dst) || now.height != then.height) return false;
  return now.height <= 1 || (now.width == then.width && now.pitch == then.pitch &&
                             now.elementSize == then.elementSize);
}

CUgraphExecUpdateResult check_kernel(const node_work& now, const node_work& then,
                                     unsigned long long flags) {
  if (now.where != then.where) return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
  const bool has_priorities = flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  const bool is_same = now.attributes.is_cooperative() == then.attributes.is_cooperative() &&
                       (!has_priorities || now.attributes.priority() == then.attributes.priority());
  return is_same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
}

CUgraphExecUpdateResult if_same(bool is_same, CUgraphExecUpdateResult otherwise) {
  return is_same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : otherwise;
}

class updater {
 public:
  explicit updater(unsigned long long flags) : flags_{flags} {}

  update_outcome compare(graph& now, const graph& then) {
    graphs_.push_back({&now, &then});
    const auto first = pairs_.size();
    if (now.nodes().size() != then.nodes().size()) return changed();
    if (const auto problem = pair_exits(now, then); problem.result) return problem;
    for (auto i = first; i < pairs_.size(); ++i) {
      const auto [node, other] = pairs_[i];
      if (const auto problem = pair_dependencies(now, *node, then, *other); problem.result) {
        return problem;
      }
    }
    if (pairs_.size() - first != now.nodes().size()) return changed();
    for (auto i = first, end = pairs_.size(); i < end; ++i) {
      if (const auto problem = compare_nodes(*pairs_[i].now, *pairs_[i].then); problem.result) {
        return problem;
      }
    }
    return {};
  }

  void apply(graph_exec& target) {
    for (const auto& [now, then] : pairs_) {
      auto child = now->work.child;
      auto branches = now->work.branches;
      now->work = then->work;
      now->work.child = std::move(child);
      if (branches) {
        now->work.branches = std::make_shared<node_branches>(*branches);
        now->work.branches->decides = then->work.branches->decides;
      }
    }
    for (const auto& [now, then] : graphs_) {
      now->references = then->references;
      now->conditions = then->conditions;
    }
    target.change();
  }

 private:
  static update_outcome changed(const graph_node* node = nullptr,
                                const graph_node* from = nullptr) {
    return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, from};
  }

  update_outcome pair_exits(const graph& now, const graph& then) {
    const auto ours = exits_of(now), theirs = exits_of(then);
    if (theirs.size() > ours.size()) return changed(theirs[ours.size()]);
    if (theirs.size() < ours.size()) return changed();
    for (std::size_t i = 0; i < ours.size(); ++i) pair(*ours[i], *theirs[i]);
    return {};
  }

  void pair(graph_node& now, graph_node& then) {
    pairs_.push_back({&now, &then});
    partners_[&now] = &then;
    partners_[&then] = &now;
  }

  update_outcome pair_dependencies(const graph& now, const graph_node& node, const graph& then,
                                   const graph_node& other) {
    const auto ours = now.edges_to(node), theirs = then.edges_to(other);
    if (ours.size() != theirs.size()) return changed(&other);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      auto *const from = ours[i].from, *const their_from = theirs[i].from;
      const auto known = partners_.find(from), their_known = partners_.find(their_from);
      const bool is_new = known == partners_.end() && their_known == partners_.end();
      const bool is_paired = known != partners_.end() && known->second == their_from;
      const bool is_alike =
          std::memcmp(&ours[i].data, &theirs[i].data, sizeof(CUgraphEdgeData)) == 0;
      if (!is_alike || (!is_new && !is_paired)) return changed(&other, their_from);
      if (is_new) pair(*from, *their_from);
    }
    return {};
  }

  update_outcome compare_nodes(graph_node& now, graph_node& then) {
    if (const auto result = check_change(now.work, then.work, flags_)) return {result, &then, {}};
    if (now.work.child) return compare(*now.work.child, *then.work.child);
    if (!now.work.branches) return {};
    const auto &ours = now.work.branches->bodies, &theirs = then.work.branches->bodies;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (const auto problem = compare(*ours[i], *theirs[i]); problem.result) return problem;
    }
    return {};
  }

  unsigned long long flags_;
  std::vector<node_pair> pairs_;
  std::vector<graph_pair> graphs_;
  std::map<const graph_node*, graph_node*> partners_;
};

update_outcome update_graph(graph_exec& target, graph& now, const graph& then) {
  updater u{target.flags()};
  const auto outcome = u.compare(now, then);
  if (outcome.result == CU_GRAPH_EXEC_UPDATE_SUCCESS) u.apply(target);
  return outcome;
}

}  // namespace

CUgraphExecUpdateResult check_change(const node_work& now, const node_work& then,
                                     unsigned long long flags) {
  if (now.type != then.type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  constexpr auto parameters = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  switch (now.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return check_kernel(now, then, flags);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return if_same(
          is_same_copy(described(now).memcpy.copyParams, described(then).memcpy.copyParams),
          parameters);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return if_same(is_same_fill(described(now).memset, described(then).memset), parameters);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return if_same(now.branches->type == then.branches->type &&
                         now.branches->bodies.size() == then.branches->bodies.size() &&
                         now.branches->decides->context() == then.branches->decides->context(),
                     parameters);
    default:
      return CU_GRAPH_EXEC_UPDATE_SUCCESS;
  }
}

update_outcome update(graph_exec& target, const graph& from) {
  return update_graph(target, *target.source(), from);
}

update_outcome update_child(graph_exec& target, graph_node& of, const graph& from) {
  return update_graph(target, *of.work.child, from);
}

}  // namespace halfwarp::emulator
