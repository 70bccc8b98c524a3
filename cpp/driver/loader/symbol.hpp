// SPDX-License-Identifier: Apache-2.0
// What the loader asks a library for, one row per slot of its table.
#pragma once

#include "driver/loader_api.hpp"

namespace halfwarp::driver {

struct symbol {
  const char* name;        // public: "cuMemAlloc"
  const char* base;        // what cuGetProcAddress takes together with the version
  const char* exported;    // "cuMemAlloc_v2"
  int version;             // CUDA release that brought this variant, 3020; 0 when not known
  const char* per_thread;  // "_ptds" or "_ptsz" when there is such a variant, else null
};

// Generated, one set per library.
extern driver_table driver_slots;
extern const driver_table driver_first_slots;
extern const symbol driver_symbols[driver_slot_count];
extern nvrtc_table nvrtc_slots;
extern const nvrtc_table nvrtc_first_slots;
extern const symbol nvrtc_symbols[nvrtc_slot_count];

}  // namespace halfwarp::driver
