// SPDX-License-Identifier: Apache-2.0
// Graphs: nodes of work, and the order among them.
#pragma once

#include <cuda.h>

#include <memory>
#include <span>
#include <vector>

#include "emulator/driver/driver.hpp"
#include "emulator/object/object.hpp"
#include "emulator/stream/event.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

class graph;

// Memory that a graph allocates: its address is fixed when the node is made. It is there as long as
// a graph that was made with it, or an executable of one, so a use before the allocation's turn or
// after that of its free is not noticed.
class graph_memory {
 public:
  graph_memory(driver& d, const memory::allocation& made)
      : driver_{d}, base_{made.base}, bytes_{made.size}, sequence_{made.sequence} {}
  ~graph_memory() {
    const auto found = driver_.memory.find_live(base_);  // not if the program freed it
    if (found && found->sequence == sequence_) driver_.memory.release(base_);
  }
  graph_memory(const graph_memory&) = delete;  // owns the allocation
  graph_memory& operator=(const graph_memory&) = delete;

  memory::address base() const noexcept { return base_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  driver& driver_;
  memory::address base_;
  std::uint64_t bytes_, sequence_;
};

// What a node does. Clones and executables share the parts.
struct node_work {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::shared_ptr<operation> done;  // of kernels, copies, fills, host functions; else null
  std::shared_ptr<context> where;   // whose streams do it; null: those of the launch
  std::shared_ptr<event> recorded;  // of event nodes
  std::shared_ptr<graph> child;
  std::shared_ptr<graph_memory> memory;  // of allocation and free nodes
};

class graph_node : public object {
 public:
  static constexpr object_kind kind_of = object_kind::graph_node;

  graph_node(graph& in, node_work work, const graph_node* original)
      : object{kind_of},
        work{std::move(work)},
        in_{&in},
        original_{original ? original->id() : 0} {}

  graph& in() const noexcept { return *in_; }
  std::uint64_t original() const noexcept { return original_; }  // id of what it is a clone of

  node_work work;

 private:
  graph* in_;  // which owns this
  std::uint64_t original_;
};

struct graph_edge {
  graph_node *from, *to;
  CUgraphEdgeData data{};
};

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

  // `data` is empty, or has one entry for each dependency.
  graph_node& add(driver& d, node_work work, std::span<graph_node* const> after,
                  std::span<const CUgraphEdgeData> data = {}, const graph_node* original = nullptr);
  void connect(graph_node& from, graph_node& to, const CUgraphEdgeData& data = {});
  void disconnect(graph_node& from, graph_node& to);
  void remove(driver& d, graph_node& gone);
  // Ends the handles of the nodes and of child graphs.
  void clear(driver& d);

  std::vector<graph_edge> edges_to(const graph_node& node) const;
  std::vector<graph_edge> edges_from(const graph_node& node) const;
  std::vector<graph_node*> roots() const;
  // Every node after all that it depends on; refuses a graph with a cycle.
  std::vector<graph_node*> in_order() const;
  // Whether `later` depends on `earlier`, or is it.
  bool leads_to(const graph_node& earlier, std::span<graph_node* const> later) const;

  bool is_child = false;  // of a node: destroyed with it alone

 private:
  std::vector<std::shared_ptr<graph_node>> nodes_;
  std::vector<graph_edge> edges_;
  std::uint64_t original_;
};

std::shared_ptr<graph> clone(driver& d, const graph& of);

}  // namespace halfwarp::emulator
