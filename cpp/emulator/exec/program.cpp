// SPDX-License-Identifier: Apache-2.0
// The addresses of a module's symbols.
#include "emulator/exec/program.hpp"

#include <algorithm>

namespace halfwarp::emulator::exec {
namespace {

// Each function has a small unique address. It identifies the function, and an access through it
// raises a fault, because no memory is mapped there.
constexpr memory::address first_function_address = 0x8;
constexpr memory::address function_address_step = 0x8;

}  // namespace

memory::address program::address_of(const ptx::variable& v) const {
  auto inner = inner_addresses.find(&v);
  if (inner != inner_addresses.end()) return inner->second;
  std::size_t index = static_cast<std::size_t>(&v - source->variables.data());
  return index < addresses.size() ? addresses[index] : 0;
}

memory::address program::function_address(std::uint32_t function) const noexcept {
  return first_function_address + function * function_address_step;
}

const kernel* program::kernel_at(memory::address pointer) const noexcept {
  const auto match = std::ranges::find_if(
      kernels, [&](const auto& each) { return function_address(each->function()) == pointer; });
  return match == kernels.end() ? nullptr : match->get();
}

}  // namespace halfwarp::emulator::exec
