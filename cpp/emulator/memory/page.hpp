// SPDX-License-Identifier: Apache-2.0
// The page size of the host: 4 KiB on x86-64, up to 64 KiB on ARM.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace halfwarp::emulator::memory {

inline std::uint64_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace halfwarp::emulator::memory
