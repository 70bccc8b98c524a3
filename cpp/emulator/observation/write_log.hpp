// SPDX-License-Identifier: Apache-2.0
// Answers which operation and which thread wrote bytes, for the checks `race` and `init`.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "emulator/memory/address_space.hpp"
#include "emulator/report/launch_writes.hpp"

namespace halfwarp::emulator {

// Thread-safe. The oldest operations are discarded above the capacity.
class write_log {
 public:
  struct operation {
    std::string title, site;
    std::shared_ptr<const report::launch_writes> writes;  // null: not of a kernel
    std::uint64_t sequence = 0;                           // of the next allocation
    memory::address first = 0;                            // of another operation
    std::uint64_t bytes = 0;
    memory::address source = 0;  // of a copy: its first byte, if the rows have the same places
  };

  void add(operation added);
  // Returns a JSON array: the writer of each word of a range, in ascending order. Words that no
  // recorded operation wrote since their allocation are left out.
  std::string origins(const memory::address_space& space, memory::address first,
                      std::uint64_t bytes) const;
  // Returns lines of a report: the operations that carried an unwritten byte to its address, and
  // who wrote the neighbors of the place where it began.
  std::string history(const memory::address_space& space, memory::address unwritten) const;

 private:
  struct writer {
    const operation* by = nullptr;  // null: none is recorded
    const report::launch_writes::entry* part = nullptr;
    std::size_t index = 0;  // of the operation
    report::earlier_access place;
  };
  writer find_writer(const memory::allocation& memory, memory::address at,
                     std::size_t from = 0) const;
  std::string neighbors(const memory::address_space& space, const memory::allocation& memory,
                        memory::address unwritten) const;

  static constexpr std::size_t max_entries = 1 << 20;

  mutable std::mutex mutex_;
  std::deque<operation> operations_;  // the newest first
  std::size_t entries_ = 0;
};

}  // namespace halfwarp::emulator
