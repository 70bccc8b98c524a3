// SPDX-License-Identifier: Apache-2.0
// A graph that can be launched: its nodes as operations of streams that wait for one another.
#pragma once

#include <cuda.h>

#include <memory>
#include <vector>

#include "emulator/graph/graph.hpp"

namespace halfwarp::emulator {

// Guarded by the driver's lock.
class graph_exec : public object {
 public:
  static constexpr object_kind kind_of = object_kind::graph_exec;

  // Takes a clone of a graph, which it owns.
  graph_exec(driver& d, std::shared_ptr<graph> source, unsigned long long flags);

  const std::shared_ptr<graph>& source() const noexcept { return source_; }
  unsigned long long flags() const noexcept { return flags_; }
  // What a node of the graph that was instantiated has become; null: not of that graph.
  graph_node* twin_of(const graph_node& node) const noexcept;

  // Enqueues all nodes, in streams of its own, between two places of `in`: what the graph leaves
  // open stays open, so the order of a late or seeded schedule holds inside it too. A launch waits
  // for the one before.
  void launch(driver& d, driver_guard& guard, stream& in);
  void close(driver& d);

 private:
  struct step {
    graph_node* node;  // null: joins, or begins, a child graph
    std::vector<std::size_t> after;
    std::size_t branch = 0;
  };

  std::vector<std::size_t> flatten(const graph& of, const std::vector<std::size_t>& after);
  std::size_t add_step(graph_node* node, std::vector<std::size_t> after);
  stream& branch(driver& d, std::size_t index, const std::shared_ptr<context>& where);
  stream_point submit(driver& d, driver_guard& guard, const step& what, stream& to,
                      std::vector<stream_point> waits);

  std::shared_ptr<graph> source_;
  unsigned long long flags_;
  std::vector<step> steps_;
  std::size_t branches_ = 0;
  std::vector<std::size_t> tails_;  // of each branch: its last step
  std::vector<std::size_t> leaves_;
  std::vector<std::vector<std::shared_ptr<stream>>> streams_;  // of each branch, one per context
  stream_point last_;
};

}  // namespace halfwarp::emulator
