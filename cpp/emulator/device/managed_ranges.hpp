// SPDX-License-Identifier: Apache-2.0
// What a program has advised about managed memory, page by page, and where it was prefetched to.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <map>

#include "emulator/memory/allocation.hpp"

namespace halfwarp::emulator {

inline constexpr int host_bit = 31;  // beside the bits of the devices

struct managed_settings {
  bool is_read_mostly = false;
  CUmemLocation preferred{}, last_prefetch{};  // of type NONE: not set
  std::uint32_t accessed_by = 0;               // one bit per device, and that of the host

  // Leaves of each setting what both have.
  void keep_common(const managed_settings& other) noexcept;
};

// Guarded by the driver's lock.
class managed_ranges {
 public:
  // Changes the settings of all pages that the range touches.
  void change(memory::address first, std::uint64_t bytes,
              const std::function<void(managed_settings&)>& how);
  // What all pages of the range have in common.
  managed_settings common(memory::address first, std::uint64_t bytes) const;
  // The memory was freed.
  void erase(const memory::allocation& gone);

 private:
  using segments = std::map<memory::address, managed_settings>;  // each up to the next one's begin

  segments::iterator split(memory::address at);

  segments segments_;
};

}  // namespace halfwarp::emulator
