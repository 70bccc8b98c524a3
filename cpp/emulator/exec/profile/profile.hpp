// SPDX-License-Identifier: Apache-2.0
// The counts of a launch: executions and accesses of each PTX instruction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace halfwarp::emulator::ptx {
struct module;
}

namespace halfwarp::emulator::exec {

enum class profile_detail : std::uint8_t { none, executions, accesses };

// Counts of one instruction. An execution is by a warp, or the part of it that runs together.
struct execution_counts {
  std::uint64_t executions = 0, lanes = 0;
  // Lanes whose guard is true. Without a guard, both stay 0.
  std::uint64_t guarded_executions = 0, guarded_lanes = 0;
  // Executions of a branch by the lanes' choice; in divergent ones, lanes made both choices.
  std::uint64_t taken = 0, not_taken = 0, divergent = 0;

  void add(const execution_counts& other);
};

// The counters of accesses. docs/guide/profile.rst defines them.
enum class access_counter : std::uint8_t {
  global_requests,
  global_bytes,
  global_sectors,
  global_lines,
  shared_requests,
  shared_bytes,
  shared_wavefronts,
  shared_conflicts,
  local_requests,
  local_bytes,
  local_sectors,
  atomic_addresses,
  atomic_repeats,
};
inline constexpr std::array<std::string_view, 13> access_counter_names{
    "global_requests", "global_bytes",      "global_sectors",   "global_lines",   "shared_requests",
    "shared_bytes",    "shared_wavefronts", "shared_conflicts", "local_requests", "local_bytes",
    "local_sectors",   "atomic_addresses",  "atomic_repeats"};

// The distance in bytes between the addresses of neighboring lanes.
struct lane_step {
  enum class state : std::uint8_t { unknown, equal, different };
  state kind = state::unknown;
  std::int64_t bytes = 0;  // if equal in all accesses

  void add(const lane_step& other);
};

struct access_counts {
  std::array<std::uint64_t, access_counter_names.size()> values{};
  lane_step step;

  std::uint64_t& operator[](access_counter counter) {
    return values[static_cast<std::size_t>(counter)];
  }
  void add(const access_counts& other);
};

struct instruction_profile {
  execution_counts counts;
  access_counts accesses;
};

struct function_profile {
  std::uint32_t function = 0;                     // in the module
  std::vector<instruction_profile> instructions;  // of ptx::function
};

struct launch_profile {
  std::shared_ptr<const ptx::module> source;
  std::array<std::uint32_t, 3> grid{}, block{};
  std::vector<function_profile> functions;  // the kernel first
};

}  // namespace halfwarp::emulator::exec
