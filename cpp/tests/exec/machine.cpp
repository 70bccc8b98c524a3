// SPDX-License-Identifier: Apache-2.0
// Loads modules and launches kernels for tests.
#include "machine.hpp"

#include <stdexcept>

#include "emulator/ptx/parser.hpp"

namespace halfwarp::tests {

std::string whole_module(std::string_view text) {
  if (text.find(".version") != text.npos) return std::string(text);
  return ".version 8.6\n.target sm_100\n.address_size 64\n" + std::string(text);
}

exec::executable& machine::load(std::string_view text, int device) {
  ptx::parse_result parsed = ptx::parse(whole_module(text));
  if (!parsed) throw std::runtime_error(parsed.error.to_text() + "\n" + std::string(text));
  loaded_ = exec::executable::load(parsed.value, space, {.device = device});
  return *loaded_;
}

memory::address machine::allocate(std::uint64_t bytes, memory::allocation_kind kind, int device) {
  memory::allocation_request request;
  request.size = bytes;
  request.kind = kind;
  request.device = device;
  return space.allocate(request).value();
}

const exec::kernel& machine::find(std::string_view kernel) const {
  const exec::kernel* entry = loaded_->find_kernel(kernel);
  if (!entry) throw std::runtime_error("no kernel " + std::string(kernel));
  return *entry;
}

exec::outcome machine::launch(const exec::kernel& entry, exec::extent grid, exec::extent block,
                              const std::vector<std::byte>& parameters) {
  exec::launch_request request;
  request.entry = &entry;
  request.grid = grid;
  request.block = block;
  request.cluster = cluster;
  request.dynamic_shared_bytes = dynamic_shared_bytes;
  request.parameters = parameters;
  request.is_cooperative = is_cooperative;
  exec::run_options with = options;
  with.print = [this](std::string_view text) { printed += text; };
  return exec::run(space, request, with);
}

}  // namespace halfwarp::tests
