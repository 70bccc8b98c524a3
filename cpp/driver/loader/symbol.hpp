// SPDX-License-Identifier: Apache-2.0
// The functions that the loader looks up, one row per slot of a table.
#pragma once

#include "driver/loader_api.hpp"
#include "driver/packed_text.hpp"

namespace halfwarp::driver {

extern const char symbol_texts[];
using symbol_text = packed_text<symbol_texts>;

struct symbol {
  symbol_text name;        // public: "cuMemAlloc"
  symbol_text base;        // the name for cuGetProcAddress
  symbol_text exported;    // "cuMemAlloc_v2"
  int version;             // CUDA version that introduced this variant, as in 3020; 0: unknown
  int older;               // version of an older variant that may replace it; 0: none
  symbol_text per_thread;  // suffix "_ptds" or "_ptsz" of a per-thread variant
};

// The method of opening a library.
enum class opening : unsigned char {
  backend,     // the driver or the emulator
  pathfinder,  // `cuda.pathfinder` finds it by the name `source`
  extension,   // the module `source` contains its functions
};

// A table for the loader: slots, their initial contents and the symbols to look up. Generated, one
// per library.
struct library_record {
  const char* name;  // "nvrtc"
  void** table;
  void* const* initial;
  const symbol* symbols;
  unsigned count;
  opening opening_method;
  const char* source;
  const char* package;   // contains the library
  const char* remedy;    // advice if the library is missing
  const char* emulated;  // file name of its emulated library; null: none

  bool is_filled(unsigned slot) const noexcept {
    return __atomic_load_n(&table[slot], __ATOMIC_ACQUIRE) != initial[slot];
  }
  // A release store: readers of the address also see the library's memory as the opening thread.
  void put(unsigned slot, void* function) const noexcept {
    __atomic_store_n(&table[slot], function ? function : initial[slot], __ATOMIC_RELEASE);
  }
  void empty() const noexcept {
    for (unsigned slot = 0; slot < count; ++slot) put(slot, nullptr);
  }
};

extern const library_record* const library_records[HALFWARP_LIBRARY_COUNT];

}  // namespace halfwarp::driver
