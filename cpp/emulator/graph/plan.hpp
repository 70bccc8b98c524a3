// SPDX-License-Identifier: Apache-2.0
// The plan of a launch: the nodes of a graph as operations in streams, with their waits.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "emulator/graph/graph.hpp"

namespace halfwarp::emulator {

struct plan;

// A node of a plan. Child graphs are flattened; body graphs have their own plans.
struct plan_step {
  std::shared_ptr<const node_work> work;  // null: only joins the dependencies
  std::vector<std::size_t> dependencies;  // earlier steps
  std::size_t branch = 0;                 // the steps of one branch run in order
  std::vector<std::shared_ptr<const plan>> bodies;
};

// A snapshot of a graph. The plan adds no ordering.
struct plan {
  std::vector<plan_step> steps;
  std::vector<std::size_t> leaves;
};

// Creates a plan; `branches` counts the branches of all plans of the launch.
std::shared_ptr<const plan> make_plan(const graph& source, std::size_t& branches);

// The streams for the branches of one executable graph. Queued work continues after close().
class branch_streams {
 public:
  stream& get(driver& d, std::size_t branch, const std::shared_ptr<context>& owner, int priority);
  void close(driver& d);

 private:
  using key = std::tuple<std::size_t, std::uint64_t, int>;  // branch, context, priority
  std::map<key, std::shared_ptr<stream>> streams_;
  bool is_closed_ = false;
};

// The parameters of a launch that all steps share.
struct launch_scope {
  std::shared_ptr<branch_streams> streams;
  std::shared_ptr<emulator::context> context;  // for nodes without a context
  std::uint64_t number = 0;                    // number of the launch stream, for reports
  int priority = 0;
  bool uses_node_priorities = false;
  std::string site;  // call site of the launch
};

// Enqueues all steps after a point; returns the points at which the leaves complete.
std::vector<stream_point> enqueue(driver& d, const plan& source, const launch_scope& scope,
                                  const stream_point& start);

}  // namespace halfwarp::emulator
