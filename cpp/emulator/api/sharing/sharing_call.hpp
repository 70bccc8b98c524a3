// SPDX-License-Identifier: Apache-2.0
// What the calls that share with other processes have in common.
#pragma once

#include <cstring>
#include <string>

#include "emulator/settings/refusal.hpp"

namespace halfwarp::emulator::api {

// The last system call failed: says what could not be had, and why, by errno.
[[noreturn]] void refuse_by_system(const std::string& what);

// 64 bytes of cuda.h, as what we mean by them.
template <class To, class From>
To read_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(static_cast<void*>(&to), &from, sizeof to);
  return to;
}

}  // namespace halfwarp::emulator::api
