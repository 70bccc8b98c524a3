// SPDX-License-Identifier: Apache-2.0
// Describes an instruction for the race check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/exec/check/cell.hpp"
#include "emulator/exec/code.hpp"
#include "emulator/exec/watch/access_shape.hpp"
#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::exec {

struct launch_state;

struct race_site {
  enum class role : std::uint8_t {
    none,
    access,
    fence,
    phase_barrier,
    rows,
    warpgroup,
    copy,  // cp.async, and the commit and wait of its groups
  };
  role use = role::none;
  race::scope reach = race::scope::weak;  // of a strong access or a fence
  bool acquires = false, releases = false;
  bool is_between_proxies = false;  // a fence
  access_shape shape{};
  const function_code* function = nullptr;
  const instruction* at = nullptr;
};

race_site make_race_site(const ptx::module& owner, const function_code& function,
                         const instruction& instr, race::scope of_cluster);

// The instructions of a launch.
struct launch_sites {
  std::vector<race_site> all;        // of all functions
  std::vector<std::uint32_t> first;  // by function

  std::size_t first_of(const launch_state& launch, const function_code& function) const;
};
launch_sites make_launch_sites(const launch_state& launch);

// Returns whether an instruction can order threads by anything but whole-block barriers, whole
// warps and the launch itself.
bool orders_some_threads(const race_site& site);

}  // namespace halfwarp::emulator::exec
