// SPDX-License-Identifier: Apache-2.0
// An executable graph: a clone of its source, and the state of its launches.
#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "emulator/graph/plan.hpp"

namespace halfwarp::emulator {

// Guarded by the driver's lock.
class graph_exec : public object {
 public:
  static constexpr object_kind kind_of = object_kind::graph_exec;

  // Takes ownership of `source`, which must be a clone.
  graph_exec(driver& d, std::shared_ptr<graph> source, unsigned long long flags);

  const std::shared_ptr<graph>& source() const noexcept { return source_; }
  unsigned long long flags() const noexcept { return flags_; }

  // Returns the clone of a node of the instantiated graph. Returns null for a node of another
  // graph, including the graph of an update.
  graph_node* clone_of(const graph_node& node) const noexcept;

  // Call after a change of the source. Pending launches are not affected.
  void invalidate_plan() noexcept {
    plan_.reset();
    unmap_memory();  // an update may change allocation sizes
  }

  // Maps device memory for the allocations of the graph, or refuses.
  void map_memory(driver& d);
  // Unmaps the memory that no launch and no unfreed allocation uses.
  void unmap_memory() noexcept;

  // Enqueues all nodes, in internal streams, between two points of `target`. A launch waits for the
  // previous launch.
  void launch(driver& d, driver_guard& guard, stream& target, std::string site);
  void close(driver& d);

 private:
  void require_freed(driver& d, driver_guard& guard, stream& target, const std::string& site);
  void track_memory(driver& d);

  std::shared_ptr<graph> source_;
  unsigned long long flags_;
  std::map<std::uint64_t, graph_node*> clones_;  // by id of the original node
  std::shared_ptr<const plan> plan_;             // of the current source; null: not created yet
  std::shared_ptr<branch_streams> streams_ = std::make_shared<branch_streams>();
  std::map<int, std::shared_ptr<graph_mapping>> mappings_;  // by device
  stream_point last_;
};

// The reason of a failed instantiation.
struct instantiation_problem {
  CUgraphInstantiateResult result;
  graph_node* node;  // the node at fault, or null
  CUresult code;
  const char* text;
};

// Checks whether a graph can be instantiated; `result` is SUCCESS if it can.
instantiation_problem check_instantiation(const graph& source, unsigned long long flags);

// The result of an update of an executable graph.
struct update_outcome {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  const graph_node* node = nullptr;  // in the graph with the new parameters
  const graph_node* from = nullptr;  // source of an edge that does not match
};

// Returns whether an executable graph may change the work of a node.
CUgraphExecUpdateResult check_change(const node_work& current, const node_work& updated,
                                     unsigned long long flags);

// Copies the parameters and references of a graph of the same topology. Changes nothing if an
// executable graph cannot adopt a difference.
update_outcome update(graph_exec& target, const graph& from);
// Updates the child graph of a node in the same way.
update_outcome update_child(graph_exec& target, graph_node& node, const graph& from);

}  // namespace halfwarp::emulator
