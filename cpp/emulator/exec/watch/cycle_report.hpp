// SPDX-License-Identifier: Apache-2.0
// A cycle of locks as a fault.
#pragma once

#include <span>

#include "emulator/exec/watch/wait_graph.hpp"

namespace halfwarp::emulator::exec {

report::fault describe_cycle(const wait_graph& graph, std::span<const wait_link> cycle);

}  // namespace halfwarp::emulator::exec
