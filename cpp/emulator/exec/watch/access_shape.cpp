// SPDX-License-Identifier: Apache-2.0
// Derives the memory accesses of instructions from the names of their handlers.
#include "emulator/exec/watch/access_shape.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "emulator/exec/special.hpp"

namespace halfwarp::emulator::exec {
namespace {

memory_use use_of_atomic(std::string_view operation) {
  if (operation == "cas") return memory_use::cas;
  return operation == "exch" ? memory_use::exch : memory_use::update;
}

access_shape shape_of_name(std::string_view name) {
  auto part = parts_of_name(name);
  access_shape shape;
  if (name.starts_with("special.uniform.")) shape.use = memory_use::clock;
  if (name.starts_with("activemask.")) shape.use = memory_use::chance;
  if (name == "fence") shape.use = memory_use::fence;
  bool is_load = part[0] == "ld", is_atomic = part[0] == "atom";
  if (!is_load && !is_atomic && part[0] != "st") return shape;
  shape.is_shared = part[1].starts_with("shared");
  if (!shape.is_shared && part[1] != "global") return shape;
  shape.is_narrow = part[1] == "shared32";
  std::size_t type = is_atomic ? 3 : 2;
  shape.use = is_atomic ? use_of_atomic(part[2]) : is_load ? memory_use::load : memory_use::store;
  shape.bytes = shape.register_bytes = bytes_of_type(part[type]);
  if (!is_atomic) shape.register_bytes = bytes_of_type(part[type + 1]);
  return shape;
}

using shape_map = std::unordered_map<handler, access_shape>;

// Includes all instruction sets, because decoded kernels keep their handlers when the set changes.
const shape_map& shapes() {
  static const shape_map all = [] {
    shape_map result;
    for (const handler_family& family : all_handler_families()) {
      for (const handler_entry& entry : family)
        result.emplace(entry.run, shape_of_name(entry.name));
    }
    return result;
  }();
  return all;
}

bool is_clock(const instruction& instr) {
  return instr.immediate >= static_cast<std::int64_t>(uniform_value::clock) &&
         instr.immediate <= static_cast<std::int64_t>(uniform_value::globaltimer_hi);
}

}  // namespace

std::vector<std::string_view> parts_of_name(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t first = 0; first <= name.size();) {
    std::size_t end = std::min(name.find('.', first), name.size());
    parts.push_back(name.substr(first, end - first));
    first = end + 1;
  }
  return parts;
}

std::uint8_t bytes_of_type(std::string_view type) {
  std::size_t first = type.find_first_of("0123456789");
  int bits = 0;
  for (char c : type.substr(first, type.find('x', first) - first)) bits = 10 * bits + (c - '0');
  return static_cast<std::uint8_t>(bits / 8 * (type.ends_with("x2") ? 2 : 1));
}

access_shape shape_of(const instruction& instr) {
  auto match = shapes().find(instr.run);
  if (match == shapes().end()) return {.use = memory_use::unknown};
  access_shape shape = match->second;
  if (shape.use == memory_use::clock && !is_clock(instr)) shape.use = memory_use::none;
  return shape;
}

std::optional<shared_word> word_of(warp& w, const instruction& instr, const access_shape& shape,
                                   int lane, std::uint32_t n) {
  std::uint64_t displacement = static_cast<std::uint64_t>(instr.immediate) + n * shape.bytes;
  std::uint64_t at = read_address(w, instr.operand[4], lane, shape.is_narrow) + displacement;
  if (shape.is_narrow) at = static_cast<std::uint32_t>(at);
  const launch_state& launch = *w.block->launch;
  const memory::address_space& space = launch.space;
  bool is_shared = shape.is_shared;
  if (!is_shared && at - space.local_window() < memory::window_bytes) return std::nullopt;
  if (!is_shared && at - space.shared_window() < memory::window_bytes) {
    is_shared = true;
    at -= space.shared_window();
  }
  if (is_shared) {
    const auto* const host = shared_bytes_at(w, at, shape.bytes);
    if (!host) return std::nullopt;
    return shared_word{reinterpret_cast<std::uint64_t>(host), at, true};
  }
  int device = launch.request.entry->owner().device;
  bool is_allowed = !space.check(at, shape.bytes, device, shape.use != memory_use::load) ||
                    (!launch.options.check_memory && space.device_of(at) >= 0);
  if (!is_allowed) return std::nullopt;
  return shared_word{reinterpret_cast<std::uint64_t>(space.view(at)), at, false};
}

namespace {

// The usual sizes need no call of memcpy.
std::uint64_t read_bytes(const void* at, std::uint32_t bytes) noexcept {
  std::uint64_t value = 0;
  if (bytes == 4) {
    std::memcpy(&value, at, 4);
  } else if (bytes == 8) {
    std::memcpy(&value, at, 8);
  } else {
    std::memcpy(&value, at, bytes);
  }
  return value;
}

}  // namespace

std::uint64_t read_word(std::uint64_t cell, std::uint32_t bytes) noexcept {
  return read_bytes(reinterpret_cast<const void*>(cell), bytes);
}

std::uint64_t read_register(warp& w, operand_slot slot, int lane, std::uint32_t bytes) noexcept {
  return read_bytes(w.at<std::byte>(slot) + static_cast<std::size_t>(lane) * bytes, bytes);
}

void write_register(warp& w, operand_slot slot, int lane, std::uint32_t bytes,
                    std::uint64_t value) noexcept {
  std::memcpy(w.at<std::byte>(slot) + static_cast<std::size_t>(lane) * bytes, &value, bytes);
}

}  // namespace halfwarp::emulator::exec
