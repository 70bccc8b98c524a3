// SPDX-License-Identifier: Apache-2.0
// The work of a graph node. api/graph/nodes has a class for each kind of node.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/graph/graph_memory.hpp"
#include "emulator/object/object.hpp"
#include "emulator/stream/conditional.hpp"
#include "emulator/stream/context.hpp"
#include "emulator/stream/operation.hpp"
#include "emulator/stream/stream.hpp"

namespace halfwarp::emulator {

class dot_rows;
class graph;
struct launch_scope;
struct plan;

// The properties that all nodes of a kind share.
struct node_traits {
  CUgraphNodeType type;
  const char* name;                      // in DOT
  bool can_be_disabled = false;          // in executable graphs
  bool runs_in_device_launches = false;  // of graphs that kernels launch
  bool runs_in_bodies = false;           // of conditional nodes
};

// The arguments of node_work::make_operation().
struct node_launch {
  const launch_scope& scope;
  const std::vector<std::shared_ptr<const plan>>& bodies;  // of a conditional node
  stream& target;
  std::vector<stream_point>& waits;  // the node may add waits
};

// An object that a node uses but does not keep alive.
struct node_referent {
  object_kind kind = object_kind::event;
  std::uint64_t raw = 0;  // 0: none
};

using graph_list = std::vector<std::shared_ptr<graph>>;

// Clones, executable graphs and launches share the work of a node.
class node_work {
 public:
  explicit node_work(const node_traits& kind, std::shared_ptr<emulator::context> owner = nullptr,
                     graph_list inner = {})
      : traits{kind}, context{std::move(owner)}, graphs{std::move(inner)} {}
  virtual ~node_work() = default;
  node_work(const node_work&) = delete;  // shared
  node_work& operator=(const node_work&) = delete;

  const node_traits& traits;
  std::shared_ptr<emulator::context> context;  // null: the context of the launch
  const graph_list graphs;                     // owned by the node

  CUgraphNodeParams parameters() const {
    CUgraphNodeParams params{};
    describe(params);
    params.type = traits.type;
    return params;
  }

  // Returns the operation of a launch. By default it only joins the dependencies.
  virtual std::shared_ptr<operation> make_operation(const node_launch& launch) const;
  // Returns the priority of the node, if it has its own.
  virtual std::optional<int> priority() const { return {}; }

  // Returns whether an executable graph may adopt other work of this kind.
  virtual CUgraphExecUpdateResult compare(const node_work&, unsigned long long) const {
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
  }
  // Refuses a change of this node alone that an update of the whole graph could make.
  virtual void require_single_change(const node_work&) const {}
  // Returns this work with other graphs. Called for nodes that own graphs.
  virtual std::shared_ptr<const node_work> with_graphs(graph_list) const { return nullptr; }

  virtual node_referent referent() const { return {}; }
  virtual std::shared_ptr<conditional> selector() const { return nullptr; }
  virtual std::shared_ptr<graph_memory> allocated_memory() const { return nullptr; }
  virtual std::shared_ptr<graph_memory> freed_memory() const { return nullptr; }

  // Returns the title of the node in DOT, if it has its own.
  virtual std::string title() const { return {}; }
  virtual void write_rows(dot_rows&) const {}

 private:
  // Writes the parameters; their pointers are valid as long as the work.
  virtual void describe(CUgraphNodeParams&) const {}
};

// Work that is the same operation in each launch. The operation describes its parameters.
class operation_work : public node_work {
 public:
  operation_work(const node_traits& kind, std::shared_ptr<emulator::operation> operation,
                 std::shared_ptr<emulator::context> owner)
      : node_work{kind, std::move(owner)}, operation_{std::move(operation)} {}
  std::shared_ptr<operation> make_operation(const node_launch&) const override {
    return operation_;
  }

 protected:
  void describe(CUgraphNodeParams& params) const override { operation_->describe(params); }
  CUcontext context_handle() const { return context ? context->handle_as<CUcontext>() : nullptr; }

 private:
  std::shared_ptr<emulator::operation> operation_;
};

}  // namespace halfwarp::emulator
