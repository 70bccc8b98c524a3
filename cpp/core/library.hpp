// SPDX-License-Identifier: Apache-2.0
// Libraries of device code, and the kernels in them.
#pragma once

#include "core/handle.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {

struct library_facts {};

struct library_traits {
  using raw_type = CUlibrary;
  using parent_type = no_parent;
  using facts_type = library_facts;
  static constexpr const char* destroyer = "cuLibraryUnload";
  static CUresult destroy(CUlibrary raw, const library_facts&) noexcept {
    return driver::try_call(driver::table->cuLibraryUnload, raw);
  }
};

using library_handle = handle<library_traits>;

}  // namespace halfwarp::core
