// SPDX-License-Identifier: Apache-2.0
// The names and one-line texts of driver error codes.
#pragma once

#include <cuda.h>

#include <string_view>

namespace halfwarp::emulator {

struct error_entry {
  CUresult code;
  const char* name;
  const char* text;
};

// Returns null if there is no such code or name.
const error_entry* find_error(CUresult code) noexcept;
const error_entry* find_error(std::string_view name) noexcept;

// Returns whether the code reports an earlier kernel failure, which breaks the context.
bool is_asynchronous_error(CUresult code) noexcept;

}  // namespace halfwarp::emulator
