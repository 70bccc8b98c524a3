// SPDX-License-Identifier: Apache-2.0
// Shared by the interprocess functions: system errors and handle conversion.
#pragma once

#include <cstring>
#include <string>

#include "emulator/settings/refusal.hpp"

namespace halfwarp::emulator::api {

// Refuses after a failed system call, with a message about `subject` and errno.
[[noreturn]] void refuse_by_system(const std::string& subject);

// Converts between an opaque struct of cuda.h and a private struct of the same size.
template <class To, class From>
To read_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(static_cast<void*>(&result), &from, sizeof result);
  return result;
}

}  // namespace halfwarp::emulator::api
