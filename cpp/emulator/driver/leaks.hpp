// SPDX-License-Identifier: Apache-2.0
// What is still alive: for the leak report, for `leaks()` and for `stats()`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halfwarp::emulator {

struct driver;

struct live_record {
  std::string kind;     // "stream", "device memory", ...
  std::uint64_t id;     // of the object, or the address of the memory
  std::uint64_t bytes;  // 0 for what is no memory
  int device;           // -1: none
  std::uint64_t pool, stream;
  std::string name;  // of a variable or kernel
  std::string created_at;
};

// Everything the user made and did not give back, ordered by kind, then age. With the driver's
// lock held.
std::vector<live_record> live_records(const driver& of);

// Writes one line per kind and creation site, with count and bytes.
void report_leaks(driver& of);

}  // namespace halfwarp::emulator
