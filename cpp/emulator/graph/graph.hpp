// SPDX-License-Identifier: Apache-2.0
// Graphs: nodes with work, and the dependencies between them.
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
#include "emulator/graph/node_work.hpp"
#include "emulator/graph/user_object.hpp"

namespace halfwarp::emulator {

class graph;

// Shared by a graph and its clones; destroys a conditional handle with the last of them.
class conditional_lease {
 public:
  conditional_lease(driver& d, std::shared_ptr<conditional> handle)
      : driver_{d}, handle_{std::move(handle)} {}
  ~conditional_lease() { driver_.objects.remove(*handle_); }
  conditional_lease(const conditional_lease&) = delete;  // destroys the handle once
  conditional_lease& operator=(const conditional_lease&) = delete;

  const std::shared_ptr<conditional>& handle() const noexcept { return handle_; }

 private:
  driver& driver_;
  std::shared_ptr<conditional> handle_;
};

class graph_node : public object {
 public:
  static constexpr object_kind kind_of = object_kind::graph_node;

  graph_node(graph& owner, unsigned local_id, std::shared_ptr<const node_work> work,
             const graph_node* original)
      : object{kind_of},
        work{std::move(work)},
        owner_{&owner},
        local_id_{local_id},
        original_{original ? original->id() : 0} {}

  graph& owner() const noexcept { return *owner_; }
  unsigned local_id() const noexcept { return local_id_; }  // unique in the graph, never reused
  std::uint64_t original() const noexcept { return original_; }  // id of the cloned node; 0: none

  CUgraphNodeType type() const noexcept { return work->traits.type; }

  std::shared_ptr<const node_work> work;
  bool is_enabled = true;  // false: disabled in an executable graph
  bool is_removed = false;

 private:
  graph* owner_;
  unsigned local_id_;
  std::uint64_t original_;
};

struct graph_edge {
  graph_node *from, *to;
  CUgraphEdgeData data{};
};

// The owner of a graph. A node destroys its graphs with itself.
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

  // Refuses nodes of other graphs, and duplicates.
  void require_dependencies(std::span<graph_node* const> dependencies) const;
  // Adds a node. `data` is empty or has one entry per dependency.
  graph_node& add(driver& d, std::shared_ptr<const node_work> work,
                  std::span<graph_node* const> dependencies,
                  std::span<const CUgraphEdgeData> data = {}, const graph_node* original = nullptr);
  void connect(graph_node& from, graph_node& to, const CUgraphEdgeData& data = {});
  void disconnect(graph_node& from, graph_node& to, const CUgraphEdgeData* data = nullptr);
  void remove(driver& d, graph_node& node);
  // Destroys the nodes, with their graphs and conditional handles.
  void clear(driver& d);

  std::vector<graph_edge> edges_to(const graph_node& node) const;
  std::vector<graph_edge> edges_from(const graph_node& node) const;
  std::vector<graph_node*> roots() const;
  // Returns the nodes in topological order, without nodes in or after a cycle.
  std::vector<graph_node*> topological_order() const;
  // Returns whether a node of `later` is, or depends on, `earlier`.
  bool leads_to(const graph_node& earlier, std::span<graph_node* const> later) const;

  // Returns whether this graph, or a graph that its nodes own, has a node of the type.
  bool has_nodes_of(CUgraphNodeType type) const;
  bool allocates() const {
    return has_nodes_of(CU_GRAPH_NODE_TYPE_MEM_ALLOC) || has_nodes_of(CU_GRAPH_NODE_TYPE_MEM_FREE);
  }
  // Visits the graphs that nodes own, recursively.
  void for_each_inner(const std::function<void(const graph&)>& visit) const;

  void assign_to_node(graph_owner owner, const graph& outer) noexcept;
  graph_owner owner() const noexcept { return owner_; }
  bool belongs_to_node() const noexcept { return owner_ != graph_owner::program; }
  bool was_moved = false;  // created by the program, then moved into a node
  // Returns whether this is, or is nested in, the body of a conditional node.
  bool is_in_condition() const noexcept;
  // Returns whether a conditional handle belongs to this graph, or to an outer or inner graph.
  bool has_handle(const conditional& handle) const;

  // Copies the edges of a graph whose nodes have been cloned into this graph.
  void copy_edges(const graph& source, const std::map<const graph_node*, graph_node*>& clones);

  user_references references;
  std::vector<std::shared_ptr<conditional_lease>> conditions;  // of nodes of this graph
  // The executable graph, if this graph may have only one.
  std::weak_ptr<object> executable;

 private:
  void clear_free(graph_memory& memory) const noexcept;

  std::vector<std::shared_ptr<graph_node>> nodes_;
  std::vector<graph_edge> edges_;
  std::uint64_t original_;
  unsigned next_local_id_ = 0;
  graph_owner owner_ = graph_owner::program;
  const graph* outer_ = nullptr;  // the graph with the node that owns this graph
};

// Destroys the graphs that a node owns.
void destroy_graphs(driver& d, const node_work& work);

// Returns a copy of a graph and of the graphs that its nodes own.
std::shared_ptr<graph> clone(driver& d, const graph& source);

// Returns the graph in the DOT language. `flags` are CUgraphDebugDot_flags.
std::string dot_of(const graph& source, unsigned flags);

}  // namespace halfwarp::emulator
