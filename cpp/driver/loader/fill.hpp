// SPDX-License-Identifier: Apache-2.0
// Writing the addresses of an open library's functions into its table.
#pragma once

#include "driver/loader/backend.hpp"
#include "driver/loader/symbol.hpp"

namespace halfwarp::driver {

// A table as the loader sees it: slots, what they hold before anything is open, and what to ask
// for.
struct slots {
  void** table;
  void* const* first;
  const symbol* symbols;
  unsigned count;

  bool is_filled(unsigned slot) const noexcept {
    return __atomic_load_n(&table[slot], __ATOMIC_ACQUIRE) != first[slot];
  }
  // Release: who reads the address sees the library that the loading thread set up.
  void put(unsigned slot, void* function) const noexcept {
    __atomic_store_n(&table[slot], function ? function : first[slot], __ATOMIC_RELEASE);
  }
};

slots slots_of(library_id library) noexcept;

// Fills the driver's table with the functions that a driver of at most `version_limit` has (0: no
// limit); the version of the open driver.
int fill_driver(void* handle, int version_limit) noexcept;

void fill_nvrtc(void* handle) noexcept;

}  // namespace halfwarp::driver
