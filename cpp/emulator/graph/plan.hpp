// SPDX-License-Identifier: Apache-2.0
// What a launch enqueues: the nodes of a graph as operations of streams that wait for one another.
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

// One node; child graphs are taken apart, conditional graphs have plans of their own.
struct plan_step {
  node_work work;
  std::vector<std::size_t> after;  // earlier steps
  std::size_t branch = 0;          // steps of one branch come one after another
  std::vector<std::shared_ptr<const plan>> bodies;
};

// A graph as it was when the plan was made. What the graph leaves open stays open.
struct plan {
  std::vector<plan_step> steps;
  std::vector<std::size_t> leaves;
};

// `branches`: how many the plans around it have; then with those of this one.
std::shared_ptr<const plan> make_plan(const graph& of, std::size_t& branches);

// The streams of the branches of one executable graph. They go on when they are closed, until
// their work is done.
class branch_streams {
 public:
  stream& of(driver& d, std::size_t branch, const std::shared_ptr<context>& where, int priority);
  void close(driver& d);

 private:
  using key = std::tuple<std::size_t, std::uint64_t, int>;  // branch, context, priority
  std::map<key, std::shared_ptr<stream>> made_;
  bool is_closed_ = false;
};

// What is the same for all steps of a launch.
struct launch_scope {
  std::shared_ptr<branch_streams> streams;
  std::shared_ptr<context> where;  // for nodes that name no context
  std::uint64_t number = 0;        // of the stream, for reports
  int priority = 0;
  bool uses_node_priorities = false;
  std::string site;  // of the launch
};

// Enqueues all steps after a place; where the last ones end.
std::vector<stream_point> enqueue(driver& d, const plan& what, const launch_scope& in,
                                  const stream_point& start);

}  // namespace halfwarp::emulator
