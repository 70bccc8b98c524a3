// SPDX-License-Identifier: Apache-2.0
// Lists live objects and allocations, for the leak report, `leaks()` and `stats()`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halfwarp::emulator {

struct driver;

struct live_record {
  std::string kind;     // "stream", "device memory", ...
  std::uint64_t id;     // id of an object, or address of memory
  std::uint64_t bytes;  // 0 for objects without memory
  int device;           // -1: none
  std::uint64_t pool, stream;
  std::string name;  // name of a variable or kernel
  std::string created_at;
};

// Returns the objects and allocations that the program created and did not destroy, ordered by
// kind, then age. Call with the driver's lock held.
std::vector<live_record> live_records(const driver& d);

// Writes one line per kind and creation site, with count and bytes.
void report_leaks(driver& d);

}  // namespace halfwarp::emulator
