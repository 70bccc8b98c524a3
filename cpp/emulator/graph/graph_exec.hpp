// SPDX-License-Identifier: Apache-2.0
// A graph that can be launched: a copy of the one it was made of, and what its launches left.
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

  // `source`: a clone, which it owns.
  graph_exec(driver& d, std::shared_ptr<graph> source, unsigned long long flags);

  const std::shared_ptr<graph>& source() const noexcept { return source_; }
  unsigned long long flags() const noexcept { return flags_; }

  // What a node of the graph that was instantiated has become; null: a node of another graph, also
  // of one that it was updated from.
  graph_node* twin_of(const graph_node& node) const noexcept;

  // Called after the source was changed. Launches that are under way are not.
  void change() noexcept {
    plan_.reset();
    unmap_memory();  // an update may bring allocations of other sizes
  }

  // Takes the memory that the allocations need, or refuses.
  void map_memory(driver& d);
  // Gives that memory up; nothing when a launch or what one left behind uses it.
  void unmap_memory() noexcept;

  // Enqueues all nodes, in streams of its own, between two places of `in`. A launch waits for the
  // one before.
  void launch(driver& d, driver_guard& guard, stream& in, std::string site);
  void close(driver& d);

 private:
  void require_freed(driver& d, driver_guard& guard, stream& in, const std::string& site);
  void note_memory(driver& d);

  std::shared_ptr<graph> source_;
  unsigned long long flags_;
  std::map<std::uint64_t, graph_node*> twins_;  // by id of the node they stand for
  std::shared_ptr<const plan> plan_;            // of the source as it is; null: not made yet
  std::shared_ptr<branch_streams> streams_ = std::make_shared<branch_streams>();
  std::map<int, std::shared_ptr<graph_mapping>> mappings_;  // by device
  stream_point last_;
};

// Why an executable could not be made.
struct instantiation_problem {
  CUgraphInstantiateResult result;
  graph_node* node;  // of the graph; null: of none
  CUresult code;
  const char* text;
};

// What is wrong with a graph that is to be made executable; result SUCCESS: nothing.
instantiation_problem check_instantiation(const graph& of, unsigned long long flags);

// Changing what the nodes of an executable do, within the limits of the driver.
struct update_outcome {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  const graph_node* node = nullptr;  // of the graph with the new parameters
  const graph_node* from = nullptr;  // the other end of an edge that does not match
};

// Whether a node may go from one work to the other.
CUgraphExecUpdateResult check_change(const node_work& now, const node_work& then,
                                     unsigned long long flags);

// Takes over the parameters, and what they keep alive, of a graph of the same shape; changes
// nothing when there is a difference that an executable does not take.
update_outcome update(graph_exec& target, const graph& from);
// The same for the child graph of one of its nodes.
update_outcome update_child(graph_exec& target, graph_node& of, const graph& from);

}  // namespace halfwarp::emulator
