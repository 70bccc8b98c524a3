// SPDX-License-Identifier: Apache-2.0
// A graph in the language of Graphviz.
#pragma once

#include <string>

#include "emulator/graph/graph.hpp"

namespace halfwarp::emulator {

// `flags`: CUgraphDebugDot_flags, what is told of each node.
std::string dot_of(const graph& of, unsigned flags);

}  // namespace halfwarp::emulator
