// SPDX-License-Identifier: Apache-2.0
// Advice and prefetch locations of managed memory, page by page.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <map>

#include "emulator/memory/allocation.hpp"

namespace halfwarp::emulator {

inline constexpr int host_bit = 31;  // above the bits of the devices

struct managed_settings {
  bool is_read_mostly = false;
  CUmemLocation preferred{}, last_prefetch{};  // type NONE means unset
  std::uint32_t accessed_by = 0;               // one bit per device, and host_bit

  // Resets each setting that differs from `other`.
  void keep_common(const managed_settings& other) noexcept;
};

// Guarded by the driver's lock.
class managed_ranges {
 public:
  // Changes the settings of all pages that the range touches.
  void change(memory::address first, std::uint64_t bytes,
              const std::function<void(managed_settings&)>& update);
  // Returns the settings that all pages of the range share.
  managed_settings common(memory::address first, std::uint64_t bytes) const;
  // Removes the settings of freed memory.
  void erase(const memory::allocation& freed);

 private:
  using segments = std::map<memory::address, managed_settings>;  // each ends where the next begins

  segments::iterator split(memory::address at);

  segments segments_;
};

}  // namespace halfwarp::emulator
