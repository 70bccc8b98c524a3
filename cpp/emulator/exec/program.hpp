// SPDX-License-Identifier: Apache-2.0
// A module with addresses for its symbols, and the decoded form of those kernels that were used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/exec/code.hpp"
#include "emulator/exec/executable.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::exec {

struct program {
  std::shared_ptr<const ptx::module> source;
  memory::address_space* space = nullptr;
  int device = 0;
  // Of ptx::module::variables, and of the .global and .const variables inside functions.
  std::vector<memory::address> addresses;
  std::map<const ptx::variable*, memory::address> inner_addresses;

  // Address of a .global or .const variable; 0 for other spaces.
  memory::address address_of(const ptx::variable& v) const;
  // What stands for a function where its address is taken.
  memory::address function_address(std::uint32_t function) const noexcept;

  // Decoded when first asked for. Thread-safe.
  const kernel_code& code_of(std::uint32_t function) const;

  mutable std::mutex mutex;  // of decoded
  mutable std::map<std::uint32_t, std::unique_ptr<kernel_code>> decoded;
};

}  // namespace halfwarp::emulator::exec
