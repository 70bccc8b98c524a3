// SPDX-License-Identifier: Apache-2.0
// The functions that a kernel can reach, and the offsets of its shared variables.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::exec {

struct kernel_layout {
  std::vector<std::uint32_t> functions;  // indices in ptx::module::functions, entry first
  std::map<const ptx::variable*, std::uint32_t> shared_offsets;
  std::uint32_t static_shared_bytes = 0;
  bool has_indirect_call = false;

  // Converts an index in ptx::module::functions to one in kernel_code::functions. Throws
  // unsupported if the kernel cannot reach the function.
  std::uint32_t index_of(std::uint32_t function) const;
};

// `entry` is an index in ptx::module::functions.
kernel_layout compute_layout(const ptx::module& source, std::uint32_t entry);

}  // namespace halfwarp::emulator::exec
