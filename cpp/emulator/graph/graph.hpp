// SPDX-License-Identifier: Apache-2.0
// Graphs: nodes of work, and the order among them.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulator/driver/driver.hpp"
#include "emulator/graph/graph_memory.hpp"
#include "emulator/graph/user_object.hpp"
#include "emulator/object/object.hpp"
#include "emulator/stream/conditional.hpp"
#include "emulator/stream/event.hpp"
#include "emulator/stream/launch_attributes.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

class graph;

// A conditional handle, which ends when neither its graph nor a copy of that is left.
class conditional_lease {
 public:
  conditional_lease(driver& d, std::shared_ptr<conditional> of) : driver_{d}, of_{std::move(of)} {}
  ~conditional_lease() { driver_.objects.remove(*of_); }
  conditional_lease(const conditional_lease&) = delete;  // ends it once
  conditional_lease& operator=(const conditional_lease&) = delete;

  const std::shared_ptr<conditional>& of() const noexcept { return of_; }

 private:
  driver& driver_;
  std::shared_ptr<conditional> of_;
};

// What a conditional node chooses from.
struct node_branches {
  std::shared_ptr<conditional> decides;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::vector<std::shared_ptr<graph>> bodies;
  std::vector<CUgraph> handles;  // of the bodies: what the program is pointed at
};

// What a node does. Clones and executables share the parts.
struct node_work {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::shared_ptr<operation> done = {};  // of kernels, copies, fills, host functions; else null
  std::shared_ptr<context> where = {};   // whose streams do it; null: those of the launch
  std::shared_ptr<event> recorded = {};  // of event nodes
  std::shared_ptr<graph> child = {};
  std::shared_ptr<graph_memory> memory = {};     // of allocation and free nodes
  std::shared_ptr<node_branches> branches = {};  // of conditional nodes
  launch_attributes attributes = {};             // of kernel nodes
  CUkernel kernel = nullptr;  // what the node was given in place of a function, if so
};

class graph_node : public object {
 public:
  static constexpr object_kind kind_of = object_kind::graph_node;

  graph_node(graph& in, unsigned place, node_work work, const graph_node* original)
      : object{kind_of},
        work{std::move(work)},
        in_{&in},
        place_{place},
        original_{original ? original->id() : 0} {}

  graph& in() const noexcept { return *in_; }
  unsigned place() const noexcept { return place_; }  // among all nodes that its graph ever had
  std::uint64_t original() const noexcept { return original_; }  // id of what it is a clone of

  node_work work;
  bool is_enabled = true;  // of an executable graph
  bool is_removed = false;

 private:
  graph* in_;  // which owns this
  unsigned place_;
  std::uint64_t original_;
};

struct graph_edge {
  graph_node *from, *to;
  CUgraphEdgeData data{};
};

// To whom a graph belongs: to the program, or to a node of another graph, with which it goes.
enum class graph_owner : std::uint8_t { program, child_node, conditional_node };

// Guarded by the driver's lock.
class graph : public object {
 public:
  static constexpr object_kind kind_of = object_kind::graph;

  explicit graph(const graph* original = nullptr)
      : object{kind_of}, original_{original ? original->id() : 0} {}

  const std::vector<std::shared_ptr<graph_node>>& nodes() const noexcept { return nodes_; }
  const std::vector<graph_edge>& edges() const noexcept { return edges_; }
  std::uint64_t original() const noexcept { return original_; }
  bool is_empty() const noexcept { return nodes_.empty(); }

  // Refuses what the next node cannot depend on.
  void require_dependencies(std::span<graph_node* const> after) const;
  // `data` is empty, or has one entry for each dependency.
  graph_node& add(driver& d, node_work work, std::span<graph_node* const> after,
                  std::span<const CUgraphEdgeData> data = {}, const graph_node* original = nullptr);
  void connect(graph_node& from, graph_node& to, const CUgraphEdgeData& data = {});
  void disconnect(graph_node& from, graph_node& to, const CUgraphEdgeData* data = nullptr);
  void remove(driver& d, graph_node& gone);
  // Ends the handles of the nodes, and of the graphs and conditional handles that go with them.
  void clear(driver& d);

  std::vector<graph_edge> edges_to(const graph_node& node) const;
  std::vector<graph_edge> edges_from(const graph_node& node) const;
  std::vector<graph_node*> roots() const;
  // Every node after all that it depends on; without those of a cycle, and behind it.
  std::vector<graph_node*> in_order() const;
  // Whether `later` depends on `earlier`, or is it.
  bool leads_to(const graph_node& earlier, std::span<graph_node* const> later) const;

  // Whether a node is of a kind, here or in the graphs that belong to nodes.
  bool has_nodes_of(CUgraphNodeType type) const;
  bool allocates() const {
    return has_nodes_of(CU_GRAPH_NODE_TYPE_MEM_ALLOC) || has_nodes_of(CU_GRAPH_NODE_TYPE_MEM_FREE);
  }
  // Calls for the graphs that nodes own, and theirs.
  void for_each_inner(const std::function<void(const graph&)>& visit) const;

  void give_to_node(graph_owner of, const graph& in) noexcept;
  bool is_of_node() const noexcept { return owner_ != graph_owner::program; }
  bool was_moved = false;  // made by the program, then given to a node
  // Also of a child graph inside of one.
  bool is_in_condition() const noexcept;
  // Whether a conditional handle was made for it, or for a graph around it or inside.
  bool knows(const conditional& handle) const;

  // Those of the graph that this is made a clone of.
  void take_edges(const graph& of, const std::map<const graph_node*, graph_node*>& twins);

  user_references references;
  std::vector<std::shared_ptr<conditional_lease>> conditions;  // made for nodes of this graph
  // Of a graph that may have one only.
  std::weak_ptr<object> executable;

 private:
  void forget_free(graph_memory& of) const noexcept;

  std::vector<std::shared_ptr<graph_node>> nodes_;
  std::vector<graph_edge> edges_;
  std::uint64_t original_;
  unsigned places_ = 0;
  graph_owner owner_ = graph_owner::program;
  const graph* outer_ = nullptr;  // which has the node that this belongs to
};

// A copy of a graph, with the graphs that belong to its nodes.
std::shared_ptr<graph> clone(driver& d, const graph& of);

// In the language of Graphviz. `flags`: CUgraphDebugDot_flags, what is told of each node.
std::string dot_of(const graph& of, unsigned flags);

}  // namespace halfwarp::emulator
