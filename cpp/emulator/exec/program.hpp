// SPDX-License-Identifier: Apache-2.0
// A module with addresses for its symbols, and the decoded form of its used kernels.
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
  // Addresses of ptx::module::variables, and of .global and .const variables in functions.
  std::vector<memory::address> addresses;
  std::map<const ptx::variable*, memory::address> inner_addresses;
  std::vector<std::unique_ptr<kernel>> kernels;  // in text order

  // Returns the address of a .global or .const variable, or 0 for other state spaces.
  memory::address address_of(const ptx::variable& v) const;
  // Returns the value of a pointer to the function.
  memory::address function_address(std::uint32_t function) const noexcept;
  // Returns the kernel of a function pointer, or null.
  const kernel* kernel_at(memory::address pointer) const noexcept;

  mutable std::mutex mutex;  // guards `decoded`, which decode/kernel_decoder.hpp fills
  mutable std::map<std::uint32_t, std::unique_ptr<kernel_code>> decoded;
};

}  // namespace halfwarp::emulator::exec
