// SPDX-License-Identifier: Apache-2.0
// A link by the driver: the link state, its options and its logs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/context.hpp"

namespace halfwarp::core {

// An option whose value is passed in place of a pointer.
struct link_option {
  CUjit_option name;
  std::uintptr_t value;
};

// Options and logs, which the driver accesses as long as the state exists.
struct link_facts {
  static constexpr std::size_t log_capacity = 64 * 1024;

  std::vector<CUjit_option> names;
  std::vector<void*> values;
  std::unique_ptr<char[]> error_log, info_log;
};

struct link_state_traits {
  using raw_type = CUlinkState;
  using parent_type = context_handle;
  using facts_type = link_facts;
  static constexpr const char* destroyer = "cuLinkDestroy";
  static constexpr bool is_registered = false;
  static CUresult destroy(CUlinkState raw, const link_facts&) noexcept {
    return driver::try_call(driver::table->cuLinkDestroy, raw);
  }
};

using link_state_handle = handle<link_state_traits>;

// Starts a link in the current context.
[[nodiscard]] link_state_handle create_link_state(const std::vector<link_option>& options);

// Return the log so far, which may be empty.
[[nodiscard]] std::string error_log_of(const link_state_handle& link);
[[nodiscard]] std::string info_log_of(const link_state_handle& link);

}  // namespace halfwarp::core
