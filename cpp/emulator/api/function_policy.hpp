// SPDX-License-Identifier: Apache-2.0
// The gate's policy for each driver function, by its index: from the decisions of the generator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulator/api.hpp"
#include "emulator/requirements.hpp"

namespace halfwarp::emulator::api {

enum : std::uint8_t {
  needs_no_init = 1,        // works before cuInit
  ignores_failure = 2,      // works while the current context is broken
  releases_resource = 4,    // runs in a broken context, then returns its error
  cannot_fail = 8,          // excluded from fault rules for `any`
  is_constant_lookup = 16,  // allowed in host functions and after a fork
};

constexpr std::uint8_t policy_of(const requirement& required) {
  std::uint8_t policy = 0;
  if (required.state <= needs::connection) policy |= needs_no_init;
  if (required.state <= needs::driver) policy |= ignores_failure;
  if (required.releases) policy |= releases_resource | cannot_fail;
  if (required.state == needs::nothing) policy |= cannot_fail | is_constant_lookup;
  return policy;
}

inline constexpr auto policies = [] {
  std::array<std::uint8_t, function_count> list{};
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = policy_of(requirements[i]);
  return list;
}();

}  // namespace halfwarp::emulator::api
