// SPDX-License-Identifier: Apache-2.0
// What the loader asks a library for, one row per slot of its table.
#pragma once

#include "driver/loader_api.hpp"
#include "driver/packed_text.hpp"

namespace halfwarp::driver {

extern const char symbol_texts[];
using symbol_text = packed_text<symbol_texts>;

struct symbol {
  symbol_text name;        // public: "cuMemAlloc"
  symbol_text base;        // what cuGetProcAddress takes together with the version
  symbol_text exported;    // "cuMemAlloc_v2"
  int version;             // CUDA release that brought this variant, 3020; 0 when not known
  int older;               // the one of an older variant that may stand in for it; 0: none
  symbol_text per_thread;  // "_ptds" or "_ptsz" when there is such a variant
};

// How a library is opened.
enum class opening : unsigned char {
  backend,     // the driver, or the emulator in its place
  pathfinder,  // `cuda.pathfinder` finds it under `source`
  extension,   // the module `source` holds it and hands out its functions
};

// Generated, one per library. A table as the loader sees it: slots, what they hold before anything
// is open, and what to ask for.
struct library_record {
  const char* name;  // "nvrtc"
  void** table;
  void* const* first;
  const symbol* symbols;
  unsigned count;
  opening how;
  const char* source;
  const char* package;   // that has it
  const char* remedy;    // what to do when it is missing
  const char* emulated;  // file of ours beside the loader that stands in for it; null: none

  bool is_filled(unsigned slot) const noexcept {
    return __atomic_load_n(&table[slot], __ATOMIC_ACQUIRE) != first[slot];
  }
  // Release: who reads the address sees the library that the loading thread set up.
  void put(unsigned slot, void* function) const noexcept {
    __atomic_store_n(&table[slot], function ? function : first[slot], __ATOMIC_RELEASE);
  }
  void empty() const noexcept {
    for (unsigned slot = 0; slot < count; ++slot) put(slot, nullptr);
  }
};

extern const library_record* const library_records[HALFWARP_LIBRARY_COUNT];

}  // namespace halfwarp::driver
